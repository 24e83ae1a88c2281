// DriverSource with the real helper process and a driver library that lies, hangs and crashes.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "machine/clock.h"
#include "machine/sense.h"

namespace jipsa {
namespace {

using namespace std::chrono_literals;
using State = DriverReading::State;

const char* const card =
    "gpu 0 uuid GPU-A\ngpu 0 name NVIDIA RTX\ngpu 0 total 1073741824\ngpu 0 base 104857600\ngpu 0 reserved 20971520\n";

class DriverSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jipsa-driver-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    dir_ = name;
    world_ = dir_ + "/world";
    setenv("JIPSA_FAKE_NVML", world_.c_str(), 1);
    auto made = Loop::make();
    ASSERT_TRUE(made);
    loop_ = std::move(*made);
    open(JIPSA_LIB "/libfake_nvml.so");
  }
  void TearDown() override {
    source_.reset();
    std::filesystem::remove_all(dir_);
  }

  void open(const std::string& library, const std::string& helper = JIPSA_BIN "/jipsa-nvml") {
    source_.reset();
    source_ = std::make_unique<DriverSource>(*loop_, helper, library);
  }
  void write(const std::string& text) {
    std::ofstream(world_ + ".new") << text;
    std::filesystem::rename(world_ + ".new", world_);
  }
  DriverReading read(bool processes = true, std::chrono::milliseconds deadline = 20s) {
    std::optional<DriverReading> got;
    source_->read(processes, deadline, [&](DriverReading reading) {
      got = std::move(reading);
      loop_->stop();
    });
    EXPECT_FALSE(got) << "answered before read() returned";
    loop_->run();
    return got.value_or(DriverReading{});
  }
  DriverReading read_until(State state) {  // over restarts of the helper and their back-off
    DriverReading reading;
    for (int i = 0; i < 200; ++i) {
      reading = read();
      if (reading.state == state) return reading;
      usleep(100'000);
    }
    return reading;
  }
  // Children of this process that run jipsa-nvml.
  static int helpers() {
    int count = 0;
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    for (int pid = 0; children >> pid;) {
      std::string name;
      std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
      count += name == "jipsa-nvml";
    }
    return count;
  }

  std::string dir_, world_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<DriverSource> source_;
};

TEST_F(DriverSourceTest, ReadsCards) {
  write(std::string(card) +
        "driver 580.1\ngpu 1 total 2147483648\ngpu 0 process 77 4096 compute,graphics,mps\ngpu 0 process 78 none graphics\n");
  const std::int64_t before = SystemClock().steady_ns();
  const DriverReading reading = read();
  ASSERT_EQ(reading.state, State::ok) << reading.trouble;
  EXPECT_EQ(reading.driver_version, "580.1");
  EXPECT_GE(reading.steady_ns, before);
  EXPECT_LE(reading.steady_ns, SystemClock().steady_ns());
  ASSERT_EQ(reading.gpus.size(), 2u);
  const GpuReading& gpu = reading.gpus[0];
  EXPECT_EQ(gpu.uuid, "GPU-A");
  EXPECT_EQ(gpu.name, "NVIDIA RTX");
  EXPECT_EQ(gpu.total, mib(1024));
  EXPECT_EQ(gpu.used, mib(100));
  EXPECT_EQ(gpu.reserved, mib(20));
  EXPECT_EQ(gpu.free, mib(904));
  EXPECT_EQ(gpu.processes, (std::vector<DeviceProcess>{{77, Bytes{4096}}, {78, std::nullopt}}));
  EXPECT_EQ(gpu.trouble, "");
  EXPECT_EQ(reading.gpus[1].index, 1u);
  EXPECT_TRUE(reading.gpus[1].processes && reading.gpus[1].processes->empty());
}

TEST_F(DriverSourceTest, TotalsWithoutProcessesAndChangesAreSeen) {
  write(card);
  const DriverReading first = read(false);
  ASSERT_EQ(first.gpus.size(), 1u);
  EXPECT_FALSE(first.gpus[0].processes);
  EXPECT_EQ(first.gpus[0].trouble, "");
  write(std::string(card) + "gpu 0 base 209715200\n");
  EXPECT_EQ(read(false).gpus.at(0).used, mib(200));
}

TEST_F(DriverSourceTest, HoldersHoldAsLongAsTheyLive) {
  std::filesystem::create_directory(dir_ + "/holders");
  std::ofstream(dir_ + "/holders/" + std::to_string(getpid())) << "0 52428800\n";
  std::ofstream(dir_ + "/holders/4194305") << "0 52428800\n";  // above any pid
  write(std::string(card) + "holder_dir " + dir_ + "/holders\n");
  const DriverReading reading = read();
  EXPECT_EQ(reading.gpus.at(0).used, mib(150));
  EXPECT_EQ(reading.gpus[0].processes, (std::vector<DeviceProcess>{{getpid(), mib(50)}}));
}

TEST_F(DriverSourceTest, ManyRowsGrowTheBuffer) {
  std::string text = card;
  for (int pid = 1; pid <= 200; ++pid) text += "gpu 0 process " + std::to_string(pid) + " 100 compute\n";
  write(text);
  EXPECT_EQ(read().gpus.at(0).processes.value().size(), 200u);
}

TEST_F(DriverSourceTest, EveryVersionOfTheCallsGivesTheSame) {
  for (const char* lie : {"row_size 32\n", "symbols v2\n", "symbols v1\n"}) {
    open(JIPSA_LIB "/libfake_nvml.so");
    write(std::string(card) + "gpu 0 process 70 4096\ngpu 0 process 71 8192\n" + lie);
    EXPECT_EQ(read().gpus.at(0).processes, (std::vector<DeviceProcess>{{70, Bytes{4096}}, {71, Bytes{8192}}})) << lie;
  }
}

TEST_F(DriverSourceTest, OlderMemoryCallKeepsTheReserveInUse) {
  write(std::string(card) + "gpu 0 v2 no\n");
  GpuReading gpu = read().gpus.at(0);
  EXPECT_EQ(gpu.used, mib(120));
  EXPECT_FALSE(gpu.reserved);
  write(std::string(card) + "return memory_v2 25\n");
  EXPECT_EQ(read().gpus.at(0).used, mib(120));
}

TEST_F(DriverSourceTest, UsedThatCountsTheReserve) {
  write(std::string(card) + "gpu 0 used_counts_reserved yes\n");
  EXPECT_EQ(read().gpus.at(0).used, mib(100));
}

TEST_F(DriverSourceTest, RowsThatMakeNoSenseAreRefusedAloud) {
  write(std::string(card) + "gpu 0 process 70 4294967296\n");  // more than the card has
  GpuReading gpu = read().gpus.at(0);
  EXPECT_FALSE(gpu.processes);
  EXPECT_EQ(gpu.trouble, "process_layout");
  EXPECT_EQ(gpu.used, mib(100));
}

TEST_F(DriverSourceTest, CardTroublesAreNamedAndNothingIsKnown) {
  const std::pair<const char*, const char*> cases[] = {{"return memory_v2 999 0\n", "error_999"},
                                                       {"return memory_v2 4 0\n", "no_permission"},
                                                       {"return memory_v2 3 0\nreturn memory 3 0\n", "not_supported"},
                                                       {"return memory_v2 16 0\n", "reset_required"},
                                                       {"gpu 0 lost 15\n", "lost"}};
  for (const auto& [lie, trouble] : cases) {
    open(JIPSA_LIB "/libfake_nvml.so");
    write(std::string(card) + "gpu 1 total 1073741824\n" + lie);
    const DriverReading reading = read();
    ASSERT_EQ(reading.state, State::ok) << lie;
    EXPECT_EQ(reading.gpus.at(0).trouble, trouble);
    EXPECT_FALSE(reading.gpus[0].used || reading.gpus[0].total || reading.gpus[0].processes) << lie;
    EXPECT_EQ(reading.gpus.at(1).used, Bytes{0}) << "the other card is well";
  }
}

TEST_F(DriverSourceTest, ListTroublesLeaveTotals) {
  const std::pair<const char*, const char*> cases[] = {
      {"return compute 4\n", "processes_no_permission"},
      {"return graphics 999\n", "processes_error_999"},
      {"return compute 3\nreturn graphics 3\nreturn mps 3\n", "processes_not_supported"}};
  for (const auto& [lie, trouble] : cases) {
    write(std::string(card) + lie);
    const GpuReading gpu = read().gpus.at(0);
    EXPECT_EQ(gpu.trouble, trouble);
    EXPECT_FALSE(gpu.processes);
    EXPECT_EQ(gpu.used, mib(100));
  }
  write(std::string(card) + "gpu 0 process 5 4096\nreturn graphics 3\nreturn mps 13\n");  // a card without graphics is well
  EXPECT_EQ(read().gpus.at(0).processes, (std::vector<DeviceProcess>{{5, Bytes{4096}}}));
}

TEST_F(DriverSourceTest, LostCardKeepsItsNameAndComesBack) {
  write(card);
  ASSERT_EQ(read().gpus.at(0).trouble, "");
  write(std::string(card) + "gpu 0 lost 15\n");
  const GpuReading lost = read().gpus.at(0);
  EXPECT_EQ(lost.trouble, "lost");
  EXPECT_EQ(lost.uuid, "GPU-A");
  write(card);
  DriverReading reading;
  for (int i = 0; i < 300; ++i) {
    reading = read();
    if (reading.gpus.at(0).trouble.empty()) break;
    usleep(100'000);
  }
  EXPECT_EQ(reading.gpus.at(0).used, mib(100));
}

TEST_F(DriverSourceTest, DriverThatRefusesToStart) {
  write("return init 9\n");
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::failed);
  EXPECT_EQ(reading.trouble, "nvmlInit_v2: 9 (driver_not_loaded)");
  write(card);
  EXPECT_EQ(read_until(State::ok).gpus.at(0).used, mib(100));
}

TEST_F(DriverSourceTest, DriverUnloadedUnderUs) {
  write(card);
  ASSERT_EQ(read().state, State::ok);
  write(std::string(card) + "return memory_v2 9\n");
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::failed);
  EXPECT_EQ(reading.trouble, "nvmlDeviceGetMemoryInfo_v2: 9 (driver_not_loaded)");
  EXPECT_TRUE(reading.gpus.empty());
  write(card);
  EXPECT_EQ(read_until(State::ok).gpus.at(0).used, mib(100));
}

TEST_F(DriverSourceTest, DriverUpdatedUnderUs) {
  write(std::string(card) + "return memory_v2 18\n");
  EXPECT_EQ(read().trouble, "nvmlDeviceGetMemoryInfo_v2: 18 (version_mismatch)");
  EXPECT_EQ(read().state, State::failed) << "its helper ended; its words are still the reason";
  write(card);
  EXPECT_EQ(read_until(State::ok).gpus.at(0).used, mib(100));
}

TEST_F(DriverSourceTest, NoCards) {
  write("driver 1\n");
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::ok);
  EXPECT_TRUE(reading.gpus.empty());
}

TEST_F(DriverSourceTest, NoLibraryIsNormal) {
  open(dir_ + "/no-such-library.so");
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::none);
  EXPECT_NE(reading.trouble.find("no-such-library.so"), std::string::npos);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read().state, State::none);
  EXPECT_EQ(helpers(), 0) << "nothing is started again soon";
}

TEST_F(DriverSourceTest, FileThatIsNoLibrary) {
  std::ofstream(dir_ + "/text.so") << "text";
  open(dir_ + "/text.so");
  EXPECT_EQ(read().state, State::failed);
  open("libm.so.6");  // a library, but not this one
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::failed);
  EXPECT_NE(reading.trouble.find("not an NVML library"), std::string::npos) << reading.trouble;
}

TEST_F(DriverSourceTest, NoHelperProgram) {
  open("", dir_ + "/no-such-helper");
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::failed);
  EXPECT_NE(reading.trouble.find("no-such-helper"), std::string::npos);
}

TEST_F(DriverSourceTest, HangCostsFreshnessOnly) {
  write(card);
  ASSERT_EQ(read().state, State::ok);
  write(std::string(card) + "hang memory_v2 forever\n");
  bool turned = false;
  loop_->after(50ms, [&] { turned = true; });
  const DriverReading reading = read(true, 300ms);
  EXPECT_EQ(reading.state, State::silent);
  EXPECT_NE(reading.trouble.find("300 ms"), std::string::npos) << reading.trouble;
  EXPECT_TRUE(turned) << "the loop went on";
  write(card);
  EXPECT_EQ(read_until(State::ok).gpus.at(0).used, mib(100));
  EXPECT_EQ(helpers(), 1) << "the one that hung is gone";
}

TEST_F(DriverSourceTest, CrashIsToldAndGotOver) {
  write(std::string(card) + "crash memory_v2\n");
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::silent);
  EXPECT_EQ(reading.trouble, "jipsa-nvml ended: signal 11");
  EXPECT_EQ(read().state, State::silent) << "not started again at once";
  EXPECT_EQ(helpers(), 0);
  write(card);
  EXPECT_EQ(read_until(State::ok).gpus.at(0).used, mib(100));
}

TEST_F(DriverSourceTest, SlowStartIsNotKilled) {
  write(std::string(card) + "hang init 1\n");
  EXPECT_EQ(read(true, 100ms).state, State::silent);
  const DriverReading reading = read(true, 20s);
  EXPECT_EQ(reading.state, State::ok) << reading.trouble;
}

TEST_F(DriverSourceTest, HelperThatTalksNonsense) {
  const std::string helper = dir_ + "/helper";
  std::ofstream(helper) << "#!/bin/sh\nread line\necho what?\nread line\n";
  std::filesystem::permissions(helper, std::filesystem::perms::owner_all);
  open("", helper);
  const DriverReading reading = read();
  EXPECT_EQ(reading.state, State::silent);
  EXPECT_NE(reading.trouble.find("what?"), std::string::npos) << reading.trouble;
}

TEST_F(DriverSourceTest, ReadsShareAnAnswer) {
  write(card);
  int answers = 0;
  for (int i = 0; i < 3; ++i) {
    source_->read(true, 20s, [&](DriverReading reading) {
      EXPECT_EQ(reading.state, State::ok);
      if (++answers == 3) loop_->stop();
    });
  }
  loop_->run();
  EXPECT_EQ(answers, 3);
}

TEST_F(DriverSourceTest, EndsItsHelperAndDropsItsReads) {
  write(std::string(card) + "hang memory_v2 forever\n");
  bool answered = false;
  source_->read(true, 30s, [&](DriverReading) { answered = true; });
  loop_->after(200ms, [&] {
    EXPECT_EQ(helpers(), 1);
    source_.reset();
    EXPECT_EQ(helpers(), 0);
    loop_->after(100ms, [&] { loop_->stop(); });
  });
  loop_->run();
  EXPECT_FALSE(answered);
}

TEST_F(DriverSourceTest, CallbackMayDestroyTheSource) {
  write(card);
  source_->read(true, 20s, [&](DriverReading) {
    source_.reset();
    loop_->stop();
  });
  loop_->run();
  EXPECT_FALSE(source_);
}

}  // namespace
}  // namespace jipsa
