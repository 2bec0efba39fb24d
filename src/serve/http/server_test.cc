#include "serve/http/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <optional>
#include <thread>

#include "serve/http/client.h"

namespace hotspan::serve {
namespace {

namespace asio = boost::asio;

// Answers with what it got: method, target, size of the body.
void Echo(Request request, Respond respond) {
  respond(TextResponse(
      200, request.method + " " + request.path + " " + std::to_string(request.body.size())));
}

class ServerTest : public testing::Test {
 protected:
  void Begin(ServerOptions options, AsyncHandler handler = &Echo) {
    server_.emplace(std::move(options), std::move(handler), [this](int descriptor) {
      char bytes[8] = {};
      const ssize_t size = ::recv(descriptor, bytes, 4, 0);
      http2_.set_value(std::string(bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0))));
      ::close(descriptor);
    });
    const auto bound = server_->Listen("127.0.0.1:0", Port::kMain);
    ASSERT_TRUE(bound);
    address_ = *bound;
    ASSERT_TRUE(server_->Start());
  }

  // A raw connection.
  asio::ip::tcp::socket Connect() {
    asio::ip::tcp::socket socket(io_);
    const auto place = ParseHostPort(address_);
    socket.connect({asio::ip::make_address(place->host), place->port});
    return socket;
  }
  static void Send(asio::ip::tcp::socket& socket, const std::string& text) {
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(text), ignored);
  }
  // Until the server closes.
  static std::string ReadAll(asio::ip::tcp::socket& socket) {
    std::string text;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(text), end);
    return text;
  }
  static std::string ReadSome(asio::ip::tcp::socket& socket, std::size_t size) {
    std::string text(size, '\0');
    boost::system::error_code end;
    text.resize(asio::read(socket, asio::buffer(text), end));
    return text;
  }

  asio::io_context io_;
  std::string address_;
  std::promise<std::string> http2_;
  std::optional<Server> server_;
};

TEST_F(ServerTest, KeepsConnectionsAlive) {
  Begin({});
  auto socket = Connect();
  Send(socket,
       "GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n"
       "Connection: close\r\n\r\n");
  const std::string answers = ReadAll(socket);
  EXPECT_NE(answers.find("GET /one 0"), std::string::npos);
  EXPECT_NE(answers.find("GET /two 0"), std::string::npos);
  EXPECT_EQ(server_->Stats().connections, 1u);
}

TEST_F(ServerTest, ReadsChunkedBodies) {
  Begin({});
  auto socket = Connect();
  Send(socket,
       "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
       "\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
  EXPECT_NE(ReadAll(socket).find("POST /c 11"), std::string::npos);
}

TEST_F(ServerTest, AnswersExpectContinue) {
  Begin({});
  auto socket = Connect();
  Send(socket,
       "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
       "Connection: close\r\n\r\n");
  EXPECT_EQ(ReadSome(socket, 12), "HTTP/1.1 100");
  Send(socket, "abc");
  EXPECT_NE(ReadAll(socket).find("POST /c 3"), std::string::npos);
}

TEST_F(ServerTest, AnswersHeadWithoutBody) {
  Begin({});
  const auto response = HttpCall("http://" + address_, {.method = "HEAD", .target = "/h"});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_TRUE(response->body.empty());
}

TEST_F(ServerTest, RefusesOversizedBodiesByLengthAndByChunks) {
  ServerOptions options;
  options.body_bytes_max = 1000;
  Begin(options);
  const auto response =
      HttpCall("http://" + address_, {.method = "POST", .body = std::string(1001, 'x')});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  auto socket = Connect();
  Send(socket, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" +
                   std::string(0x800, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(ReadAll(socket).substr(0, 12), "HTTP/1.1 413");
}

TEST_F(ServerTest, RefusesWhatIsNoHttp) {
  Begin({});
  auto socket = Connect();
  Send(socket, "hello there\r\n\r\n");
  EXPECT_EQ(ReadAll(socket).substr(0, 12), "HTTP/1.1 400");
}

TEST_F(ServerTest, RefusesHugeHeaders) {
  Begin({});
  auto socket = Connect();
  Send(socket, "GET / HTTP/1.1\r\nX: " + std::string(40'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(ReadAll(socket).substr(0, 12), "HTTP/1.1 431");
}

TEST_F(ServerTest, RefusesBrokenTargets) {
  Begin({});
  auto socket = Connect();
  Send(socket, "GET /?a=%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(ReadAll(socket).substr(0, 12), "HTTP/1.1 400");
}

TEST_F(ServerTest, ClosesOnSlowClients) {
  ServerOptions options;
  options.header_timeout = std::chrono::milliseconds(30);
  options.idle_timeout = std::chrono::milliseconds(30);
  options.body_timeout = std::chrono::milliseconds(30);
  Begin(options);
  auto silent = Connect();
  EXPECT_EQ(ReadAll(silent), "");
  auto in_header = Connect();
  Send(in_header, "GET / HTTP/1.1\r\nHo");
  EXPECT_EQ(ReadAll(in_header), "");
  auto in_body = Connect();
  Send(in_body, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(ReadAll(in_body), "");
}

TEST_F(ServerTest, RefusesMoreBytesInFlightThanItHolds) {
  ServerOptions options;
  options.in_flight_bytes_max = 100;
  Begin(options);
  const auto response =
      HttpCall("http://" + address_, {.method = "POST", .body = std::string(101, 'x')});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_TRUE(HttpCall("http://" + address_, {.method = "POST", .body = std::string(99, 'x')}));
  EXPECT_EQ(server_->Stats().in_flight_bytes, 0u);
}

TEST_F(ServerTest, RefusesConnectionsOverTheLimit) {
  ServerOptions options;
  options.connections_max = 1;
  Begin(options);
  auto first = Connect();
  Send(first, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(ReadSome(first, 12), "HTTP/1.1 200");
  auto second = Connect();
  EXPECT_EQ(ReadAll(second), "");
}

TEST_F(ServerTest, HandsHttp2On) {
  Begin({});
  auto socket = Connect();
  // In two parts, as slow networks deliver it.
  Send(socket, "PR");
  Send(socket, "I * HTTP/2.0\r\n\r\n");
  EXPECT_EQ(http2_.get_future().get(), "PRI ");
}

TEST_F(ServerTest, ClosesTlsWithoutACertificate) {
  Begin({});
  auto socket = Connect();
  Send(socket, std::string("\x16\x03\x01\x00\x10", 5));
  EXPECT_EQ(ReadAll(socket), "");
}

TEST_F(ServerTest, FinishesRunningRequestsWhenItStops) {
  std::promise<Respond> waiting;
  Begin({}, [&](Request, Respond respond) { waiting.set_value(std::move(respond)); });
  auto socket = Connect();
  Send(socket, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  Respond respond = waiting.get_future().get();
  std::thread stopper([&] { server_->Stop(); });
  respond(TextResponse(200, "late"));
  respond = nullptr;
  EXPECT_NE(ReadAll(socket).find("late"), std::string::npos);
  stopper.join();
}

TEST_F(ServerTest, SaysWhenAnAddressIsInUse) {
  Begin({});
  Server second({}, &Echo, [](int) {});
  const auto bound = second.Listen(address_, Port::kMain);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().message(),
            "address " + address_ + " is in use; stop the other program or choose another port");
}

TEST(ParseHostPort, TakesHostsAndPorts) {
  EXPECT_EQ(ParseHostPort("[::1]:80")->host, "::1");
  EXPECT_EQ(ParseHostPort(":80")->host, "0.0.0.0");
  EXPECT_EQ(ParseHostPort("a:80")->port, 80);
  for (const char* text : {"a", "a:", "a:x", "a:65536", "a:-1"}) {
    EXPECT_FALSE(ParseHostPort(text)) << text;
  }
}

}  // namespace
}  // namespace hotspan::serve
