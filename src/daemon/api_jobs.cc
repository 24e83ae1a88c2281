// Jobs: adding, listing, waiting for, calling off.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "daemon/api.h"
#include "daemon/log.h"

namespace jipsa {
namespace {

constexpr std::int64_t kLongestWait = 3600;

Result<std::vector<JobId>> parse_ids(const std::string& text) {
  std::vector<JobId> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    JobId id = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
    if (error != std::errc{} || stop != text.data() + end || id <= 0) {
      return fail(Code::bad_input, fmt::format("ids={}: give job ids separated by commas, such as 1,2", text));
    }
    ids.push_back(id);
    at = end + 1;
  }
  return ids;
}

}  // namespace

void Api::write_reason(JsonText& json, const JobRecord& record) {
  const bool waits = record.state == JobState::waiting || record.state == JobState::held;
  const auto reason = waits ? p_.turn.engine().reason(record.job.id) : std::nullopt;
  if (!reason) {
    json.null();
    return;
  }
  json.open_object().key("code").text(name(reason->code)).key("pool").text_or_null(reason->pool);
  json.key("short").bytes(reason->short_by).key("owner").text_or_null(reason->owner ? to_string(*reason->owner) : "");
  json.key("need").bytes(reason->need).key("free").bytes(reason->free).key("held").bytes(reason->held);
  json.key("idle_since").time(p_.clock.to_wall_ms(reason->idle_since)).key("left_by").number(reason->left_by);
  json.key("asked_at").time(p_.clock.to_wall_ms(reason->asked_at)).close_object();
}

// Most of a long list are jobs that wait: what they can't have yet is written at one go.
void Api::write_job(JsonText& json, const JobRecord& record) {
  json.open_object().key("id").number(record.job.id).key("name").text_or_null(record.job.name);
  json.key("state").text(name(record.state));
  if (is_final(record.state)) {
    json.key("exit_code").number(record.exit_code).key("signal").number(record.signal).key("note").text_or_null(record.note);
  } else {  // until a job that was called off has ended, its note is an intent
    json.members(R"("exit_code":null,"signal":null,"note":null)");
  }
  json.key("needs").open_object();
  for (const Need& need : record.job.needs) json.key(need.pool).bytes(need.bytes);
  json.close_object().key("pool").text_or_null(record.gpu_pool).key("priority").number(record.job.priority);
  json.key("tenant").text_or_null(record.job.tenant).key("bundle").text_or_null(record.job.bundle).key("after").open_array();
  for (const JobId before : record.job.after) json.number(before);
  json.close_array().key("command").open_array();
  for (const std::string& argument : record.command) json.text(argument);
  json.close_array().key("dir").text_or_null(record.dir).key("launcher").text_or_null(record.launcher);
  json.key("output").text(p_.desk.output_of(record.job.id)).key("submitted_at").time(record.submitted_ms);
  const bool waits = record.state == JobState::waiting || record.state == JobState::held;
  if (waits) {
    json.members(R"("pid":null,"started_at":null,"ended_at":null)");
  } else {
    const bool runs = record.state == JobState::running && record.pid;
    json.key("pid").number(runs ? std::optional<std::int64_t>(*record.pid) : std::nullopt);
    json.key("started_at").time(record.started_ms).key("ended_at").time(record.ended_ms);
  }
  json.key("reason");
  write_reason(json, record);
  json.close_object();
}

// A job with needs is handed in once the machine has just been looked at: an idle daemon looks seldom, and what was free two
// seconds ago is no ground to start on. Until then nothing is promised, and a caller who goes away takes the job along.
std::optional<HttpReply> Api::add_job(const HttpAsk& ask, ExchangeId id) {
  auto record = parse_job(ask.body, p_.config);
  if (!record) return error_reply(record.error());
  if (record->job.needs.empty() || p_.looks.fresh()) return submit(std::move(*record));
  adding_.insert(id);
  p_.looks.when_fresh([this, id, waiting = std::make_shared<JobRecord>(std::move(*record))] {
    if (adding_.erase(id) != 0) server_->answer(id, submit(std::move(*waiting)));
  });
  return std::nullopt;
}

HttpReply Api::submit(JobRecord record) {
  const auto id = p_.desk.submit(std::move(record));
  if (!id) return error_reply(id.error());
  auto answer = one_job(*id);
  return answer ? HttpReply{200, std::move(*answer)} : error_reply(answer.error());
}

Api::Answer Api::one_job(JobId id) {
  JsonText json;
  if (const JobRecord* known = p_.table.find(id)) {
    write_job(json, *known);
    return json.take();
  }
  auto stored = p_.table.fetch(id);
  if (!stored) return tl::unexpected(stored.error());
  if (!*stored) return fail(Code::not_found, fmt::format("no job {}", id));
  write_job(json, **stored);
  return json.take();
}

// What a table shows of a job that waits, and nothing that is null: a long list is mostly these.
void Api::write_waiting_briefly(JsonText& json, const JobRecord& record) {
  json.open_object().key("id").number(record.job.id);
  if (!record.job.name.empty()) json.key("name").text(record.job.name);
  json.key("state").text(name(record.state)).key("needs").open_object();
  for (const Need& need : record.job.needs) json.key(need.pool).bytes(need.bytes);
  json.close_object();
  if (record.job.priority != 0) json.key("priority").number(record.job.priority);
  if (!record.job.tenant.empty()) json.key("tenant").text(record.job.tenant);
  if (!record.launcher.empty()) json.key("launcher").text(record.launcher);
  json.key("command").open_array();
  for (const std::string& argument : record.command) json.text(argument);
  json.close_array().key("submitted_at").time(record.submitted_ms);
  if (const auto reason = p_.turn.engine().reason(record.job.id)) {
    json.key("reason").open_object().key("code").text(name(reason->code));
    if (!reason->pool.empty()) json.key("pool").text(reason->pool);
    if (reason->short_by) json.key("short").bytes(reason->short_by);
    if (reason->owner) json.key("owner").text(to_string(*reason->owner));
    if (reason->need) json.key("need").bytes(reason->need);
    if (reason->free) json.key("free").bytes(reason->free);
    if (reason->held) json.key("held").bytes(reason->held);
    if (reason->idle_since) json.key("idle_since").time(p_.clock.to_wall_ms(reason->idle_since));
    if (reason->left_by) json.key("left_by").number(*reason->left_by);
    if (reason->asked_at) json.key("asked_at").time(p_.clock.to_wall_ms(reason->asked_at));
    json.close_object();
  }
  json.close_object();
}

Api::Answer Api::list_jobs(const HttpAsk& ask) {
  const auto finished = query_number(ask, "finished", 20, 1000000);
  const auto limit =
      query_number(ask, "limit", std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max());
  if (!finished) return tl::unexpected(finished.error());
  if (!limit) return tl::unexpected(limit.error());
  const bool brief = ask.query.count("brief") != 0;
  JsonText json;
  json.reserve(p_.table.live().size() * (brief ? 320 : 640) + 16384);
  json.open_object().key("paused").truth(p_.turn.engine().paused()).key("jobs").open_array();
  if (const auto ids = ask.query.find("ids"); ids != ask.query.end()) {
    const auto wanted = parse_ids(ids->second);
    if (!wanted) return tl::unexpected(wanted.error());
    for (const JobId id : *wanted) {
      auto one = one_job(id);
      if (!one && one.error().code != Code::not_found) return one;
      if (one) json.raw(*one);
    }
  } else {
    std::int64_t left = *limit;
    for (const JobRecord* record : p_.table.in_queue_order()) {
      if (left-- <= 0) break;
      if (brief && (record->state == JobState::waiting || record->state == JobState::held)) {
        write_waiting_briefly(json, *record);
      } else {
        write_job(json, *record);
      }
    }
    const auto ended = p_.table.newest_finished(static_cast<std::size_t>(*finished));
    if (!ended) return tl::unexpected(ended.error());
    for (const JobRecord& record : *ended) write_job(json, record);
  }
  json.close_array().key("waiting").number(static_cast<std::int64_t>(p_.table.count(JobState::waiting, JobState::held)));
  json.key("pools");
  write_pools(json);
  return json.close_object().take();
}

Api::Answer Api::cancel_job(JobId id) {
  if (auto cancelled = p_.desk.cancel(id); !cancelled) return tl::unexpected(cancelled.error());
  return one_job(id);
}

std::optional<HttpReply> Api::wait_for_job(const HttpAsk& ask, JobId job, ExchangeId id) {
  const auto seconds = query_number(ask, "wait", 0, kLongestWait);
  if (!seconds) return error_reply(seconds.error());
  const JobRecord* known = p_.table.find(job);
  if (known == nullptr || is_final(known->state) || *seconds == 0) {
    auto answer = one_job(job);
    return answer ? HttpReply{200, std::move(*answer)} : error_reply(answer.error());
  }
  waiters_[job][id] = p_.loop.after(std::chrono::seconds(*seconds), [this, job, id] {
    gone(id);
    auto answer = one_job(job);
    server_->answer(id, answer ? HttpReply{200, std::move(*answer)} : error_reply(answer.error()));
  });
  return std::nullopt;
}

void Api::job_ended(JobId id) {
  auto node = waiters_.extract(id);
  if (node.empty()) return;
  const auto answer = one_job(id);
  for (const auto& [exchange, timer] : node.mapped()) {
    p_.loop.cancel(timer);
    server_->answer(exchange, answer ? HttpReply{200, *answer} : error_reply(answer.error()));
  }
}

void Api::gone(ExchangeId id) {
  p_.events.unfollow(id);
  adding_.erase(id);
  for (auto it = waiters_.begin(); it != waiters_.end(); ++it) {
    const auto waiting = it->second.find(id);
    if (waiting == it->second.end()) continue;
    p_.loop.cancel(waiting->second);
    it->second.erase(waiting);
    if (it->second.empty()) waiters_.erase(it);
    return;
  }
}

Api::Answer Api::set_paused(bool paused) {
  if (auto saved = p_.store.put("paused", paused ? "1" : "0"); !saved) return tl::unexpected(saved.error());
  if (paused != p_.turn.engine().paused()) {
    log_line(paused ? "queue.paused" : "queue.resumed");
    p_.events.publish(paused ? "pause" : "resume", [](JsonText&) {});
    p_.turn.feed(paused ? Event(Pause{}) : Event(Resume{}));
  }
  return fmt::format(R"({{"paused":{}}})", paused);
}

}  // namespace jipsa
