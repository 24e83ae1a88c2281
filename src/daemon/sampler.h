// Reads /proc in a thread of its own and hands over finished results: a look at some hundred processes costs milliseconds, and
// smaps of a large server much more.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/model.h"
#include "machine/loop.h"
#include "machine/sense.h"

namespace jipsa {

struct ScanAsk {
  bool processes = false;  // else host memory alone
  struct Server {
    std::string id;
    std::optional<Pid> pid;             // named by the owner
    std::optional<std::uint16_t> port;  // where it listens on this machine
    std::optional<Pid> known;           // found before
    std::int64_t known_start = 0;
    bool find = false;   // look the listener up even if the known one lives
    bool arena = false;  // look up how much of its memory lies in the C allocator
  };
  std::vector<Server> servers;
  std::map<JobId, Pid> shims;  // of the running jobs
  std::vector<Pid> listed;     // by the driver
};

struct ServerSeen {
  std::optional<Pid> pid;
  std::int64_t start = 0;
  std::string trouble;
};

struct Scan {
  HostMemory memory;
  std::optional<std::vector<Process>> processes;
  std::map<std::string, ServerSeen> servers;  // with `processes`
  std::map<std::string, Bytes> arenas;        // by server, where it was asked for and could be read
};

class Sampler {
 public:
  explicit Sampler(Loop& loop);
  ~Sampler();  // waits for the scan under way
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // One at a time; `done` runs on the loop's thread.
  void scan(ScanAsk ask, std::function<void(Scan)> done);

 private:
  void work();

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<ScanAsk> ask_;
  std::function<void(Scan)> done_;
  bool stop_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::thread thread_;
};

Scan scan_now(const ScanAsk& ask);

}  // namespace jipsa
