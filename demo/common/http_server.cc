#include "demo/common/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "agent/hotspan.hpp"

namespace demo {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// Connections that may wait for a thread; more are closed at once.
constexpr std::size_t kWaitingMax = 256;
constexpr std::size_t kBodyBytesMax = 1u << 20;
constexpr std::chrono::seconds kIdleTimeout{10};
constexpr std::chrono::seconds kWriteTimeout{30};

int Bind(std::uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      listen(descriptor, SOMAXCONN) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

std::uint16_t BoundPort(int descriptor) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

std::string Header(const http::request<http::string_body>& message, std::string_view name) {
  const auto found = message.find(beast::string_view(name.data(), name.size()));
  return found == message.end() ? std::string() : std::string(found->value());
}

std::optional<Request> ToRequest(http::request<http::string_body>& message) {
  const beast::string_view target = message.target();
  std::optional<Target> parsed = ParseTarget({target.data(), target.size()});
  if (!parsed) return std::nullopt;
  return Request{.method = std::string(message.method_string()),
                 .target = std::move(*parsed),
                 .authorization = Header(message, "Authorization"),
                 .traceparent = Header(message, "traceparent"),
                 .tracestate = Header(message, "tracestate"),
                 .body = std::move(message.body())};
}

}  // namespace

HttpServer::HttpServer(std::string service, Routes routes)
    : service_(std::move(service)), routes_(std::move(routes)) {}

bool HttpServer::Listen(std::uint16_t port, int tries) {
  for (int i = 0; i < tries && listener_ < 0; ++i) {
    const int candidate = port == 0 ? 0 : port + i;
    if (candidate > 65535) break;
    listener_ = Bind(static_cast<std::uint16_t>(candidate));
  }
  if (listener_ < 0) return false;
  port_ = BoundPort(listener_);
  return true;
}

void HttpServer::Start(int workers) {
  threads_.emplace_back([this] { AcceptLoop(); });
  for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { WorkLoop(); });
}

void HttpServer::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int descriptor : serving_) shutdown(descriptor, SHUT_RDWR);
    if (listener_ >= 0) shutdown(listener_, SHUT_RDWR);
  }
  waiting_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (const int descriptor : waiting_) close(descriptor);
  waiting_.clear();
  if (listener_ >= 0) close(std::exchange(listener_, -1));
}

void HttpServer::AcceptLoop() {
  while (true) {
    const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      if (descriptor >= 0) close(descriptor);
      return;
    }
    if (descriptor < 0) continue;
    if (waiting_.size() >= kWaitingMax) {
      close(descriptor);
      continue;
    }
    waiting_.push_back(descriptor);
    waiting_changed_.notify_one();
  }
}

int HttpServer::NextConnection() {
  std::unique_lock lock(mutex_);
  waiting_changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
  if (stopping_) return -1;
  const int descriptor = waiting_.front();
  waiting_.pop_front();
  serving_.insert(descriptor);
  return descriptor;
}

void HttpServer::WorkLoop() {
  while (true) {
    const int descriptor = NextConnection();
    if (descriptor < 0) return;
    Serve(descriptor);
  }
}

Response HttpServer::Answer(const Request& request) const {
  if (request.target.path == "/health") {
    return {.body = R"({"status":"ok","service":")" + service_ + "\"}"};
  }
  const std::string route = request.method + " " + request.target.path;
  const auto found = routes_.find(route);
  if (found == routes_.end()) return ErrorResponse(404, "no such route");
  hotspan::Span span = hotspan::Span::Server(route, request.traceparent, request.tracestate);
  span.Set("http.request.method", request.method).Set("url.path", request.target.path);
  Response response;
  try {
    response = found->second(request);
  } catch (const std::exception& error) {
    response = ErrorResponse(500, error.what());
  }
  span.Set("http.response.status_code", response.status);
  if (response.status >= 500) span.Error(response.body);
  return response;
}

void HttpServer::Serve(int descriptor) {
  asio::io_context io;
  beast::tcp_stream stream(io);
  beast::error_code error;
  stream.socket().assign(asio::ip::tcp::v4(), descriptor, error);
  beast::flat_buffer buffer;
  const auto done = [&error](beast::error_code result, std::size_t) { error = result; };
  const auto wait = [&io] {
    io.restart();
    io.run();
  };
  while (!error) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(kBodyBytesMax);
    stream.expires_after(kIdleTimeout);
    http::async_read(stream, buffer, parser, done);
    wait();
    if (error) break;
    http::request<http::string_body> message = parser.release();
    const bool keep_alive = message.keep_alive();
    const unsigned version = message.version();
    std::optional<Request> request = ToRequest(message);
    const Response answer = request ? Answer(*request) : ErrorResponse(400, "bad target");
    http::response<http::string_body> reply{
        http::int_to_status(static_cast<unsigned>(answer.status)), version};
    reply.set(http::field::content_type, answer.content_type);
    reply.keep_alive(keep_alive);
    reply.body() = answer.body;
    reply.prepare_payload();
    stream.expires_after(kWriteTimeout);
    http::async_write(stream, reply, done);
    wait();
    if (!keep_alive) break;
  }
  // Stop must not shut down a number that is in use for something else already.
  const std::lock_guard lock(mutex_);
  serving_.erase(descriptor);
  stream.close();
}

}  // namespace demo
