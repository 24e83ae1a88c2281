#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/recording.h"

namespace jipsa {
namespace {

constexpr const char* head = R"({"type":"recording","version":1})";

// The error that a recording of these lines ends in; empty if it can be read.
std::string error_of(const std::string& text) {
  auto reader = RecordingReader::from_text("a.jsonl", text);
  if (!reader) return reader.error().what;
  RecordingLine line;
  for (;;) {
    const auto more = reader->next(line);
    if (!more) return more.error().what;
    if (!*more) return {};
  }
}

std::string error_after_header(const std::string& line) { return error_of(std::string(head) + "\n" + line + "\n"); }

RecordingLine only_line(const std::string& text) {
  auto reader = RecordingReader::from_text("a.jsonl", std::string(head) + "\n" + text);
  EXPECT_TRUE(reader) << reader.error().what;
  RecordingLine line;
  const auto more = reader->next(line);
  EXPECT_TRUE(more && *more) << (more ? "no line" : more.error().what);
  return line;
}

template <class T>
T only_event(const std::string& text) {
  const RecordingLine line = only_line(text);
  const auto* input = std::get_if<Input>(&line.what);
  if (input == nullptr || !std::holds_alternative<T>(input->event)) {
    ADD_FAILURE() << "another event: " << text;
    return {};
  }
  return std::get<T>(input->event);
}

TEST(RecordingReader, HeaderGivesThePolicy) {
  const auto reader = RecordingReader::from_text("a.jsonl", R"(# a comment

{"type":"recording","version":1,"started":"2026-10-28T12:04:00+09:00","host":"home","future":[1,{"a":null}],
"config":{}})");
  EXPECT_FALSE(reader);  // one object a line
  const auto good = RecordingReader::from_text(
      "a.jsonl",
      R"({"type":"recording","version":1,"started":"2026-10-28T12:04:00+09:00","host":"home","future":[1,{"a":null}],"config":{"headroom":1,"ram_headroom":2,"release_window":3.5,"release_deadline":4,"ask_deadline":5,"release_cooldown":6,"stuck_after":7,"idle_grace":0,"pools":{"gpu0":{"baseline":8,"x":1},"gpu1":null},"tenants":{"c":{"slots":2,"restart":"auto","keep":true,"floor":{"gpu0":9}},"d":{"restart":null}}}})");
  ASSERT_TRUE(good) << good.error().what;
  const RecordingHeader& h = good->header();
  EXPECT_EQ(h.started, "2026-10-28T12:04:00+09:00");
  EXPECT_EQ(h.host, "home");
  Policy wanted;
  wanted.headroom = Bytes{1};
  wanted.ram_headroom = Bytes{2};
  wanted.release_window = 3.5;
  wanted.release_deadline = 4;
  wanted.ask_deadline = 5;
  wanted.release_cooldown = 6;
  wanted.stuck_after = 7;
  wanted.idle_grace = 0;
  wanted.baseline = {{"gpu0", Bytes{8}}};
  wanted.tenants["c"] = {2, RestartLeave::automatic, true, {{"gpu0", Bytes{9}}}};
  wanted.tenants["d"] = {};
  EXPECT_EQ(h.policy, wanted);
}

TEST(RecordingReader, ObserveIsReadWhole) {
  const auto look = only_event<Observation>(
      R"({"pools":[{"id":"gpu0","kind":"gpu","total":3.2e10,"used":25200000000.0,"free":1,"reserved":2,"name":"RTX","uuid":"GPU-1","processes":[{"pid":4242,"bytes":null},{"pid":1,"bytes":5}]},{"id":"ram","kind":"ram","total":7,"available":6}],"processes":[{"pid":4242,"start":1000,"name":"python3","rss_anon":1,"rss_file":2,"rss_shmem":0,"swap":3,"cpu":1.25,"anon_arena":4,"owner":"tenant:comfyui"}],"tenants":[{"id":"comfyui","kind":"comfyui","pid":4242,"reachable":true,"running":0,"pending":2,"last_used":-9240.5,"report":{"pool":"gpu0","total":8,"free":9,"own":10,"models":[{"name":"영상","bytes":11},{"name":"m\u00e9\ud83d\ude00"}]}}],"t":0.25,"type":"observe"})");
  ASSERT_TRUE(look.pools && look.processes && look.tenants);
  const Pool& gpu = look.pools->at(0);
  EXPECT_EQ(gpu.total, Bytes{32000000000});
  EXPECT_EQ(gpu.used, Bytes{25200000000});
  EXPECT_EQ(gpu.free, Bytes{1});
  EXPECT_EQ(gpu.reserved, Bytes{2});
  EXPECT_EQ(gpu.name, "RTX");
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.available, std::nullopt);
  ASSERT_TRUE(gpu.processes);
  EXPECT_EQ(*gpu.processes, (std::vector<DeviceProcess>{{4242, std::nullopt}, {1, Bytes{5}}}));
  EXPECT_EQ(look.pools->at(1).kind, PoolKind::ram);
  EXPECT_EQ(look.pools->at(1).available, Bytes{6});
  EXPECT_EQ(look.pools->at(1).processes, std::nullopt);
  EXPECT_EQ(look.processes->at(0),
            (Process{4242, 1000, "python3", Bytes{1}, Bytes{2}, Bytes{0}, Bytes{3}, 1.25, Bytes{4}, "tenant:comfyui"}));
  const TenantLook& tenant = look.tenants->at(0);
  EXPECT_EQ(tenant.last_used, -9240.5);
  EXPECT_EQ(tenant.pending, 2);
  ASSERT_TRUE(tenant.report && tenant.report->models);
  EXPECT_EQ(tenant.report->own, Bytes{10});
  EXPECT_EQ(*tenant.report->models, (std::vector<LoadedModel>{{"영상", Bytes{11}}, {"mé😀", std::nullopt}}));
}

TEST(RecordingReader, WhatIsNullOrLeftOutIsUnknown) {
  const auto look = only_event<Observation>(
      R"({"t":0,"type":"observe","pools":[{"id":"gpu0","kind":"gpu","total":null,"used":null,"processes":null}],"processes":null,"tenants":[{"id":"c","kind":"k","reachable":false,"pid":null,"running":null,"last_used":null,"report":null}]})");
  EXPECT_EQ(look.pools->at(0), (Pool{"gpu0", PoolKind::gpu, {}, {}, {}, {}, {}, {}, "", ""}));
  EXPECT_EQ(look.processes, std::nullopt);
  EXPECT_EQ(look.tenants->at(0), (TenantLook{"c", "k", {}, false, {}, {}, {}, {}}));
  EXPECT_EQ(only_event<Exit>(R"({"t":1,"type":"exit","job":3})").code, std::nullopt);
  EXPECT_EQ(only_event<Exit>(R"({"t":1,"type":"exit","job":3,"code":null})").code, std::nullopt);
  EXPECT_EQ(only_event<Exit>(R"({"t":1,"type":"exit","job":3,"code":0})").code, 0);
  EXPECT_EQ(only_event<Released>(R"({"t":1,"type":"released","tenant":"c","ok":false,"status":null,"error":"no"})").status,
            std::nullopt);
}

TEST(RecordingReader, Events) {
  const Job job =
      only_event<Submit>(
          R"({"t":0,"type":"submit","job":{"id":1,"name":"영상","needs":{"gpu":17179869184,"ram":8},"priority":-2,"tenant":"c","bundle":"wan","after":[4,5]}})")
          .job;
  EXPECT_EQ(job, (Job{1, "영상", {{"gpu", Bytes{17179869184}}, {"ram", Bytes{8}}}, -2, "c", "wan", {4, 5}}));
  EXPECT_EQ(only_event<Started>(R"({"t":0,"type":"started","job":1,"pids":[7,8]})").pids, (std::vector<Pid>{7, 8}));
  EXPECT_EQ(only_event<Cancel>(R"({"t":0,"type":"cancel","job":6})").job, 6);
  EXPECT_EQ(only_event<Hold>(R"({"t":0,"type":"hold","job":6})").job, 6);
  EXPECT_EQ(only_event<Unhold>(R"({"t":0,"type":"unhold","job":6})").job, 6);
  EXPECT_EQ(only_event<Ask>(R"({"t":0,"type":"ask","tenant":"c"})").tenant, "c");
  EXPECT_TRUE(only_event<Restarted>(R"({"t":0,"type":"restarted","tenant":"c","ok":true})").ok);
  only_event<Pause>(R"({"t":0,"type":"pause"})");
  only_event<Resume>(R"({"t":0,"type":"resume"})");
}

TEST(RecordingReader, RecordedOutputs) {
  const auto output = [](const std::string& text) { return std::get<Output>(only_line(text).what).decision; };
  EXPECT_EQ(std::get<Admit>(output(R"({"t":1,"type":"admit","job":2,"pool":"gpu0"})")).pool, "gpu0");
  const auto wait =
      std::get<Wait>(output(R"({"t":1,"type":"wait","job":2,"code":"leftover","pool":"gpu0","short":7,"owner":"tenant:c"})"));
  EXPECT_EQ(wait.reason.code, WaitCode::leftover);
  EXPECT_EQ(wait.reason.owner, (Owner{OwnerKind::tenant, "c"}));
  EXPECT_EQ(wait.reason.short_by, Bytes{7});
  EXPECT_EQ(std::get<Release>(output(R"({"t":1,"type":"release","tenant":"c","for":null,"pool":"gpu0","held":9})")).job,
            std::nullopt);
  EXPECT_EQ(std::get<Restart>(output(R"({"t":1,"type":"restart","tenant":"c","for":4})")).job, 4);
  const auto verdict = std::get<Verdict>(output(
      R"({"t":1,"type":"verdict","tenant":"c","pool":"ram","verdict":"kept_by_allocator","before":9,"after":null,"settled_s":0.75})"));
  EXPECT_EQ(verdict.verdict, VerdictKind::kept_by_allocator);
  EXPECT_EQ(verdict.after, std::nullopt);
  EXPECT_EQ(verdict.settled_s, 0.75);
}

TEST(RecordingReader, StateIsCarriedAsText) {
  const auto state = std::get<StateLine>(only_line(R"({"t":2,"type":"state","state": {"a":[1,{"b":"}"}]} })").what);
  EXPECT_EQ(state.t, 2);
  EXPECT_EQ(state.json, R"({"a":[1,{"b":"}"}]})");
  EXPECT_NE(error_of(std::string(head) + "\n{\"t\":1,\"type\":\"pause\"}\n{\"t\":1,\"type\":\"state\",\"state\":{}}")
                .find("a.jsonl:3: a state after"),
            std::string::npos);
}

TEST(RecordingReader, CommentsBlankLinesAndLineNumbers) {
  auto reader =
      RecordingReader::from_text("a.jsonl", std::string("#c\r\n\n") + head + "\r\n  \n# x\n{\"type\":\"pause\",\"t\":3}");
  ASSERT_TRUE(reader);
  RecordingLine line;
  ASSERT_TRUE(*reader->next(line));
  EXPECT_EQ(line.number, 6);
  EXPECT_FALSE(*reader->next(line));
}

TEST(RecordingReader, ExpectationsStandAnywhereInTime) {
  EXPECT_EQ(error_of(std::string(head) + R"(
{"type":"expect","by":9,"output":{"type":"admit","job":1}}
{"t":5,"type":"pause"}
{"type":"expect","at":1,"ledger":"gpu0","owner":"baseline","min":0}
{"t":5,"type":"resume"}
{"t":5,"type":"ledger","pool":"gpu0","used":1,"claims":[]}
)"),
            "");
}

struct Bad {
  const char* line;
  const char* says;
};

const std::vector<Bad> bad_lines{

    Bad{"[]", "not an object but a list"},
    Bad{"7", "not an object but a number"},
    Bad{"nonsense", "not an object but"},
    Bad{"{", "cut off"},
    Bad{R"({"t":0})", "the key \"type\" is missing"},
    Bad{R"({"t":0,"type":7})", "type: expected a string"},
    Bad{R"({"t":0,"type":"dance"})", "unknown type \"dance\""},
    Bad{R"({"type":"observe"})", "the key \"t\" is missing"},
    Bad{R"({"t":null,"type":"observe"})", "t: expected a number, found null"},
    Bad{R"({"t":"0","type":"observe"})", "t: expected a number, found a string"},
    Bad{R"({"t":1e999,"type":"pause"})", "t: the number is out of range"},
    Bad{R"({"t":-1,"type":"pause"})", "before the recording began"},
    Bad{R"({"t":01,"type":"pause"})", "not a JSON number"},
    Bad{R"({"t":1.,"type":"pause"})", "not a JSON number"},
    Bad{R"({"t":0,"type":"pause"} x)", "more text after the object"},
    Bad{R"({"t":0,"type":"pause")", "cut off"},
    Bad{R"({"t":0,"type":"pause","x":"ab)", "cut off"},
    Bad{R"({"t":0,"type":"pause",})", "quotes"},
    Bad{R"({"t":0 "type":"pause"})", "expected ','"},
    Bad{"{\"t\":0,\"type\":\"pau\x01se\"}", "control character"},
    Bad{R"({"t":0,"type":"pause","x":"\q"})", "escape"},
    Bad{R"({"t":0,"type":"pause","x":"\ud800"})", "surrogate"},
    Bad{"{\"t\":0,\"type\":\"pause\",\"x\":\"\xc3\x28\"}", "UTF-8"},
    Bad{"# comment \xff", "UTF-8"},
    Bad{R"({"type":"recording","version":1})", "second header"},
    Bad{R"({"t":0,"type":"observe","pools":{}})", "pools: expected a list, found an object"},
    Bad{R"({"t":0,"type":"observe","pools":[{"kind":"gpu"}]})", "pools[0]: the key \"id\" is missing"},
    Bad{R"({"t":0,"type":"observe","pools":[{"id":"g","kind":"gpu"},{"id":"x","kind":"disk"}]})",
        "pools[1].kind: unknown kind \"disk\""},
    Bad{R"({"t":0,"type":"observe","pools":[{"id":"g","kind":"gpu","used":-1}]})", "pools[0].used: -1 is out of range"},
    Bad{R"({"t":0,"type":"observe","pools":[{"id":"g","kind":"gpu","used":1.5}]})", "expected an integer, found 1.5"},
    Bad{R"({"t":0,"type":"observe","pools":[{"id":"g","kind":"gpu","used":9223372036854775808}]})", "out of range"},
    Bad{R"({"t":0,"type":"observe","pools":[{"id":"g","kind":"gpu","used":1e30}]})", "out of range"},
    Bad{R"({"t":0,"type":"observe","pools":[{"id":"g","kind":"gpu","used":"5"}]})",
        "expected an integer count of bytes, found a string; null where"},
    Bad{R"({"t":0,"type":"observe","processes":[{"pid":2147483648}]})", "processes[0].pid: 2147483648 is out of range"},
    Bad{R"({"t":0,"type":"observe","processes":[{"start":1}]})", "processes[0]: the key \"pid\" is missing"},
    Bad{R"({"t":0,"type":"observe","tenants":[{"id":"c","kind":"c"}]})", "tenants[0]: the key \"reachable\" is missing"},
    Bad{R"({"t":0,"type":"observe","tenants":[{"id":"c","kind":"c","reachable":1}]})", "expected true or false, found a number"},
    Bad{R"({"t":0,"type":"observe","tenants":[{"id":"c","kind":"c","reachable":true,"report":{}}]})",
        "tenants[0].report: the key \"pool\""},
    Bad{R"({"t":0,"type":"submit"})", "the key \"job\" is missing"},
    Bad{R"({"t":0,"type":"submit","job":{}})", "job: the key \"id\" is missing"},
    Bad{R"({"t":0,"type":"submit","job":{"id":0}})", "job.id: 0 is out of range"},
    Bad{R"({"t":0,"type":"submit","job":{"id":1,"needs":{"gpu":1,"gpu":2}}})",
        "job.needs.gpu: a need of this pool is given twice"},
    Bad{R"({"t":0,"type":"submit","job":{"id":1,"after":["x"]}})", "job.after[0]: expected an integer"},
    Bad{R"({"t":0,"type":"started","job":1})", "\"pids\" is missing"},
    Bad{R"({"t":0,"type":"exit"})", "\"job\" is missing"},
    Bad{R"({"t":0,"type":"released","tenant":"c"})", "\"ok\" is missing"},
    Bad{R"({"t":0,"type":"ask"})", "\"tenant\" is missing"},
    Bad{R"({"t":0,"type":"wait","job":1,"code":"bored"})", "unknown code \"bored\""},
    Bad{R"({"t":0,"type":"wait","job":1,"code":"kept","owner":"comfyui"})", "is no owner"},
    Bad{R"({"type":"expect"})", "exactly one of"},
    Bad{R"({"type":"expect","by":1,"output":{"type":"admitt"}})", "type must be one of"},
    Bad{R"({"type":"expect","output":{"type":"admit"}})", "\"by\" is missing"},
    Bad{R"({"type":"expect","by":1,"output":{"type":"admit","job":{}}})", "output.job: expected a number, found an object"},
    Bad{R"({"type":"expect","count":{"type":"admit"}})", "neither \"min\" nor \"max\""},
    Bad{R"({"type":"expect","ledger":"gpu0","owner":"baseline","min":1})", "\"at\" is missing"},
    Bad{R"({"type":"expect","at":1,"ledger":"gpu0","min":1})", "\"owner\" is missing"},
    Bad{R"({"type":"expect","at":1,"ledger":"gpu0","owner":"baseline","min":2,"max":1})", "\"min\" is above \"max\""},
    Bad{R"({"type":"expect","at":1,"ledger":"gpu0","owner":"base","min":2})", "is no owner"},
    Bad{R"({"type":"expect","never":{"type":"admit"},"count":{"type":"admit"},"min":1})", "exactly one of"}};

TEST(RecordingReader, ABadLineIsNamedWithTheMend) {
  for (const Bad& bad : bad_lines) {
    const std::string error = error_after_header(bad.line);
    EXPECT_TRUE(error.starts_with("a.jsonl:2: ")) << bad.line << "\n" << error;
    EXPECT_NE(error.find(bad.says), std::string::npos) << bad.line << "\n" << error;
  }
}

TEST(RecordingReader, BadHeaders) {
  EXPECT_NE(error_of("").find("a.jsonl:0: no header"), std::string::npos);
  EXPECT_NE(error_of("# only\n").find("no header"), std::string::npos);
  EXPECT_NE(error_of("{\"t\":0,\"type\":\"pause\"}").find("a.jsonl:1: no header before this line of type \"pause\""),
            std::string::npos);
  EXPECT_NE(error_of(R"({"type":"recording"})").find("\"version\" is missing"), std::string::npos);
  EXPECT_NE(error_of(R"({"type":"recording","version":2})").find("format 2"), std::string::npos);
  EXPECT_NE(error_of(R"({"type":"recording","version":"1"})").find("version: expected an integer"), std::string::npos);
  EXPECT_NE(error_of(R"({"type":"recording","version":1,"config":{"headroom":-1}})").find("config.headroom"), std::string::npos);
  EXPECT_NE(error_of(R"({"type":"recording","version":1,"config":{"idle_grace":-1}})").find("config.idle_grace"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"type":"recording","version":1,"config":{"tenants":{"c":{"restart":"maybe"}}}})")
                .find("config.tenants.c.restart"),
            std::string::npos);
}

TEST(RecordingReader, TimeDoesNotGoBack) {
  const std::string error = error_of(std::string(head) + "\n{\"t\":2,\"type\":\"pause\"}\n#\n{\"t\":1.5,\"type\":\"resume\"}");
  EXPECT_EQ(error, "a.jsonl:4: t goes back from 2 (line 2) to 1.5; lines stand in the order of time");
}

TEST(RecordingReader, DeepNestingIsAnErrorNotACrash) {
  const std::string deep(1000000, '[');
  EXPECT_NE(error_after_header(R"({"t":0,"type":"pause","x":)" + deep).find("nested too deep"), std::string::npos);
  EXPECT_NE(error_after_header(R"({"x":)" + deep).find("nested too deep"), std::string::npos);
}

TEST(RecordingReader, ALineThatIsTooLong) {
  std::string text = std::string(head) + "\n{\"x\":\"";
  text.append(RecordingReader::longest_line, 'y');
  EXPECT_NE(error_of(text).find("a.jsonl:2: the line is longer than 64 MiB"), std::string::npos);
}

TEST(RecordingReader, FilesThatCannotBeRead) {
  const auto missing = RecordingReader::open("/nonexistent/x.jsonl");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_NE(missing.error().what.find("/nonexistent/x.jsonl"), std::string::npos);
  const auto folder = RecordingReader::open("/");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().what.find("/: Is a directory"), std::string::npos);
}

}  // namespace
}  // namespace jipsa
