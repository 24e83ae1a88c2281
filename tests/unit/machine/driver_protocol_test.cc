// The daemon and its helper understand each other, whatever the pieces and the names.
#include "machine/driver_protocol.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace jipsa {
namespace {

DriverAnswer sample() {
  DriverAnswer answer;
  answer.id = 7;
  answer.reading.state = DriverReading::State::ok;
  answer.reading.driver_version = "580.95.05";
  answer.reading.steady_ns = 123456789;
  GpuReading card;
  card.index = 1;
  card.uuid = "GPU-1";
  card.name = std::string("RTX 50%\n90=\0x", 13);
  card.total = gib(32);
  card.used = gib(3);
  card.processes = std::vector<DeviceProcess>{{42, gib(1)}, {43, std::nullopt}};
  GpuReading lost;
  lost.trouble = "lost";
  answer.reading.gpus = {card, lost};
  return answer;
}

void expect_sample(const DriverAnswer& got) {
  const DriverAnswer want = sample();
  EXPECT_EQ(got.id, want.id);
  EXPECT_EQ(got.reading.state, want.reading.state);
  EXPECT_EQ(got.reading.driver_version, want.reading.driver_version);
  EXPECT_EQ(got.reading.steady_ns, want.reading.steady_ns);
  ASSERT_EQ(got.reading.gpus.size(), 2u);
  const GpuReading& card = got.reading.gpus[0];
  EXPECT_EQ(card.index, 1u);
  EXPECT_EQ(card.uuid, "GPU-1");
  EXPECT_EQ(card.name, want.reading.gpus[0].name);
  EXPECT_EQ(card.total, gib(32));
  EXPECT_EQ(card.used, gib(3));
  EXPECT_FALSE(card.free || card.reserved);
  EXPECT_EQ(card.processes, want.reading.gpus[0].processes);
  EXPECT_EQ(got.reading.gpus[1].trouble, "lost");
  EXPECT_FALSE(got.reading.gpus[1].processes);
}

TEST(DriverProtocol, AnswerArrivesWholeOrInPieces) {
  const std::string text = write_answer(sample()) + write_answer(sample());
  for (const std::size_t piece : {text.size(), std::size_t{1}, std::size_t{7}}) {
    AnswerReader reader;
    std::vector<DriverAnswer> answers;
    for (std::size_t at = 0; at < text.size(); at += piece)
      ASSERT_TRUE(reader.feed(std::string_view(text).substr(at, piece), answers));
    ASSERT_EQ(answers.size(), 2u);
    expect_sample(answers[0]);
    expect_sample(answers[1]);
  }
}

TEST(DriverProtocol, EmptyListIsNotAnUnknownOne) {
  DriverAnswer answer;
  answer.reading.gpus.resize(1);
  answer.reading.gpus[0].processes.emplace();
  AnswerReader reader;
  std::vector<DriverAnswer> answers;
  ASSERT_TRUE(reader.feed(write_answer(answer), answers));
  ASSERT_TRUE(answers.at(0).reading.gpus.at(0).processes);
  EXPECT_TRUE(answers[0].reading.gpus[0].processes->empty());
}

TEST(DriverProtocol, UnknownKeysAreOfNewerHelpers) {
  AnswerReader reader;
  std::vector<DriverAnswer> answers;
  ASSERT_TRUE(reader.feed("begin 1\nstate=ok\nweather=fine\ngpu=0\ncolour=green\ntotal=5\nend 1\n", answers));
  EXPECT_EQ(answers.at(0).reading.gpus.at(0).total, Bytes{5});
}

TEST(DriverProtocol, NonsenseIsNamed) {
  for (const char* text :
       {"hello\n", "begin x\n", "begin 1\nstate=happy\n", "begin 1\nnothing\n", "begin 1\nend 2\n", "begin 1\ngpu=-1\n",
        "begin 1\ngpu=0\ntotal=many\n", "begin 1\ngpu=0\ntotal=1x\n", "begin 1\ngpu=0\nrow=1 2\n", "begin 1\ngpu=0\nname=%G1\n",
        "begin 1\ngpu=0\nname=%1\n", "begin 1\ngpu=0\ntotal=99999999999999999999\n", "begin 1\ngpu=0\nprocesses=known\nrow=\n"}) {
    AnswerReader reader;
    std::vector<DriverAnswer> answers;
    const auto fed = reader.feed(text, answers);
    ASSERT_FALSE(fed) << text;
    EXPECT_NE(fed.error().what.find("jipsa-nvml"), std::string::npos);
    EXPECT_TRUE(answers.empty());
  }
}

TEST(DriverProtocol, EndlessAnswersAreCutOff) {
  AnswerReader reader;
  std::vector<DriverAnswer> answers;
  EXPECT_FALSE(reader.feed(std::string(10000, 'x'), answers));
  AnswerReader other;
  ASSERT_TRUE(other.feed("begin 1\n", answers));
  bool refused = false;
  for (int i = 0; i < 300000 && !refused; ++i) refused = !other.feed("at=1\n", answers);
  EXPECT_TRUE(refused);
}

TEST(DriverProtocol, AnyBytesAreSurvived) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    AnswerReader reader;
    std::vector<DriverAnswer> answers;
    const auto fed = reader.feed("begin 1\ngpu=0\n" + text, answers);
    RC_ASSERT(fed || !fed.error().what.empty());
  }));
  EXPECT_TRUE(rc::check([](const std::string& name) {
    DriverAnswer answer;
    answer.reading.gpus.resize(1);
    answer.reading.gpus[0].name = name;
    AnswerReader reader;
    std::vector<DriverAnswer> answers;
    RC_ASSERT(reader.feed(write_answer(answer), answers).has_value());
    RC_ASSERT(answers.at(0).reading.gpus.at(0).name == name);
  }));
}

TEST(DriverProtocol, Requests) {
  for (const bool processes : {false, true}) {
    std::string line = write_request({12, processes});
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    const auto request = parse_request(line);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->id, 12u);
    EXPECT_EQ(request->processes, processes);
  }
  for (const char* line : {"", "read", "read totals", "read totals x", "read totals 1 2", "read totals -1", "write totals 1"}) {
    EXPECT_FALSE(parse_request(line)) << line;
  }
}

}  // namespace
}  // namespace jipsa
