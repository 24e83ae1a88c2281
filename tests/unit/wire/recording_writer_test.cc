#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wire/recording.h"

namespace jipsa {
namespace {

std::string written_header() {
  RecordingWriter writer;
  std::string out;
  writer.header({}, out);
  return out;
}

template <class T>
std::optional<T> maybe(T value) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(std::move(value)) : std::nullopt;
}

std::optional<Bytes> some_bytes() { return maybe(Bytes{*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)}); }

// Any text that is UTF-8, with what JSON must escape.
std::string some_text() {
  const auto parts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "\"", "\\", "\n", "\x01", "영", "😀", "/"));
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}

double some_time() { return *rc::gen::inRange<int>(-1000000, 1000000) / 1000.0; }

Pool some_pool() {
  Pool pool;
  pool.id = some_text();
  pool.kind = *rc::gen::element(PoolKind::gpu, PoolKind::ram);
  pool.total = some_bytes();
  pool.used = some_bytes();
  pool.available = some_bytes();
  pool.free = some_bytes();
  pool.reserved = some_bytes();
  pool.name = some_text();
  pool.uuid = some_text();
  pool.processes = maybe(std::vector<DeviceProcess>{{*rc::gen::inRange(0, 1 << 30), some_bytes()}});
  return pool;
}

Process some_process() {
  Process p;
  p.pid = *rc::gen::inRange(0, 1 << 30);
  p.start = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 60);
  p.name = some_text();
  p.rss_anon = some_bytes();
  p.rss_file = some_bytes();
  p.rss_shmem = some_bytes();
  p.swap = some_bytes();
  p.cpu = maybe(std::abs(some_time() / 3));
  p.anon_arena = some_bytes();
  p.owner = some_text();
  return p;
}

TenantLook some_tenant() {
  TenantLook look;
  look.id = some_text();
  look.kind = some_text();
  look.pid = maybe(Pid{7});
  look.reachable = *rc::gen::arbitrary<bool>();
  look.running = maybe<std::int64_t>(*rc::gen::inRange(0, 9));
  look.pending = maybe<std::int64_t>(*rc::gen::inRange(0, 9));
  look.last_used = maybe(some_time());
  look.report = maybe(Report{some_text(), some_bytes(), some_bytes(), some_bytes(),
                             maybe(std::vector<LoadedModel>{{some_text(), some_bytes()}})});
  return look;
}

RC_GTEST_PROP(RecordingWriter, WhatIsWrittenIsReadAgain, ()) {
  Observation look;
  look.pools = maybe(std::vector<Pool>{some_pool()});
  look.processes = maybe(std::vector<Process>{some_process(), some_process()});
  look.tenants = maybe(std::vector<TenantLook>{some_tenant()});
  const Input input{std::abs(some_time()), look};
  std::string text = written_header();
  RecordingWriter().input(input, text);
  auto reader = RecordingReader::from_text("written", text);
  RC_ASSERT(bool(reader));
  RecordingLine line;
  const auto more = reader->next(line);
  if (!more) RC_FAIL(more.error().what + "\n" + text);
  RC_ASSERT(std::get<Input>(line.what).t == input.t);
  RC_ASSERT(std::get<Observation>(std::get<Input>(line.what).event) == look);
}

RC_GTEST_PROP(RecordingWriter, AnyTimeIsReadBackAsTheSameDouble, ()) {
  const double t = *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double d) { return std::isfinite(d) && d >= 0; });
  std::string text = written_header();
  RecordingWriter().input({t, Pause{}}, text);
  auto reader = RecordingReader::from_text("written", text);
  RC_ASSERT(bool(reader));
  RecordingLine line;
  RC_ASSERT(bool(reader->next(line)));
  RC_ASSERT(std::get<Input>(line.what).t == t);
}

TEST(RecordingWriter, MillisecondsAreShort) {
  std::string out;
  RecordingWriter writer;
  for (const std::int64_t ms :
       {std::int64_t{0}, std::int64_t{100}, std::int64_t{1250}, std::int64_t{86400001}, std::int64_t{31536000000123}}) {
    writer.input({recording_time(ms), Pause{}}, out);
  }
  EXPECT_EQ(out,
            "{\"t\":0,\"type\":\"pause\"}\n{\"t\":0.1,\"type\":\"pause\"}\n{\"t\":1.25,\"type\":\"pause\"}\n"
            "{\"t\":86400.001,\"type\":\"pause\"}\n{\"t\":31536000000.123,\"type\":\"pause\"}\n");
}

TEST(RecordingWriter, SectionsThatDidNotChangeAreLeftOut) {
  Observation look;
  look.pools = std::vector<Pool>{{"gpu0", PoolKind::gpu, Bytes{9}, Bytes{5}, {}, {}, {}, {}, "", ""}};
  look.processes = std::vector<Process>{};
  look.tenants = std::vector<TenantLook>{};
  RecordingWriter writer;
  const auto line = [&](Seconds t, const Observation& o) {
    std::string out;
    writer.input({t, o}, out);
    return out;
  };
  EXPECT_EQ(line(0, look),
            "{\"t\":0,\"type\":\"observe\",\"pools\":[{\"id\":\"gpu0\",\"kind\":\"gpu\",\"total\":9,\"used\":5}],\"processes\":[]"
            ",\"tenants\":[]}\n");
  EXPECT_EQ(line(1, look), "{\"t\":1,\"type\":\"observe\"}\n");
  look.pools->at(0).used.reset();
  EXPECT_EQ(line(2, look), "{\"t\":2,\"type\":\"observe\",\"pools\":[{\"id\":\"gpu0\",\"kind\":\"gpu\",\"total\":9}]}\n");
  EXPECT_EQ(line(3, {}), "{\"t\":3,\"type\":\"observe\"}\n");
  EXPECT_EQ(line(4, look), "{\"t\":4,\"type\":\"observe\"}\n");
  std::string header;
  writer.header({}, header);
  EXPECT_NE(line(0, look).find("\"pools\""), std::string::npos);
}

TEST(RecordingWriter, HeaderIsReadBack) {
  RecordingHeader header;
  header.started = "2026-10-28T03:04:00.123Z";
  header.host = "ho\"me";
  header.policy.headroom = Bytes{7};
  header.policy.idle_grace = 0.5;
  header.policy.baseline = {{"gpu0", Bytes{8}}};
  header.policy.tenants["comfyui"] = {2, RestartLeave::ask, true, {{"gpu0", Bytes{9}}}};
  std::string out;
  RecordingWriter().header(header, out);
  const auto reader = RecordingReader::from_text("written", out);
  ASSERT_TRUE(reader) << reader.error().what;
  EXPECT_EQ(reader->header().policy, header.policy);
  EXPECT_EQ(reader->header().started, header.started);
  EXPECT_EQ(reader->header().host, header.host);
}

TEST(RecordingWriter, EventsAreReadBack) {
  const std::vector<Event> events{Submit{{1, "n", {{"gpu", Bytes{5}}}, 3, "c", "b", {2, 3}}},
                                  Started{1, {5, 6}},
                                  Exit{1, 3},
                                  Exit{1, {}},
                                  Cancel{4},
                                  Released{"c", true, 200, ""},
                                  Released{"c", false, {}, "no answer"},
                                  Restarted{"c", false},
                                  Resume{},
                                  Hold{9},
                                  Unhold{9},
                                  Ask{"c"}};
  RecordingWriter writer;
  std::string first = written_header();
  for (const Event& event : events) writer.input({1, event}, first);
  auto reader = RecordingReader::from_text("written", first);
  ASSERT_TRUE(reader);
  std::string second = written_header();
  RecordingLine line;
  std::size_t count = 0;
  for (;; ++count) {
    const auto more = reader->next(line);
    ASSERT_TRUE(more) << more.error().what;
    if (!*more) break;
    EXPECT_EQ(std::get<Input>(line.what).event.index(), events[count].index());
    writer.input(std::get<Input>(line.what), second);
  }
  EXPECT_EQ(count, events.size());
  EXPECT_EQ(first, second);
  EXPECT_NE(first.find(R"("type":"exit","job":1,"code":null)"), std::string::npos);
}

TEST(RecordingWriter, OutputsAndLedger) {
  std::string out;
  RecordingWriter::output({1, Admit{2, ""}}, out);
  Reason reason;
  reason.code = WaitCode::releasing;
  reason.pool = "gpu0";
  reason.short_by = Bytes{5};
  reason.owner = Owner{OwnerKind::tenant, "c"};
  RecordingWriter::output({1, Wait{2, reason}}, out);
  RecordingWriter::output({1, Release{"c", {}, "gpu0", Bytes{6}}}, out);
  RecordingWriter::output({1, Restart{"c", 2}}, out);
  RecordingWriter::output({1, Verdict{"c", "gpu0", VerdictKind::late, Bytes{6}, {}, 1.0 - 0.3, 0}}, out);
  RecordingWriter::ledger(1,
                          {"gpu0",
                           PoolKind::gpu,
                           Bytes{9},
                           Bytes{4},
                           {},
                           {{{OwnerKind::baseline, ""}, Bytes{4}, Bytes{3}, Bytes{5}, How::estimated, false}}},
                          out);
  RecordingWriter::ledger(1, {"gpu1", PoolKind::gpu, {}, {}, {}, {}}, out);
  EXPECT_EQ(out,
            R"({"t":1,"type":"admit","job":2,"pool":null}
{"t":1,"type":"wait","job":2,"code":"releasing","pool":"gpu0","short":5,"owner":"tenant:c"}
{"t":1,"type":"release","tenant":"c","for":null,"pool":"gpu0","held":6}
{"t":1,"type":"restart","tenant":"c","for":2}
{"t":1,"type":"verdict","tenant":"c","pool":"gpu0","verdict":"late","before":6,"after":null,"settled_s":0.7}
{"t":1,"type":"ledger","pool":"gpu0","used":4,"claims":[{"owner":"baseline","bytes":4,"lo":3,"hi":5,"how":"estimated"}]}
{"t":1,"type":"ledger","pool":"gpu1","used":null,"claims":[]}
)");
}

TEST(RecordingWriter, BytesThatAreNotUtf8CanStillBeRead) {
  Observation look;
  look.processes = std::vector<Process>(1);
  look.processes->at(0).name = "a\xff\xc3(\xe2\x82";
  std::string out;
  RecordingWriter().input({0, look}, out);
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["processes"][0]["name"], "a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace jipsa
