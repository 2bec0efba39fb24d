#include "agent/http_client.h"

#include <gtest/gtest.h>

#include "agent/http_response_reader.h"
#include "agent/test_http_server.h"
#include "agent/time_now.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

class HttpClientTest : public testing::Test {
 protected:
  std::atomic<std::int64_t> cut_off_ns_{INT64_MAX};
};

TEST(ParseHttpUrl, TakesHostsAddressesAndPorts) {
  const auto plain = ParseHttpUrl("http://example.org/v1/traces?x=1");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "example.org");
  EXPECT_EQ(plain->port, "80");
  EXPECT_EQ(plain->path, "/v1/traces?x=1");
  const auto v6 = ParseHttpUrl("http://[::1]:4318");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, "4318");
  EXPECT_EQ(v6->path, "/");
  EXPECT_EQ(v6->authority, "[::1]:4318");
}

TEST(ParseHttpUrl, RefusesWhatItCannotReach) {
  for (const char* url :
       {"", "https://example.org", "example.org:4318", "http://", "http://:4318", "http://h:0",
        "http://h:65536", "http://h:x", "http://h:", "http://[::1", "http://[::1]x",
        "http://u:p@h/", "http://h/a b", "http://h/a\r\nX: y", "http://h/#part"}) {
    EXPECT_FALSE(ParseHttpUrl(url)) << url;
  }
}

TEST_F(HttpClientTest, PostsBodyAndHeadersAndKeepsTheConnection) {
  TestHttpServer server([](const TestRequest& request, int) {
    return Answer("200 OK", "X: y\r\n", request.body + "!");
  });
  HttpClient client(*ParseHttpUrl(server.Url("/v1/traces")), &cut_off_ns_);
  for (int i = 0; i < 3; ++i) {
    const HttpResponse response = client.Post({{"X-Key", "secret"}}, "abc", kPatienceMs);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "abc!");
    EXPECT_TRUE(response.connected);
  }
  const auto requests = server.WaitFor(3);
  EXPECT_EQ(requests[0].path, "/v1/traces");
  EXPECT_NE(requests[0].head.find("\r\nX-Key: secret\r\n"), std::string::npos);
  EXPECT_EQ(server.connections_made(), 1);
}

TEST_F(HttpClientTest, ReplacesAKeptConnectionThatTheServerClosed) {
  TestHttpServer server([](const TestRequest&, int number) {
    return number == 1 ? std::string() : Answer("200 OK");
  });
  HttpClient client(*ParseHttpUrl(server.Url()), &cut_off_ns_);
  EXPECT_EQ(client.Post({}, "a", kPatienceMs).status, 200);
  EXPECT_EQ(client.Post({}, "b", kPatienceMs).status, 200);
  EXPECT_EQ(server.connections_made(), 2);
}

TEST_F(HttpClientTest, SaysWhenNobodyListens) {
  HttpClient client(*ParseHttpUrl(DeadUrl()), &cut_off_ns_);
  const HttpResponse response = client.Post({}, "a", kPatienceMs);
  EXPECT_EQ(response.status, 0);
  EXPECT_FALSE(response.connected);
  EXPECT_FALSE(response.error.empty());
}

TEST_F(HttpClientTest, GivesUpOnASilentServer) {
  Mutex mutex;
  CondVar changed;
  bool may_end = false;
  TestHttpServer server([&](const TestRequest&, int) {
    const MutexLock lock(mutex);
    while (!may_end) changed.Wait(mutex);
    return std::string();
  });
  HttpClient client(*ParseHttpUrl(server.Url()), &cut_off_ns_);
  const HttpResponse timed_out = client.Post({}, "a", 1);
  EXPECT_EQ(timed_out.status, 0);
  EXPECT_TRUE(timed_out.connected);
  // The cut-off ends a request that had more time.
  cut_off_ns_ = SteadyNs() + kNsPerMs;
  EXPECT_EQ(client.Post({}, "a", 10 * kPatienceMs).status, 0);
  const MutexLock lock(mutex);
  may_end = true;
  changed.NotifyAll();
}

HttpResponseReader ReadAll(std::string_view bytes) {
  HttpResponseReader reader;
  // Byte by byte: the hardest cut there can be.
  for (const char& byte : bytes) reader.Add({&byte, 1});
  return reader;
}

TEST(HttpResponseReader, ReadsABodyByLength) {
  HttpResponseReader reader =
      ReadAll("HTTP/1.1 503 Busy\r\nretry-AFTER:  7 \r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.status(), 503);
  EXPECT_EQ(reader.retry_after(), "7");
  EXPECT_EQ(reader.TakeBody(), "ok");
  EXPECT_TRUE(reader.keep_alive());
}

TEST(HttpResponseReader, ReadsChunksAndSkipsInterimAnswers) {
  HttpResponseReader reader = ReadAll(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: t\r\n\r\n");
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(reader.TakeBody(), "abcd");
}

TEST(HttpResponseReader, ReadsABodyUpToTheEnd) {
  HttpResponseReader reader = ReadAll("HTTP/1.0 200 OK\r\n\r\nabc");
  EXPECT_FALSE(reader.done());
  reader.End();
  EXPECT_TRUE(reader.done());
  EXPECT_FALSE(reader.keep_alive());
  EXPECT_EQ(reader.TakeBody(), "abc");
}

TEST(HttpResponseReader, RefusesWhatIsNoResponse) {
  for (const std::string& bytes :
       {std::string("SSH-2.0-OpenSSH\r\n\r\n"), std::string("HTTP/1.1 xyz\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string(limits::kAgentResponseHeadBytesMax + 5, 'x')}) {
    const HttpResponseReader reader = ReadAll(bytes);
    EXPECT_TRUE(reader.done());
    EXPECT_FALSE(reader.error().empty()) << bytes.substr(0, 60);
  }
}

TEST(Gzip, InflatesToTheSame) {
  const std::string text(100'000, 'x');
  const std::string packed = Gzip(text);
  EXPECT_LT(packed.size(), 2000u);
  EXPECT_EQ(Inflate(packed), text);
}

TEST(ParseRetryAfter, TakesSecondsAndDates) {
  const std::int64_t now_ns = 784'111'777 * kNsPerSecond;  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(ParseRetryAfter("120", now_ns), 120);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:47 GMT", now_ns), 10);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:00:00 GMT", now_ns), 0);
  for (const char* text : {"", "-1", "soon", "Sun, 06 Xxx 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(ParseRetryAfter(text, now_ns)) << text;
  }
}

}  // namespace
}  // namespace hotspan::agent
