#include "tenants/http.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "literal_server.h"
#include "waiting.h"

namespace jipsa::test {
namespace {

using namespace std::chrono_literals;
using Outcome = HttpAnswer::Outcome;
using Steady = std::chrono::steady_clock;

class Http : public testing::Test {
 protected:
  HttpRequest get(const std::string& path, std::chrono::milliseconds deadline = 20s) const {
    HttpRequest request;
    request.url = server.url() + path;
    request.deadline = deadline;
    return request;
  }
  HttpAnswer ask(const HttpRequest& request) {
    auto answer = wait_for<HttpAnswer>(*loop, [&](auto take) { http->call(request, take); });
    EXPECT_TRUE(answer.has_value()) << "no answer, or one from inside the call";
    return answer.value_or(HttpAnswer{});
  }
  HttpAnswer ask(const std::string& path, std::chrono::milliseconds deadline = 20s) { return ask(get(path, deadline)); }
  Reply raw(const std::string& bytes, bool hold = false) {
    Reply r;
    r.bytes = bytes;
    r.hold = hold;
    return r;
  }

  LiteralServer server;
  std::unique_ptr<Loop> loop = std::move(*Loop::make());
  std::unique_ptr<HttpClient> http = std::make_unique<HttpClient>(*loop);
};

TEST_F(Http, AnswerWithBodyAndStatus) {
  server.set("GET /a", reply(200, "hello"));
  const auto answer = ask("/a");
  EXPECT_EQ(answer.outcome, Outcome::answered);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.error, "");
}

TEST_F(Http, EveryStatusIsAnAnswer) {
  for (const int status : {204, 301, 400, 403, 404, 405, 500, 502}) {
    server.set("GET /s", reply(status, status == 204 ? "" : "x"));
    const auto answer = ask("/s");
    EXPECT_EQ(answer.outcome, Outcome::answered) << status;
    EXPECT_EQ(answer.status, status);
  }
}

TEST_F(Http, SendsWhatItWasGivenAndNothingThatInvitesTrouble) {
  server.set("POST /free", reply(200, ""));
  HttpRequest request = get("/free");
  request.method = "POST";
  request.headers = {"Content-Type: application/json"};
  request.body = std::string(2000, 'x');  // long enough for a client that likes "Expect: 100-continue"
  EXPECT_EQ(ask(request).status, 200);
  const auto text = server.raw().at(0);
  EXPECT_NE(text.find("POST /free HTTP/1.1\r\n"), std::string::npos);
  EXPECT_NE(text.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(text.find("Content-Length: 2000\r\n"), std::string::npos);
  for (const char* unwanted : {"Expect", "Origin", "Cookie", "x-www-form", "Referer"})
    EXPECT_EQ(text.find(unwanted), std::string::npos) << unwanted;
  EXPECT_TRUE(text.ends_with("\r\n\r\n" + request.body));
}

TEST_F(Http, PostWithoutBodyHasLengthZero) {
  server.set("POST /x", reply(200, ""));
  HttpRequest request = get("/x");
  request.method = "POST";
  EXPECT_EQ(ask(request).status, 200);
  EXPECT_NE(server.raw().at(0).find("Content-Length: 0\r\n"), std::string::npos);
}

TEST_F(Http, HeadAndOtherMethods) {
  Reply head = reply(200, "");
  head.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
  server.set("HEAD /h", head);
  server.set("DELETE /d", reply(200, "gone"));
  HttpRequest request = get("/h");
  request.method = "HEAD";
  EXPECT_EQ(ask(request).outcome, Outcome::answered);
  request = get("/d");
  request.method = "DELETE";
  EXPECT_EQ(ask(request).body, "gone");
}

TEST_F(Http, GetsShareAConnectionAndPostsDoNot) {
  server.set("GET /a", reply(200, "1"));
  server.set("POST /a", reply(200, "2"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("/a").body, "1");
  EXPECT_EQ(server.connections(), 1);
  HttpRequest request = get("/a");
  request.method = "POST";
  EXPECT_EQ(ask(request).body, "2");
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(Http, StaleConnectionIsReplaced) {
  Reply once = reply(200, "1");
  once.keep_alive = false;  // says nothing of it, and closes
  server.set("GET /a", once);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask("/a").body, "1");
    run_for(*loop, 50ms);
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(Http, PostIsSentOnceThoughTheServerDropsIt) {
  server.set("GET /a", reply(200, "1"));
  server.set("POST /free", raw(""));
  EXPECT_EQ(ask("/a").body, "1");
  HttpRequest request = get("/free");
  request.method = "POST";
  EXPECT_EQ(ask(request).outcome, Outcome::broken);
  EXPECT_EQ(server.requests(), (std::vector<std::string>{"GET /a", "POST /free"}));
}

TEST_F(Http, Refused) {
  HttpRequest request;
  request.url = "http://127.0.0.1:" + std::to_string(closed_port()) + "/x";
  const auto answer = ask(request);
  EXPECT_EQ(answer.outcome, Outcome::connection_refused);
  EXPECT_EQ(answer.status, 0);
  EXPECT_NE(answer.error.find("refused"), std::string::npos);
}

TEST_F(Http, SilenceEndsAtTheDeadline) {
  server.set("GET /never", raw("", true));
  const auto began = Steady::now();
  const auto answer = ask("/never", 300ms);
  EXPECT_EQ(answer.outcome, Outcome::timed_out);
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.error, "no answer within 300 ms");
  EXPECT_GE(Steady::now() - began, 290ms);
}

TEST_F(Http, DripsEndAtTheDeadlineOfTheWholeCall) {
  Reply drip = reply(200, std::string(1000, 'x'));
  drip.drip = 5ms;
  server.set("GET /drip", drip);
  const auto answer = ask("/drip", 700ms);
  EXPECT_EQ(answer.outcome, Outcome::timed_out);
  EXPECT_TRUE(answer.body.empty());
}

TEST_F(Http, BodyCap) {
  HttpRequest request = get("/big");
  request.max_body = 1000;
  server.set("GET /big", reply(200, std::string(1000, 'x')));
  EXPECT_EQ(ask(request).body.size(), 1000U);
  server.set("GET /big", reply(200, std::string(1001, 'x')));
  const auto answer = ask(request);
  EXPECT_EQ(answer.outcome, Outcome::too_large);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.error, "the answer is longer than 1000 bytes");
  EXPECT_TRUE(answer.body.empty());
}

TEST_F(Http, BodyWithoutEndIsCutOff) {
  Reply endless = raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + std::string(100000, 'x'));
  endless.repeat = 100000;
  server.set("GET /endless", endless);
  EXPECT_EQ(ask("/endless").outcome, Outcome::too_large);
}

TEST_F(Http, HeadersWithoutEndAreCutOff) {
  Reply endless = raw("X-A: " + std::string(500, 'x') + "\r\n");
  endless.bytes = "HTTP/1.1 200 OK\r\n" + endless.bytes;
  endless.repeat = 100000;
  server.set("GET /head", endless);
  const auto answer = ask("/head");
  EXPECT_NE(answer.outcome, Outcome::answered);
  EXPECT_FALSE(answer.error.empty());
}

TEST_F(Http, NotHttp) {
  for (const char* garbage :
       {"", "hello\r\n", "\x16\x03\x01\x02", "HTTP/1.1\r\n\r\n", "HTTP/9.9 banana\r\n\r\n", "\r\n\r\n\r\n"}) {
    server.set("GET /g", raw(garbage));
    const auto answer = ask("/g");
    EXPECT_EQ(answer.outcome, Outcome::broken) << garbage;
    EXPECT_FALSE(answer.error.empty()) << garbage;
  }
}

TEST_F(Http, ClosedEarly) {
  server.set("GET /cut", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"a\""));
  const auto answer = ask("/cut");
  EXPECT_EQ(answer.outcome, Outcome::broken);
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.empty());
  server.set("GET /cut", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"));
  EXPECT_EQ(ask("/cut").outcome, Outcome::broken);
}

TEST_F(Http, ChunkedAndUntilClose) {
  server.set("GET /c", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"));
  EXPECT_EQ(ask("/c").body, "hello");
  server.set("GET /c", raw("HTTP/1.0 200 OK\r\n\r\nhello"));
  EXPECT_EQ(ask("/c").body, "hello");
}

TEST_F(Http, InterimAnswersAreNotTheAnswer) {
  server.set("GET /i", raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 "
                           "OK\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_EQ(ask("/i").body, "ok");
  server.set("GET /i", raw("HTTP/1.1 103 Early Hints\r\n\r\n"));
  const auto answer = ask("/i", 2s);
  EXPECT_NE(answer.outcome, Outcome::answered);
  EXPECT_EQ(answer.status, 0);
}

TEST_F(Http, NoBodyAfter204) {
  server.set("GET /n", raw("HTTP/1.1 204 No Content\r\n\r\n", true));
  const auto answer = ask("/n");
  EXPECT_EQ(answer.outcome, Outcome::answered);
  EXPECT_EQ(answer.status, 204);
}

TEST_F(Http, RedirectIsNotFollowed) {
  server.set("GET /r", raw("HTTP/1.1 302 Found\r\nLocation: " + server.url() + "/other\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(ask("/r").status, 302);
  EXPECT_EQ(server.requests(), std::vector<std::string>{"GET /r"});
}

TEST_F(Http, NoProxy) {
  const std::string dead = "http://127.0.0.1:" + std::to_string(closed_port());
  setenv("http_proxy", dead.c_str(), 1);
  setenv("ALL_PROXY", dead.c_str(), 1);
  server.set("GET /p", reply(200, "direct"));
  EXPECT_EQ(ask("/p").body, "direct");
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
}

TEST_F(Http, OtherSchemesAndBrokenAddresses) {
  for (const char* url : {"file:///etc/hostname", "ftp://127.0.0.1/", "", "http://", "http://127.0.0.1:99999/", "nonsense",
                          "gopher://127.0.0.1/"}) {
    HttpRequest request;
    request.url = url;
    const auto answer = ask(request);
    EXPECT_EQ(answer.outcome, Outcome::broken) << url;
    EXPECT_FALSE(answer.error.empty()) << url;
    EXPECT_TRUE(answer.body.empty()) << url;
  }
}

TEST_F(Http, LinesCantBeSmuggledIn) {
  HttpRequest request = get("/a");
  request.headers = {"X: a\r\nOrigin: http://evil"};
  EXPECT_EQ(ask(request).outcome, Outcome::broken);
  request = get("/a HTTP/1.1\r\nX: y\r\n\r\n");
  EXPECT_EQ(ask(request).outcome, Outcome::broken);
  request = get("/a");
  request.method = "GET /b HTTP/1.1\r\n";
  EXPECT_EQ(ask(request).outcome, Outcome::broken);
  EXPECT_TRUE(server.raw().empty());
}

TEST_F(Http, ManyAtOnce) {
  server.set("GET /a", reply(200, "1"));
  int good = 0;
  for (int i = 0; i < 20; ++i) {
    http->call(get("/a"), [&](const HttpAnswer& answer) {
      good += answer.body == "1" ? 1 : 0;
      if (good == 20) loop->stop();
    });
  }
  EXPECT_EQ(good, 0);
  const auto guard = loop->after(30s, [&] { loop->stop(); });
  loop->run();
  loop->cancel(guard);
  EXPECT_EQ(good, 20);
}

TEST_F(Http, ACallbackMayCallAgain) {
  server.set("GET /a", reply(200, "1"));
  int left = 5;
  std::function<void(HttpAnswer)> again = [&](const HttpAnswer& answer) {
    EXPECT_EQ(answer.body, "1");
    if (--left == 0) return loop->stop();
    http->call(get("/a"), again);
  };
  http->call(get("/a"), again);
  const auto guard = loop->after(30s, [&] { loop->stop(); });
  loop->run();
  loop->cancel(guard);
  EXPECT_EQ(left, 0);
}

TEST_F(Http, DestroyedWithOpenCalls) {
  server.set("GET /never", raw("", true));
  server.set("GET /a", reply(200, "1"));
  int called = 0;
  http->call(get("/never"), [&](const HttpAnswer&) { ++called; });
  EXPECT_EQ(ask("/a").body, "1");  // by now the other one is on its way
  http->call(get("/a"), [&](const HttpAnswer&) { ++called; });
  HttpRequest wrong = get("/a");
  wrong.method = "";
  http->call(wrong, [&](const HttpAnswer&) { ++called; });
  http.reset();
  run_for(*loop, 100ms);
  EXPECT_EQ(called, 0);
}

TEST_F(Http, ACallbackMayDestroyTheClient) {
  server.set("GET /a", reply(200, "1"));
  int called = 0;
  for (int i = 0; i < 5; ++i) {
    http->call(get("/a"), [&](const HttpAnswer&) {
      ++called;
      http.reset();
      loop->stop();
    });
  }
  const auto guard = loop->after(30s, [&] { loop->stop(); });
  loop->run();
  loop->cancel(guard);
  EXPECT_EQ(called, 1);
  run_for(*loop, 100ms);
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace jipsa::test
