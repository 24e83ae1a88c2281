#include "wire/recording_check.h"

#include <gtest/gtest.h>

namespace jipsa {
namespace {

Books books(const std::string& pool, std::int64_t tenant_bytes) {
  Books out;
  out.pool = pool;
  out.used = Bytes{tenant_bytes};
  const Bytes bytes{tenant_bytes};
  if (tenant_bytes != 0) out.claims.push_back({{OwnerKind::tenant, "c"}, bytes, bytes, bytes, How::traced, false});
  return out;
}

Expectation parse(const std::string& json) {
  auto reader = RecordingReader::from_text("x", "{\"type\":\"recording\",\"version\":1}\n" + json);
  EXPECT_TRUE(reader);
  RecordingLine line;
  const auto more = reader->next(line);
  EXPECT_TRUE(more) << more.error().what;
  return std::get<Expectation>(line.what);
}

// What a fixed replay makes of one expect line: looks at 0 (c holds 10), 1 (c holds 20), 2 (c gone); outputs as below.
std::vector<std::string> failures(const std::string& json) {
  RecordingCheck check;
  check.expect(7, parse(json));
  check.looked(0, {books("gpu0", 10)});
  Reason reason;
  reason.code = WaitCode::leftover;
  check.put_out({0.5, Wait{1, reason}});
  check.put_out({0.5, Release{"c", 1, "gpu0", Bytes{10}}});
  check.looked(1, {books("gpu0", 20)});
  check.put_out({1, Verdict{"c", "gpu0", VerdictKind::kept, Bytes{10}, Bytes{20}, {}, 0.5}});
  check.put_out({1.5, Release{"c", {}, "gpu0", Bytes{20}}});
  check.looked(2, {books("gpu0", 0)});
  check.put_out({2, Admit{1, "gpu0"}});
  return check.failures("f");
}

void holds(const std::string& json) {
  const auto seen = failures(json);
  EXPECT_TRUE(seen.empty()) << json << "\n" << seen.front();
}

void fails(const std::string& json, const std::string& says) {
  const auto seen = failures(json);
  ASSERT_EQ(seen.size(), 1U) << json;
  EXPECT_TRUE(seen.front().starts_with("f:7: expected ")) << seen.front();
  EXPECT_NE(seen.front().find(says), std::string::npos) << seen.front();
}

TEST(RecordingCheck, LedgerTakesTheLastLookAtOrBefore) {
  holds(R"({"type":"expect","at":0,"ledger":"gpu0","owner":"tenant:c","min":10,"max":10,"how":"traced"})");
  holds(R"({"type":"expect","at":0.99,"ledger":"gpu0","owner":"tenant:c","min":10,"max":10})");
  holds(R"({"type":"expect","at":1,"ledger":"gpu0","owner":"tenant:c","min":20,"max":20.0})");
  holds(R"({"type":"expect","at":99,"ledger":"gpu0","owner":"tenant:c","max":0})");
  fails(R"({"type":"expect","at":1,"ledger":"gpu0","owner":"tenant:c","max":19})", "at most 19; at 1 it is 20, traced");
  fails(R"({"type":"expect","at":1,"ledger":"gpu0","owner":"tenant:c","min":21})", "at least 21");
  fails(R"({"type":"expect","at":1,"ledger":"gpu0","owner":"tenant:c","min":20,"how":"measured"})",
        "measured; at 1 it is 20, traced");
}

TEST(RecordingCheck, AnAbsentOwnerHoldsNothing) {
  holds(R"({"type":"expect","at":1,"ledger":"gpu0","owner":"tenant:d","min":0,"max":0})");
  fails(R"({"type":"expect","at":1,"ledger":"gpu0","owner":"tenant:d","min":1})", "no claim, which is 0");
  fails(R"({"type":"expect","at":1,"ledger":"gpu7","owner":"tenant:d","max":1})",
        "no observe up to then has a pool of that name");
  fails(R"({"type":"expect","at":-1,"ledger":"gpu0","owner":"tenant:c","max":1})", "no observe at or before");
}

TEST(RecordingCheck, OutputWithinItsSpan) {
  holds(R"({"type":"expect","by":2,"output":{"type":"admit","job":1}})");
  holds(R"({"type":"expect","from":2,"by":2,"output":{"type":"admit","job":1.0,"pool":"gpu0"}})");
  holds(R"({"type":"expect","by":9,"output":{"type":"admit","t":2}})");
  fails(R"({"type":"expect","by":1.9,"output":{"type":"admit","job":1}})",
        R"(by 1.9; nearest: {"t":2,"type":"admit","job":1,"pool":"gpu0"})");
  fails(R"({"type":"expect","from":2.1,"by":3,"output":{"type":"admit"}})", "from 2.1 to 3");
  fails(R"({"type":"expect","by":2,"output":{"type":"admit","job":2}})", "nearest");
  fails(R"({"type":"expect","by":2,"output":{"type":"restart"}})", "no such output at any time");
}

TEST(RecordingCheck, NullEqualsAbsentAndNothingElse) {
  holds(R"({"type":"expect","by":9,"from":1,"output":{"type":"release","for":null}})");
  holds(R"({"type":"expect","by":9,"output":{"type":"release","tenant":"c","nothing":null}})");
  fails(R"({"type":"expect","by":1,"output":{"type":"release","for":null}})", "nearest");
  fails(R"({"type":"expect","by":9,"output":{"type":"verdict","settled_s":0}})", "nearest");
  fails(R"({"type":"expect","by":9,"output":{"type":"admit","job":"1"}})", "nearest");
}

TEST(RecordingCheck, NeverAndCount) {
  holds(R"({"type":"expect","never":{"type":"restart"}})");
  holds(R"({"type":"expect","never":{"type":"admit"},"by":1.9})");
  holds(R"({"type":"expect","never":{"type":"release"},"from":0.6,"by":1.4})");
  fails(R"({"type":"expect","never":{"type":"release"},"from":0.5})", R"(seen {"t":0.5,)");
  fails(R"({"type":"expect","never":{"job":1}})", "expected never");
  holds(R"({"type":"expect","count":{"type":"release"},"min":2,"max":2})");
  holds(R"({"type":"expect","count":{"type":"restart"},"max":0})");
  fails(R"({"type":"expect","count":{"type":"release"},"min":3})", "at least 3");
  fails(R"({"type":"expect","count":{"type":"release"},"max":1})", "seen 2, first");
  holds(R"({"type":"expect","count":{"type":"release"},"from":1,"max":1})");
}

Output admit(Seconds t, JobId job) { return {t, Admit{job, ""}}; }

TEST(RecordingCheck, RecordedOutputsMustComeAgain) {
  const auto compare = [](const std::vector<Output>& recorded, const std::vector<Output>& replayed) {
    RecordingCheck check;
    int line = 10;
    for (const Output& output : recorded) check.recorded(line++, output);
    for (const Output& output : replayed) check.put_out(output);
    const auto seen = check.failures("f");
    return seen.empty() ? std::string() : seen.front();
  };
  EXPECT_EQ(compare({admit(1, 1), admit(2, 2)}, {admit(1, 1), admit(2, 2)}), "");
  EXPECT_EQ(compare({}, {admit(1, 1)}), "");
  EXPECT_EQ(
      compare({admit(1, 1), admit(2, 2)}, {admit(1, 1), admit(2.5, 2)}),
      R"(f:11: recorded {"t":2,"type":"admit","job":2,"pool":null}; the replay gives {"t":2.5,"type":"admit","job":2,"pool":null})");
  EXPECT_EQ(compare({admit(1, 1)}, {}),
            R"(f:10: recorded {"t":1,"type":"admit","job":1,"pool":null}; the replay gives no further output)");
  EXPECT_EQ(compare({admit(1, 1)}, {admit(1, 1), admit(3, 4)}),
            R"(f:10: after this last recorded output the replay also gives {"t":3,"type":"admit","job":4,"pool":null})");
}

}  // namespace
}  // namespace jipsa
