#include "demo/common/http_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <utility>

namespace demo {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t kAnswerBytesMax = 16u << 20;

http::request<http::string_body> ToMessage(const Address& address, const Call& call) {
  http::request<http::string_body> message;
  message.method_string(call.method);
  message.target(call.target);
  message.version(11);
  message.set(http::field::host, address.host + ":" + std::to_string(address.port));
  message.set(http::field::user_agent, "hotspan-demo");
  if (!call.authorization.empty()) message.set(http::field::authorization, call.authorization);
  if (!call.traceparent.empty()) message.set("traceparent", call.traceparent);
  message.keep_alive(false);
  message.body() = call.body;
  message.prepare_payload();
  return message;
}

}  // namespace

Response Fetch(const Address& address, const Call& call) {
  asio::io_context io;
  beast::tcp_stream stream(io);
  beast::error_code error;
  const asio::ip::address host = asio::ip::make_address(address.host, error);
  if (error) return {.status = 0, .body = "bad address: " + address.host};
  const auto wait = [&io] {
    io.restart();
    io.run();
  };
  const auto done = [&error](beast::error_code result, std::size_t) { error = result; };
  stream.expires_after(kCallTimeout);
  stream.async_connect(asio::ip::tcp::endpoint(host, address.port),
                       [&error](beast::error_code result) { error = result; });
  wait();
  if (error) return {.status = 0, .body = "connect: " + error.message()};
  http::request<http::string_body> message = ToMessage(address, call);
  http::async_write(stream, message, done);
  wait();
  if (error) return {.status = 0, .body = "send: " + error.message()};
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  http::async_read(stream, buffer, parser, done);
  wait();
  if (error) return {.status = 0, .body = "receive: " + error.message()};
  http::response<http::string_body> reply = parser.release();
  return {.status = static_cast<int>(reply.result_int()), .body = std::move(reply.body())};
}

}  // namespace demo
