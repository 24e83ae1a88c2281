#include "tenants/comfyui_answers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace jipsa::comfyui {
namespace {

using nlohmann::json;

const char* const kNewCpu = R"({"system": {"os": "posix", "ram_total": 25276502016, "ram_free": 24523542528,
  "comfyui_version": "0.3.64", "required_frontend_version": "1.27.10", "installed_templates_version": null,
  "python_version": "3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0]", "argv": ["main.py", "--cpu"]},
 "devices": [{"name": "cpu", "type": "cpu", "index": null, "vram_total": 25276502016, "vram_free": 24523542528,
  "torch_vram_total": 25276502016, "torch_vram_free": 24523542528}]})";

const char* const kOldCpu = R"({"system": {"os": "posix", "python_version": "3.11.2", "embedded_python": false},
 "devices": [{"name": "cpu", "type": "cpu", "index": null, "vram_total": 25276502016,
  "vram_free": 24515985408, "torch_vram_total": 25276502016, "torch_vram_free": 24515985408}]})";

const char* const kCuda = R"({"system": {"os": "posix", "comfyui_version": "0.3.64"},
 "devices": [{"name": "cuda:0 NVIDIA GeForce RTX 5090 : cudaMallocAsync", "type": "cuda", "index": 0,
  "vram_total": 34190917632, "vram_free": 16000000000, "torch_vram_total": 107374182, "torch_vram_free": 7000000}]})";

// One card with some of its fields replaced.
Stats stats_with(const json& changed) {
  json root = json::parse(kCuda);
  root["devices"][0].merge_patch(changed);
  return read_system_stats(root.dump());
}

TEST(ComfyUiStats, NewServerOnCpu) {
  const auto stats = read_system_stats(kNewCpu);
  EXPECT_EQ(stats.trouble, "");
  EXPECT_EQ(stats.version, "0.3.64");
  ASSERT_EQ(stats.devices.size(), 1U);
  const auto& device = stats.devices[0];
  EXPECT_TRUE(device.host_memory);
  EXPECT_FALSE(device.index.has_value());
  EXPECT_EQ(device.name, "cpu");
  EXPECT_EQ(device.total, Bytes{25276502016});
  EXPECT_EQ(device.free, Bytes{24523542528});
  EXPECT_FALSE(device.own.has_value()) << "torch_vram_total repeats the machine's RAM here";
  EXPECT_FALSE(device.models.has_value());
}

TEST(ComfyUiStats, OldServerHasNoRamFieldsAndNoVersion) {
  const auto stats = read_system_stats(kOldCpu);
  EXPECT_EQ(stats.trouble, "");
  EXPECT_EQ(stats.version, "");
  ASSERT_EQ(stats.devices.size(), 1U);
  EXPECT_EQ(stats.devices[0].free, Bytes{24515985408});
}

TEST(ComfyUiStats, CardsFreeExcludesTheServersOwnCache) {
  const auto stats = read_system_stats(kCuda);
  EXPECT_EQ(stats.trouble, "");
  ASSERT_EQ(stats.devices.size(), 1U);
  const auto& device = stats.devices[0];
  EXPECT_FALSE(device.host_memory);
  EXPECT_EQ(device.index, 0);
  EXPECT_EQ(device.total, Bytes{34190917632});
  EXPECT_EQ(device.free, Bytes{16000000000 - 7000000});
  EXPECT_EQ(device.own, Bytes{107374182});
}

TEST(ComfyUiStats, SeveralDevices) {
  json root = json::parse(kCuda);
  root["devices"].push_back(root["devices"][0]);
  root["devices"][1]["index"] = 3;
  const auto stats = read_system_stats(root.dump());
  ASSERT_EQ(stats.devices.size(), 2U);
  EXPECT_EQ(stats.devices[1].index, 3);
}

TEST(ComfyUiStats, MissingFieldsAreUnknownWithoutTrouble) {
  for (const char* key : {"index", "name", "vram_total", "vram_free", "torch_vram_total", "torch_vram_free"}) {
    const auto stats = stats_with({{key, nullptr}});
    EXPECT_EQ(stats.trouble, "") << key;
    ASSERT_EQ(stats.devices.size(), 1U) << key;
  }
  EXPECT_FALSE(stats_with({{"torch_vram_free", nullptr}}).devices[0].free.has_value()) << "not the device's free without it";
  EXPECT_FALSE(stats_with({{"vram_free", nullptr}}).devices[0].free.has_value());
  EXPECT_EQ(stats_with({{"vram_free", nullptr}}).devices[0].total, Bytes{34190917632});
}

TEST(ComfyUiStats, WrongAndAbsurdAmountsAreUnknownAndNamed) {
  for (const json& wrong : {json(-1), json("34190917632"), json(true), json(json::array()), json(json::object()), json(1e300),
                            json(18446744073709551615ULL), json(INT64_MIN), json(std::int64_t{1} << 51)}) {
    for (const char* key : {"vram_total", "vram_free", "torch_vram_total", "torch_vram_free"}) {
      const auto stats = stats_with({{key, wrong.is_object() ? json::array() : wrong}});
      ASSERT_EQ(stats.devices.size(), 1U);
      EXPECT_NE(stats.trouble.find(std::string("devices[0].") + key), std::string::npos)
          << key << " " << wrong << ": " << stats.trouble;
      const auto& device = stats.devices[0];
      if (std::string(key) == "vram_total") { EXPECT_FALSE(device.total.has_value()); }
      if (std::string(key) == "vram_free" || std::string(key) == "torch_vram_free") { EXPECT_FALSE(device.free.has_value()); }
      if (std::string(key) == "torch_vram_total") { EXPECT_FALSE(device.own.has_value()); }
    }
  }
  EXPECT_FALSE(stats_with({{"vram_total", 0}}).devices[0].total.has_value());
}

TEST(ComfyUiStats, ContradictionsAreUnknown) {
  const auto cache = stats_with({{"torch_vram_free", 17000000000}});
  EXPECT_FALSE(cache.devices[0].free.has_value());
  EXPECT_NE(cache.trouble.find("torch_vram_free is more than vram_free"), std::string::npos);
  const auto free = stats_with({{"vram_free", 35000000000}});
  EXPECT_FALSE(free.devices[0].free.has_value());
  EXPECT_NE(free.trouble.find("more is free than there is"), std::string::npos);
  const auto own = stats_with({{"torch_vram_total", 35000000000}});
  EXPECT_FALSE(own.devices[0].own.has_value());
  EXPECT_NE(own.trouble, "");
}

TEST(ComfyUiStats, DeviceOfUnknownTypeIsLeftOut) {
  for (const json& type : {json(nullptr), json(7), json("")}) {
    const auto stats = stats_with({{"type", type}});
    EXPECT_TRUE(stats.devices.empty()) << type;
    EXPECT_NE(stats.trouble.find("devices[0].type"), std::string::npos) << stats.trouble;
  }
  const auto stats = read_system_stats(R"({"system": {}, "devices": [5, null, []]})");
  EXPECT_TRUE(stats.devices.empty());
  EXPECT_NE(stats.trouble.find("devices[2] is a array"), std::string::npos) << stats.trouble;
}

TEST(ComfyUiStats, WrongIndexAndName) {
  const auto stats = stats_with({{"index", -1}, {"name", 5}});
  EXPECT_FALSE(stats.devices[0].index.has_value());
  EXPECT_EQ(stats.devices[0].name, "");
  EXPECT_NE(stats.trouble.find("devices[0].index = -1 can't be true"), std::string::npos) << stats.trouble;
  EXPECT_NE(stats.trouble.find("devices[0].name is a number"), std::string::npos) << stats.trouble;
  EXPECT_FALSE(stats_with({{"index", "0"}}).devices[0].index.has_value());
}

TEST(ComfyUiStats, TextsAreSafeToShow) {
  const auto stats = stats_with({{"name", "a\x1b[2J\nb" + std::string(5000, 'x')}});
  EXPECT_EQ(stats.devices[0].name.substr(0, 8), "a [2J bx");
  EXPECT_LE(stats.devices[0].name.size(), 204U);
  std::string korean;
  for (int i = 0; i < 200; ++i) korean += "\xEC\xA7\x91";
  EXPECT_EQ(stats_with({{"name", korean}}).devices[0].name.size() % 3, 0U);
}

TEST(ComfyUiStats, SystemMissingStillGivesDevices) {
  json root = json::parse(kCuda);
  root["system"] = 5;
  const auto stats = read_system_stats(root.dump());
  EXPECT_EQ(stats.devices.size(), 1U);
  EXPECT_NE(stats.trouble.find("system is number"), std::string::npos) << stats.trouble;
}

TEST(ComfyUiStats, NotWhatWasAskedFor) {
  const std::string deep(100000, '[');
  for (const std::string& body :
       {std::string(), std::string("<!DOCTYPE html><html>"), std::string(kCuda).substr(0, 200), std::string("[]"),
        std::string("null"), std::string("5"), std::string(R"({"system": {}})"), std::string(R"({"devices": {}})"),
        std::string("{\"devices\": NaN}"), std::string("\xff\xfe{}"), std::string("{}trailing"), std::string(3, '\0'), deep}) {
    const auto stats = read_system_stats(body);
    EXPECT_TRUE(stats.devices.empty()) << body.substr(0, 50);
    EXPECT_NE(stats.trouble, "") << body.substr(0, 50);
    EXPECT_LT(stats.trouble.size(), 300U);
    EXPECT_EQ(stats.trouble.find('\0'), std::string::npos);
  }
  EXPECT_EQ(read_system_stats("<!DOCTYPE html>").trouble, "not JSON, or cut off: it begins \"<!DOCTYPE html>\"");
}

TEST(ComfyUiPrompt, Remaining) {
  EXPECT_EQ(read_prompt(R"({"exec_info": {"queue_remaining": 0}})").count, 0);
  EXPECT_EQ(read_prompt(R"({"exec_info": {"queue_remaining": 2}})").count, 2);
  EXPECT_EQ(read_prompt(R"({"exec_info": {"queue_remaining": 2}})").trouble, "");
  for (const char* body : {"", "{}", "[]", R"({"exec_info": 0})", R"({"exec_info": {}})",
                           R"({"exec_info": {"queue_remaining": null}})", R"({"exec_info": {"queue_remaining": -1}})",
                           R"({"exec_info": {"queue_remaining": "0"}})", R"({"exec_info": {"queue_remaining": false}})",
                           R"({"exec_info": {"queue_remaining": 1e30}})", R"({"exec_info": {"queue_remaining": 0)", "<html>"}) {
    const auto remaining = read_prompt(body);
    EXPECT_FALSE(remaining.count.has_value()) << body;
    EXPECT_NE(remaining.trouble, "") << body;
  }
}

TEST(ComfyUiQueue, RunningAndPendingApart) {
  const auto idle = read_queue(R"({"queue_running": [], "queue_pending": []})");
  EXPECT_EQ(idle.running, 0);
  EXPECT_EQ(idle.pending, 0);
  const auto busy = read_queue(R"({"queue_running": [[14, "id", {}, {}, ["z"]]], "queue_pending": [[15, "a"], [16, "b"]]})");
  EXPECT_EQ(busy.running, 1);
  EXPECT_EQ(busy.pending, 2);
  EXPECT_EQ(busy.trouble, "");
  const auto half = read_queue(R"({"queue_running": {}, "queue_pending": []})");
  EXPECT_FALSE(half.running.has_value());
  EXPECT_NE(half.trouble.find("queue_running is object"), std::string::npos) << half.trouble;
  EXPECT_NE(read_queue("{}").trouble, "");
  EXPECT_NE(read_queue("<html>").trouble, "");
}

TEST(ComfyUiHistory, NewestStamp) {
  const auto done = read_history(
      R"({"mine-1": {"prompt": [], "outputs": {}, "status": {"status_str": "success", "completed": true, "messages": [
    ["execution_start", {"prompt_id": "mine-1", "timestamp": 1796093425468}],
    ["execution_success", {"prompt_id": "mine-1", "timestamp": 1796093425470}],
    ["execution_cached", {"nodes": [], "timestamp": 1796093425469}]]}, "meta": {}}})");
  EXPECT_EQ(done.newest_ms, 1796093425470);
  EXPECT_EQ(done.trouble, "");
  EXPECT_FALSE(read_history("{}").newest_ms.has_value()) << "nothing has run";
  EXPECT_EQ(read_history("{}").trouble, "");
}

TEST(ComfyUiHistory, WrongShapesAreUnknown) {
  for (
      const char* body :
      {R"({"a": 5})", R"({"a": {}})", R"({"a": {"status": []}})", R"({"a": {"status": {"messages": {}}}})",
       R"({"a": {"status": {"messages": [5, [], ["x"], ["x", 5], ["x", {}]]}}})",
       R"({"a": {"status": {"messages": [["x", {"timestamp": -5}], ["x", {"timestamp": "1"}], ["x", {"timestamp": 9e18}]]}}})"}) {
    EXPECT_FALSE(read_history(body).newest_ms.has_value()) << body;
  }
  EXPECT_NE(read_history("[]").trouble, "");
  EXPECT_NE(read_history("{\"a\": {").trouble, "");
}

HttpAnswer answered(int status) { return {HttpAnswer::Outcome::answered, status, "", ""}; }

TEST(ComfyUiFree, OnlyA200IsOk) {
  const auto good = read_free(answered(200), "http://h:1");
  EXPECT_TRUE(good.ok);
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.error, "");
  for (const int status : {201, 204, 301, 400, 401, 403, 404, 405, 409, 418, 500, 502, 503}) {
    const auto bad = read_free(answered(status), "http://h:1");
    EXPECT_FALSE(bad.ok) << status;
    EXPECT_EQ(bad.status, status);
    EXPECT_EQ(bad.error.find("POST http://h:1/free: HTTP " + std::to_string(status) + ": "), 0U) << bad.error;
  }
  EXPECT_NE(read_free(answered(405), "").error.find("2024-01-04"), std::string::npos);
  EXPECT_NE(read_free(answered(404), "").error.find("2024-01-04"), std::string::npos);
  EXPECT_NE(read_free(answered(403), "").error.find("origin"), std::string::npos);
  EXPECT_NE(read_free(answered(500), "").error.find("log"), std::string::npos);
  EXPECT_NE(read_free(answered(307), "").error.find("redirect"), std::string::npos);
}

TEST(ComfyUiFree, NoAnswerIsNoRefusal) {
  const auto late = read_free({HttpAnswer::Outcome::timed_out, 0, "", "no answer within 5000 ms"}, "http://h:1");
  EXPECT_FALSE(late.ok);
  EXPECT_FALSE(late.status.has_value());
  EXPECT_NE(late.error.find("may still be carried out"), std::string::npos);
  const auto cut = read_free({HttpAnswer::Outcome::broken, 0, "", "Empty reply from server"}, "http://h:1");
  EXPECT_NE(cut.error.find("may still be carried out"), std::string::npos);
  const auto dead = read_free({HttpAnswer::Outcome::connection_refused, 0, "", "refused"}, "http://h:1");
  EXPECT_FALSE(dead.status.has_value());
  EXPECT_NE(dead.error.find("nothing was asked"), std::string::npos);
}

void check_sane(const Stats& stats) {
  for (const auto& device : stats.devices) {
    for (const auto& amount : {device.total, device.free, device.own}) RC_ASSERT(!amount || *amount >= Bytes{0});
    if (device.total && device.free) RC_ASSERT(*device.free <= *device.total);
    if (device.total && device.own) RC_ASSERT(*device.own <= *device.total);
    RC_ASSERT(!device.index || *device.index >= 0);
  }
}

RC_GTEST_PROP(ComfyUiAnswers, DamagedBytesNeverThrow, ()) {
  const std::vector<std::string> good = {kNewCpu,
                                         kOldCpu,
                                         kCuda,
                                         R"({"exec_info": {"queue_remaining": 2}})",
                                         R"({"queue_running": [[1, "a"]], "queue_pending": []})",
                                         R"({"a": {"status": {"messages": [["x", {"timestamp": 1796093425468}]]}}})"};
  std::string body = *rc::gen::elementOf(good);
  const auto cuts = *rc::gen::inRange(0, 6);
  for (int i = 0; i < cuts && !body.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, body.size());
    if (*rc::gen::arbitrary<bool>()) {
      body.resize(at);
    } else {
      body[at] = *rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::elementOf(std::string("{}[]\",:-0e9")));
    }
  }
  check_sane(read_system_stats(body));
  const auto remaining = read_prompt(body);
  RC_ASSERT(!remaining.count || *remaining.count >= 0);
  const auto queue = read_queue(body);
  RC_ASSERT(queue.running.has_value() || !queue.trouble.empty());
  const auto history = read_history(body);
  RC_ASSERT(!history.newest_ms || *history.newest_ms > 0);
}

RC_GTEST_PROP(ComfyUiAnswers, AnyNumbersGiveSaneDevices, ()) {
  json changed;
  for (const char* key : {"vram_total", "vram_free", "torch_vram_total", "torch_vram_free", "index"}) {
    changed[key] = *rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange<std::int64_t>(0, 1'000'000));
  }
  check_sane(stats_with(changed));
}

}  // namespace
}  // namespace jipsa::comfyui
