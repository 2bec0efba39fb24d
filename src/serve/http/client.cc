#include "serve/http/client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "serve/http/server.h"

namespace hotspan::serve {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace {

constexpr std::size_t kAnswerBytesMax = 512u << 20;

struct Call {
  asio::io_context io;
  beast::tcp_stream stream{io};
  boost::system::error_code error;

  // Runs one asynchronous step to its end, so that the stream's deadline holds for it.
  template <typename Begin>
  bool Step(Begin begin) {
    begin();
    io.restart();
    io.run();
    return !error;
  }
};

Result<HostPort> ParseServer(std::string_view server) {
  if (server.starts_with("http://")) server.remove_prefix(7);
  if (server.find("://") != std::string_view::npos) {
    return Fail(Code::kInvalidArgument,
                "server \"" + std::string(server) + "\" must begin with http://");
  }
  server = server.substr(0, server.find('/'));
  const std::size_t colon = server.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && server.find(']', colon) == std::string_view::npos;
  return ParseHostPort(has_port ? std::string(server) : std::string(server) + ":4040");
}

}  // namespace

Result<Response> HttpCall(std::string_view server, const ClientRequest& request) {
  TRY_ASSIGN(const HostPort place, ParseServer(server));
  Call call;
  const auto unreachable = [&] {
    return Fail(Code::kUnavailable, "can't reach " + std::string(server) + ": " +
                                        call.error.message() + "; is `hotspan serve` running?");
  };
  const auto note = [&call](boost::system::error_code e, auto&&...) { call.error = e; };
  asio::ip::tcp::resolver resolver(call.io);
  const auto found = resolver.resolve(place.host, std::to_string(place.port), call.error);
  if (call.error) return unreachable();
  call.stream.expires_after(std::chrono::seconds(10));
  if (!call.Step([&] { call.stream.async_connect(found, note); })) return unreachable();

  http::request<http::string_body> message;
  message.method_string(request.method);
  message.target(request.target);
  message.version(11);
  message.set(http::field::host, place.host + ":" + std::to_string(place.port));
  message.set(http::field::user_agent, "hotspan");
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.keep_alive(false);
  message.body() = request.body;
  message.prepare_payload();
  call.stream.expires_after(request.timeout);
  // A server may refuse before it has read all of it: its answer counts, not the write's error.
  static_cast<void>(call.Step([&] { http::async_write(call.stream, message, note); }));
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  if (request.method == "HEAD") parser.skip(true);
  if (!call.Step([&] { http::async_read(call.stream, buffer, parser, note); })) {
    return unreachable();
  }
  Response response;
  response.status = static_cast<int>(parser.get().result_int());
  for (const auto& field : parser.get()) {
    response.headers.emplace_back(ToLowerAscii(std::string_view(field.name_string())),
                                  std::string(field.value()));
  }
  response.content_type = std::string(parser.get()[http::field::content_type]);
  response.body = std::move(parser.get().body());
  return response;
}

}  // namespace hotspan::serve
