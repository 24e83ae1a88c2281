#include "machine/loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "machine/clock.h"

namespace jipsa {
namespace {

using namespace std::chrono_literals;

struct Pair {
  int a = -1, b = -1;
  Pair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    a = ends[0];
    b = ends[1];
  }
  ~Pair() {
    close(a);
    close(b);
  }
  void send() const { EXPECT_EQ(write(b, "x", 1), 1); }
};

class LoopTest : public ::testing::Test {
 protected:
  std::unique_ptr<Loop> loop = *Loop::make();
};

TEST_F(LoopTest, TimersRunInOrderOfTheirTimeThenOfTheirMaking) {
  std::string order;
  loop->after(20ms, [&] {
    order += 'd';
    loop->stop();
  });
  loop->after(10ms, [&] { order += 'c'; });
  loop->after(0ms, [&] { order += 'a'; });
  loop->after(-5ms, [&] { order += 'b'; });
  loop->run();
  EXPECT_EQ(order, "abcd");
}

TEST_F(LoopTest, ATimerDoesNotRunEarly) {
  const SystemClock clock;
  const auto begin = clock.steady_ns();
  loop->after(30ms, [&] { loop->stop(); });
  loop->run();
  EXPECT_GE(clock.steady_ns() - begin, 30'000'000);
}

TEST_F(LoopTest, TimersCanBeCancelledAlsoByEachOther) {
  int ran = 0;
  const auto doomed = loop->after(1ms, [&] { ran += 100; });
  Loop::TimerId second = 0;
  loop->after(2ms, [&] {
    ++ran;
    loop->cancel(second);
    loop->cancel(second);
  });
  second = loop->after(2ms, [&] { ran += 100; });
  loop->cancel(doomed);
  loop->cancel(0);
  loop->cancel(99999);
  loop->after(10ms, [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(ran, 1);
  EXPECT_NE(doomed, second);
}

TEST_F(LoopTest, ATimerThatMakesItselfAgainDoesNotStarveTheRest) {
  int ticks = 0;
  std::function<void()> again = [&] {
    ++ticks;
    loop->after(0ns, again);
  };
  again();
  const Pair pair;
  pair.send();
  ASSERT_TRUE(loop->watch(pair.a, EPOLLIN, [&](std::uint32_t) { loop->stop(); }));
  loop->run();
  EXPECT_GT(ticks, 0);
}

TEST_F(LoopTest, AVeryLongDelayIsNoOverflow) {
  loop->after(std::chrono::nanoseconds::max(), [] { FAIL() << "due in 292 years"; });
  loop->after(5ms, [&] { loop->stop(); });
  loop->run();
}

TEST_F(LoopTest, PostsOfAllThreadsRunOnTheLoopInOrderOfEach) {
  constexpr int threads = 4, each = 2000;
  std::vector<int> last(threads, -1);
  int count = 0;
  bool in_order = true, right_thread = true;
  const auto self = std::this_thread::get_id();
  std::vector<std::jthread> posters;
  for (int t = 0; t < threads; ++t)
    posters.emplace_back([&, t] {
      for (int i = 0; i < each; ++i)
        loop->post([&, t, i] {
          const auto at = static_cast<std::size_t>(t);
          in_order = in_order && last[at] == i - 1;
          right_thread = right_thread && std::this_thread::get_id() == self;
          last[at] = i;
          if (++count == threads * each) loop->stop();
        });
    });
  loop->run();
  EXPECT_EQ(count, threads * each);
  EXPECT_TRUE(in_order);
  EXPECT_TRUE(right_thread);
}

TEST_F(LoopTest, APostFromAPostRunsAndNothingIsLostByStop) {
  std::string order;
  loop->post([&] {
    order += 'a';
    loop->post([&] { order += 'c'; });
    loop->stop();
  });
  loop->post([&] { order += 'b'; });
  loop->run();
  EXPECT_EQ(order, "a");
  loop->after(10ms, [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(order, "abc");
}

TEST_F(LoopTest, ASecondWatchReplacesTheFirst) {
  const Pair pair;
  pair.send();
  int second = 0;
  ASSERT_TRUE(loop->watch(pair.a, EPOLLIN, [](std::uint32_t) { FAIL() << "was replaced"; }));
  ASSERT_TRUE(loop->watch(pair.a, EPOLLIN, [&](std::uint32_t events) {
    EXPECT_TRUE(events & EPOLLIN);
    ++second;
    loop->unwatch(pair.a);
    loop->after(5ms, [&] { loop->stop(); });
  }));
  loop->run();
  EXPECT_EQ(second, 1);
}

TEST_F(LoopTest, ACallbackMayUnwatchAnotherThatIsReadyToo) {
  const Pair one, two;
  one.send();
  two.send();
  int ran = 0;
  const auto ready = [&](std::uint32_t) {
    ++ran;
    loop->unwatch(one.a);
    loop->unwatch(two.a);
    loop->after(5ms, [&] { loop->stop(); });
  };
  ASSERT_TRUE(loop->watch(one.a, EPOLLIN, ready));
  ASSERT_TRUE(loop->watch(two.a, EPOLLIN, ready));
  loop->run();
  EXPECT_EQ(ran, 1);
}

TEST_F(LoopTest, AnEventOfAClosedDescriptorDoesNotReachTheOneThatTookItsNumber) {
  const Pair one;
  auto two = std::make_unique<Pair>();
  one.send();
  two->send();
  const int number = two->a;
  int newcomer = 0;
  std::unique_ptr<Pair> three;
  const auto swap = [&](std::uint32_t) {
    loop->unwatch(one.a);
    loop->unwatch(number);
    two.reset();
    three = std::make_unique<Pair>();
    ASSERT_TRUE(three->a == number || three->b == number);
    ASSERT_TRUE(loop->watch(number, EPOLLIN, [&](std::uint32_t) { ++newcomer; }));
    loop->after(10ms, [&] { loop->stop(); });
  };
  ASSERT_TRUE(loop->watch(one.a, EPOLLIN, swap));
  ASSERT_TRUE(loop->watch(number, EPOLLIN, [&](std::uint32_t) {
    if (!three) swap(0);  // whichever of the two comes first
  }));
  loop->run();
  EXPECT_EQ(newcomer, 0);
}

TEST_F(LoopTest, ADescriptorClosedWithoutUnwatchCanBeWatchedAgain) {
  auto old = std::make_unique<Pair>();
  const int number = old->a;
  ASSERT_TRUE(loop->watch(number, EPOLLIN, [](std::uint32_t) { FAIL() << "is closed"; }));
  old.reset();
  const Pair fresh;
  ASSERT_EQ(fresh.a, number);
  ASSERT_TRUE(loop->watch(number, EPOLLIN, [&](std::uint32_t) { loop->stop(); }));
  fresh.send();
  loop->run();
}

TEST_F(LoopTest, WhatCanNotBeWatchedSaysSo) {
  const auto bad = loop->watch(9999, EPOLLIN, [](std::uint32_t) {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::io);
  EXPECT_NE(bad.error().what.find("9999"), std::string::npos);
  loop->unwatch(9999);
}

TEST(SystemClock, GoesForwardAndKnowsTheYear) {
  const SystemClock clock;
  const auto first = clock.steady_ns();
  EXPECT_GE(clock.steady_ns(), first);
  EXPECT_GT(clock.wall_ms(), 1'500'000'000'000);
}

}  // namespace
}  // namespace jipsa
