// The routes of docs/api.md: from requests to calls, from what is known to JSON. Decides nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/result.h"
#include "daemon/desk.h"
#include "daemon/events.h"
#include "daemon/http_server.h"
#include "daemon/job_table.h"
#include "daemon/looks.h"
#include "daemon/pools.h"
#include "daemon/record_clock.h"
#include "daemon/recorder.h"
#include "daemon/tenants_watch.h"
#include "daemon/turn.h"
#include "store/store.h"

namespace jipsa {

struct ApiInfo {
  std::string version, state_dir;
  std::int64_t started_ms = 0;
};

class Api {
 public:
  struct Parts {
    Loop& loop;
    RecordClock& clock;
    Turn& turn;
    Desk& desk;
    JobTable& table;
    Store& store;
    Pools& pools;
    TenantsWatch& tenants;
    Looks& looks;
    Events& events;
    Recorder& recorder;
    const Config& config;
  };
  Api(Parts parts, ApiInfo info) : p_(parts), info_(std::move(info)) {}
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  void set_server(HttpServer& server) { server_ = &server; }
  std::optional<HttpReply> handle(const HttpAsk& ask, HttpServer::ExchangeId id);
  void gone(HttpServer::ExchangeId id);
  void job_ended(JobId id);

 private:
  using Path = std::vector<std::string>;
  using Answer = Result<std::string>;
  using ExchangeId = HttpServer::ExchangeId;
  std::optional<HttpReply> jobs(const HttpAsk& ask, const Path& path, ExchangeId id);

  // api_jobs.cc
  std::optional<HttpReply> add_job(const HttpAsk& ask, ExchangeId id);
  HttpReply submit(JobRecord record);
  Answer list_jobs(const HttpAsk& ask);
  Answer one_job(JobId id);
  Answer cancel_job(JobId id);
  std::optional<HttpReply> wait_for_job(const HttpAsk& ask, JobId job, ExchangeId id);
  Answer set_paused(bool paused);
  void write_job(JsonText& json, const JobRecord& record);
  void write_waiting_briefly(JsonText& json, const JobRecord& record);
  void write_reason(JsonText& json, const JobRecord& record);

  // api_memory.cc
  Answer whose();
  void write_pools(JsonText& json);
  Answer tenants();
  Answer ask_release(const std::string& tenant);
  Answer releases(const HttpAsk& ask);

  // api_daemon.cc
  Answer status();
  Answer doctor();
  std::optional<HttpReply> events(const HttpAsk& ask, ExchangeId id);
  void keep_streams_alive();

  Parts p_;
  ApiInfo info_;
  HttpServer* server_ = nullptr;
  std::map<JobId, std::map<ExchangeId, Loop::TimerId>> waiters_;
  std::set<ExchangeId> adding_;  // exchanges whose job waits for a fresh look
  Loop::TimerId keep_alive_ = 0;
};

HttpReply error_reply(const Error& error);

// A number in the query: `fallback` if the key is not there.
Result<std::int64_t> query_number(const HttpAsk& ask, const std::string& key, std::int64_t fallback, std::int64_t most);

// What POST /v1/jobs says, checked as far as that goes without knowing the other jobs.
Result<JobRecord> parse_job(const std::string& body, const Config& config);

}  // namespace jipsa
