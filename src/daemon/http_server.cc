#include "daemon/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "daemon/log.h"

namespace jipsa {
namespace {

constexpr std::size_t kMaxBody = 16U << 20U;
constexpr std::size_t kMaxUnsent = 1U << 20U;  // of a stream whose reader is slow
constexpr unsigned kMaxConnections = 512;
constexpr unsigned kIdleSeconds = 30;  // a connection that says nothing; one that is kept waiting does not count

struct Exchange {
  HttpServer::ExchangeId id = 0;
  MHD_Connection* connection = nullptr;
  HttpAsk ask;
  std::optional<HttpReply> reply;
  std::string unsent;
  bool asked = false, too_large = false, streaming = false, suspended = false, hung_up = false;
};

MHD_Result collect_query(void* cls, MHD_ValueKind, const char* key, const char* value) {
  (*static_cast<std::map<std::string, std::string>*>(cls))[key] = value != nullptr ? value : "";
  return MHD_YES;
}

// The reply stays where it is until the exchange is completed: a long list is not copied.
MHD_Result queue_reply(MHD_Connection* connection, HttpReply& reply) {
  MHD_Response* response = MHD_create_response_from_buffer(reply.body.size(), reply.body.data(), MHD_RESPMEM_PERSISTENT);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
  const MHD_Result result = MHD_queue_response(connection, static_cast<unsigned>(reply.status), response);
  MHD_destroy_response(response);
  return result;
}

HttpReply too_large_reply() {
  return {413,
          fmt::format(R"({{"error":{{"code":"bad_input","what":"the request's body is larger than {} bytes"}}}})", kMaxBody)};
}

}  // namespace

struct HttpServer::Impl {
  Loop& loop;
  Handler handler;
  MHD_Daemon* daemon = nullptr;
  int epoll_fd = -1;
  std::map<ExchangeId, Exchange*> exchanges;  // those that libmicrohttpd keeps for us
  ExchangeId last_id = 0;
  Loop::TimerId timer = 0;
  bool running = false, pump_posted = false;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);

  Impl(Loop& l, Handler h) : loop(l), handler(std::move(h)) {}

  // ---- turning libmicrohttpd's wheel ----

  void pump() {
    if (running || daemon == nullptr) return;
    running = true;
    MHD_run(daemon);
    running = false;
    schedule();
  }

  void schedule() {
    loop.cancel(timer);
    timer = 0;
    MHD_UNSIGNED_LONG_LONG ms = 0;
    if (MHD_get_timeout(daemon, &ms) != MHD_YES) return;
    if (ms == 0) return post_pump();
    timer = loop.after(std::chrono::milliseconds(ms), [this] {
      timer = 0;
      pump();
    });
  }

  void post_pump() {
    if (pump_posted) return;
    pump_posted = true;
    loop.post([this, guard = std::weak_ptr<bool>(alive)] {
      if (guard.expired()) return;
      pump_posted = false;
      pump();
    });
  }

  // ---- an exchange that waits ----

  Exchange* find(ExchangeId id) {
    const auto it = exchanges.find(id);
    return it == exchanges.end() ? nullptr : it->second;
  }

  static int fd_of(const Exchange& e) {
    const MHD_ConnectionInfo* info = MHD_get_connection_info(e.connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != nullptr ? info->connect_fd : -1;
  }

  // libmicrohttpd does not look at a suspended connection at all. So we do, or a client that has gone would be kept for ever.
  void suspend(Exchange& e) {
    e.suspended = true;
    MHD_suspend_connection(e.connection);
    const ExchangeId id = e.id;
    if (auto watched = loop.watch(fd_of(e), 0, [this, id](std::uint32_t) { hang_up(id); }); !watched) {
      log_line("http.unwatched", {{"why", watched.error().what}});
    }
  }

  void resume(Exchange& e) {
    if (!e.suspended) return;
    e.suspended = false;
    loop.unwatch(fd_of(e));
    MHD_resume_connection(e.connection);
    post_pump();
  }

  void hang_up(ExchangeId id) {
    Exchange* e = find(id);
    if (e == nullptr) return;
    e->hung_up = true;
    if (!e->reply) e->reply = HttpReply{500, "{}"};  // nobody reads it; libmicrohttpd finds the connection closed
    resume(*e);
  }

  // ---- libmicrohttpd's callbacks ----

  std::optional<HttpReply> ask(Exchange& e) {
    try {
      return handler.ask(e.ask, e.id);
    } catch (const std::exception& error) {  // none is expected; it must not unwind through C
      log_line("http.exception", {{"path", e.ask.path}, {"what", error.what()}});
      return HttpReply{500, R"({"error":{"code":"internal","what":"a fault inside the daemon; its log names it"}})"};
    }
  }

  MHD_Result access(MHD_Connection* connection, const char* url, const char* method, const char* data, std::size_t* size,
                    void** slot) {
    if (*slot == nullptr) return begin(connection, url, method, slot);
    Exchange& e = *static_cast<Exchange*>(*slot);
    if (*size > 0) {
      if (e.ask.body.size() + *size > kMaxBody) {
        e.too_large = true;
        e.ask.body.clear();
      } else if (!e.too_large) {
        e.ask.body.append(data, *size);
      }
      *size = 0;
      return MHD_YES;
    }
    if (e.too_large) e.reply = too_large_reply();
    if (!e.reply && !e.asked) {
      e.asked = true;
      if (auto now = ask(e)) e.reply = std::move(now);
      e.ask.body = {};
    }
    if (e.streaming) return queue_stream(e);
    if (e.reply) return queue_reply(connection, *e.reply);
    suspend(e);
    return MHD_YES;
  }

  MHD_Result begin(MHD_Connection* connection, const char* url, const char* method, void** slot) {
    auto* e = new Exchange;  // given back in completed()
    e->id = ++last_id;
    e->connection = connection;
    e->ask.method = method;
    e->ask.path = url;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, collect_query, &e->ask.query);
    exchanges[e->id] = e;
    *slot = e;
    const char* last = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
    if (last != nullptr) e->ask.last_event_id = last;
    const char* length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length != nullptr && std::strtoull(length, nullptr, 10) > kMaxBody) {
      e->reply = too_large_reply();
      return queue_reply(connection, *e->reply);
    }
    return MHD_YES;
  }

  void completed(Exchange* e) {
    exchanges.erase(e->id);
    if (e->suspended) loop.unwatch(fd_of(*e));
    if (e->asked && (e->streaming || e->hung_up)) handler.gone(e->id);
    delete e;
  }

  MHD_Result queue_stream(Exchange& e) {
    MHD_Response* response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, &e, nullptr);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    const MHD_Result result = MHD_queue_response(e.connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
  }

  static ssize_t read_stream(void* cls, std::uint64_t, char* buffer, std::size_t max) {
    Exchange& e = *static_cast<Exchange*>(cls);
    if (e.hung_up) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (e.unsent.empty()) {
      owner(e).suspend(e);
      return 0;
    }
    const std::size_t n = std::min(max, e.unsent.size());
    std::memcpy(buffer, e.unsent.data(), n);
    e.unsent.erase(0, n);
    return static_cast<ssize_t>(n);
  }

  static Impl& owner(const Exchange& e) {
    const MHD_ConnectionInfo* info = MHD_get_connection_info(e.connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return *static_cast<Impl*>(info->socket_context);
  }

  static MHD_Result on_access(void* cls, MHD_Connection* connection, const char* url, const char* method, const char*,
                              const char* data, std::size_t* size, void** slot) {
    return static_cast<Impl*>(cls)->access(connection, url, method, data, size, slot);
  }
  static void on_completed(void* cls, MHD_Connection*, void** slot, MHD_RequestTerminationCode) {
    if (*slot != nullptr) static_cast<Impl*>(cls)->completed(static_cast<Exchange*>(*slot));
    *slot = nullptr;
  }
  static void on_connection(void* cls, MHD_Connection*, void** context, MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED) *context = cls;
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::make(Loop& loop, int listen_fd, Handler handler) {
  auto impl = std::make_unique<Impl>(loop, std::move(handler));
  impl->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, Impl::on_access, impl.get(), MHD_OPTION_LISTEN_SOCKET,
      listen_fd, MHD_OPTION_NOTIFY_COMPLETED, Impl::on_completed, impl.get(), MHD_OPTION_NOTIFY_CONNECTION, Impl::on_connection,
      impl.get(), MHD_OPTION_CONNECTION_LIMIT, kMaxConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      static_cast<std::size_t>(64U << 10U), MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_END);
  if (impl->daemon == nullptr) {
    close(listen_fd);
    return fail(Code::internal, "the HTTP server does not start");
  }
  const MHD_DaemonInfo* info = MHD_get_daemon_info(impl->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  if (info == nullptr) return fail(Code::internal, "the HTTP server has no epoll descriptor");
  impl->epoll_fd = info->epoll_fd;
  Impl* raw = impl.get();
  constexpr std::uint32_t readable = 1;  // EPOLLIN
  if (auto watched = loop.watch(impl->epoll_fd, readable, [raw](std::uint32_t) { raw->pump(); }); !watched) {
    return tl::unexpected(watched.error());
  }
  raw->schedule();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::~HttpServer() {
  impl_->loop.unwatch(impl_->epoll_fd);
  impl_->loop.cancel(impl_->timer);
  impl_->handler.gone = [](ExchangeId) {};
  // libmicrohttpd aborts when it is stopped with suspended connections.
  for (auto& [id, exchange] : std::map<ExchangeId, Exchange*>(impl_->exchanges)) {
    exchange->hung_up = true;
    if (!exchange->reply) exchange->reply = HttpReply{503, R"({"error":{"code":"unreachable","what":"the daemon is stopping"}})"};
    impl_->resume(*exchange);
  }
  impl_->running = true;
  MHD_run(impl_->daemon);
  MHD_stop_daemon(impl_->daemon);
}

void HttpServer::answer(ExchangeId id, HttpReply reply) {
  Exchange* e = impl_->find(id);
  if (e == nullptr) return;
  e->reply = std::move(reply);
  impl_->resume(*e);
}

void HttpServer::stream(ExchangeId id, std::string first_chunk) {
  Exchange* e = impl_->find(id);
  if (e == nullptr) return;
  e->streaming = true;
  e->unsent = std::move(first_chunk);
  impl_->resume(*e);
}

void HttpServer::send(ExchangeId id, std::string_view chunk) {
  Exchange* e = impl_->find(id);
  if (e == nullptr || e->hung_up) return;
  if (e->unsent.size() + chunk.size() > kMaxUnsent) e->hung_up = true;
  e->unsent += chunk;
  impl_->resume(*e);
}

}  // namespace jipsa
