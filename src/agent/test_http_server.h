// A small HTTP server on a loopback port for tests of this folder: it records requests and answers
// as it is told.
//
// Threads: one per connection; all methods may be called from the test's.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace hotspan::agent {

// Far beyond what any of these tests needs, also on a loaded machine.
inline constexpr std::chrono::seconds kPatience{60};
inline constexpr int kPatienceMs = 60'000;

struct TestRequest {
  std::string head;  // as received
  std::string path;
  std::string body;  // inflated
  bool gzip = false;
};

inline std::string Inflate(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string in = bytes;
  std::string out(16u << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

inline std::string Answer(std::string_view status, std::string_view headers = {},
                          std::string_view body = {}) {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

class TestHttpServer {
 public:
  // The bytes to answer the `number`th request with, from 0; empty closes the connection.
  using Responder = std::function<std::string(const TestRequest&, int number)>;

  explicit TestHttpServer(Responder responder = [](const TestRequest&,
                                                   int) { return Answer("200 OK"); })
      : responder_(std::move(responder)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~TestHttpServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const MutexLock lock(mutex_);
      for (const int connection : open_) ::shutdown(connection, SHUT_RDWR);
    }
    for (std::thread& thread : connections_) thread.join();
  }

  std::string Url(const std::string& path = {}) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

  // Waits for `count` requests (of `path`, if that is given) and returns those there are by then.
  std::vector<TestRequest> WaitFor(std::size_t count, const std::string& path = {}) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    const MutexLock lock(mutex_);
    while (true) {
      std::vector<TestRequest> found;
      for (const TestRequest& request : requests_) {
        if (path.empty() || request.path == path) found.push_back(request);
      }
      if (found.size() >= count || std::chrono::steady_clock::now() > give_up) {
        EXPECT_GE(found.size(), count);
        return found;
      }
      changed_.WaitFor(mutex_, std::chrono::seconds(1));
    }
  }

  int connections_made() const { return connections_made_.load(); }

 private:
  void Accept() {
    while (true) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      ++connections_made_;
      const MutexLock lock(mutex_);
      open_.push_back(connection);
      connections_.emplace_back([this, connection] {
        while (ServeOne(connection)) {
        }
        const MutexLock closing(mutex_);
        std::erase(open_, connection);
        ::close(connection);
      });
    }
  }

  bool ServeOne(int connection) {
    std::string bytes;
    std::size_t head_size = std::string::npos;
    std::size_t body_size = 0;
    while (head_size == std::string::npos || bytes.size() < head_size + body_size) {
      std::array<char, 65536> buffer;
      const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
      if (got <= 0) return false;
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
      const std::size_t end = bytes.find("\r\n\r\n");
      if (head_size != std::string::npos || end == std::string::npos) continue;
      head_size = end + 4;
      const std::size_t length = bytes.find("Content-Length: ");
      body_size = std::strtoul(bytes.c_str() + length + 16, nullptr, 10);
    }
    TestRequest request;
    request.head = bytes.substr(0, head_size);
    request.path = bytes.substr(5, bytes.find(' ', 5) - 5);
    request.gzip = request.head.find("Content-Encoding: gzip") != std::string::npos;
    request.body = bytes.substr(head_size);
    if (request.gzip) request.body = Inflate(request.body);
    int number = 0;
    {
      const MutexLock lock(mutex_);
      number = static_cast<int>(requests_.size());
      requests_.push_back(request);
      changed_.NotifyAll();
    }
    const std::string answer = responder_(request, number);
    if (answer.empty()) return false;
    ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
    return true;
  }

  const Responder responder_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  std::atomic<int> connections_made_{0};
  Mutex mutex_;
  CondVar changed_;
  std::list<std::thread> connections_;
  std::vector<int> open_ GUARDED_BY(mutex_);
  std::vector<TestRequest> requests_ GUARDED_BY(mutex_);
};

// A port of the loopback device that nobody listens on.
inline std::string DeadUrl() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(probe, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(probe);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace hotspan::agent
