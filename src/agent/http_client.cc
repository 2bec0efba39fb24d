#include "agent/http_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "agent/http_response_reader.h"
#include "agent/time_now.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

// How often a wait looks whether the cut-off was moved.
constexpr std::int64_t kPollSliceNs = 50 * kNsPerMs;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

bool HasControlOrBlank(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c <= ' ' || c == '\x7f'; });
}

std::string RequestHead(const HttpUrl& url, const HttpHeaders& headers, std::size_t body_size) {
  std::string head = "POST " + url.path + " HTTP/1.1\r\nHost: " + url.authority + "\r\n";
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  head += "Content-Length: " + std::to_string(body_size) + "\r\n\r\n";
  return head;
}

}  // namespace

std::optional<HttpUrl> ParseHttpUrl(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme) || HasControlOrBlank(url)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  HttpUrl parsed;
  const std::size_t slash = std::min(url.find_first_of("/?#"), url.size());
  parsed.path = url.substr(slash);
  if (!parsed.path.starts_with('/')) parsed.path.insert(0, "/");
  if (parsed.path.find('#') != std::string::npos) return std::nullopt;
  const std::string_view authority = url.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) return std::nullopt;
  parsed.authority = authority;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    parsed.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    parsed.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  parsed.port = "80";
  if (!port.empty()) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
    if (port[0] != ':' || error != std::errc() || end != port.data() + port.size() || number == 0 ||
        number > 65535) {
      return std::nullopt;
    }
    parsed.port = port.substr(1);
  }
  if (parsed.host.empty()) return std::nullopt;
  return parsed;
}

HttpResponse HttpClient::Post(const HttpHeaders& headers, std::string_view body, int timeout_ms) {
  deadline_ns_ = SteadyNs() + timeout_ms * kNsPerMs;
  const bool kept = socket_ >= 0;
  bool no_answer = false;
  HttpResponse response = Exchange(headers, body, &no_answer);
  // The server may have closed a kept connection just before; a new one tells.
  if (kept && no_answer) response = Exchange(headers, body, &no_answer);
  return response;
}

HttpResponse HttpClient::Exchange(const HttpHeaders& headers, std::string_view body,
                                  bool* no_answer) {
  HttpResponse response;
  *no_answer = false;
  if (socket_ < 0 && !Connect(&response.error)) return response;
  response.connected = true;
  errno = 0;
  // A server may answer without reading all, so the answer is looked for even if sending failed.
  const bool sent = Send(RequestHead(url_, headers, body.size())) && Send(body);
  const int send_error = errno;
  HttpResponseReader reader;
  std::array<char, 4096> buffer;
  while (!reader.done()) {
    const long size = Receive(buffer.data(), buffer.size());
    if (size <= 0) {
      reader.End();
      if (reader.done()) break;
      *no_answer = !reader.started() && (size == 0 || errno == ECONNRESET || errno == EPIPE);
      const int cause = sent ? errno : send_error;
      response.error = size == 0 ? "connection closed" : std::strerror(cause);
      Disconnect();
      return response;
    }
    reader.Add({buffer.data(), static_cast<std::size_t>(size)});
  }
  if (!reader.error().empty() || !reader.keep_alive() || !sent) Disconnect();
  response.error = reader.error();
  if (response.error.empty()) {
    response.status = reader.status();
    response.body = reader.TakeBody();
    response.retry_after = reader.retry_after();
  }
  return response;
}

bool HttpClient::Connect(std::string* error) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(url_.host.c_str(), url_.port.c_str(), &hints, &list);
  if (failed != 0) {
    *error = url_.host + ": " + ::gai_strerror(failed);
    return false;
  }
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (ConnectTo(at->ai_addr, at->ai_addrlen, at->ai_family, error)) return true;
  }
  return false;
}

bool HttpClient::ConnectTo(const void* address, unsigned size, int family, std::string* error) {
  socket_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ >= 0) {
    int cause = 0;
    if (::connect(socket_, static_cast<const sockaddr*>(address), size) != 0) {
      cause = errno;
      if (cause == EINPROGRESS) {
        socklen_t length = sizeof(cause);
        if (!WaitFor(POLLOUT)) {
          cause = ETIMEDOUT;
        } else if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &cause, &length) != 0) {
          cause = errno;
        }
      }
    }
    if (cause == 0) {
      const int on = 1;
      ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      return true;
    }
    errno = cause;
  }
  *error = std::strerror(errno);
  Disconnect();
  return false;
}

void HttpClient::Disconnect() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!WaitFor(POLLOUT)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

long HttpClient::Receive(char* out, std::size_t size) {
  while (true) {
    const ssize_t got = ::recv(socket_, out, size, 0);
    if (got >= 0) return got;
    if (errno == EAGAIN) {
      if (!WaitFor(POLLIN)) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

bool HttpClient::WaitFor(short events) const {
  while (true) {
    const std::int64_t end = std::min(deadline_ns_, cut_off_ns_->load(std::memory_order_relaxed));
    const std::int64_t left = end - SteadyNs();
    if (left <= 0) {
      errno = ETIMEDOUT;
      return false;
    }
    pollfd wait{socket_, events, 0};
    const auto slice_ms = static_cast<int>(std::min(left, kPollSliceNs) / kNsPerMs + 1);
    if (::poll(&wait, 1, slice_ms) > 0) return true;
  }
}

}  // namespace hotspan::agent
