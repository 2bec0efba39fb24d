// Waits for the first bytes of a connection without taking them, then hands the connection on.
#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/steady_timer.hpp>
#include <string_view>

#include "serve/http/first_bytes.h"
#include "serve/http/server_state.h"

namespace hotspan::serve {
namespace asio = boost::asio;
namespace {

class Waiter final : public Connection, public std::enable_shared_from_this<Waiter> {
 public:
  Waiter(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port)
      : shared_(std::move(shared)),
        socket_(std::move(socket)),
        executor_(socket_.get_executor()),
        deadline_(socket_.get_executor()),
        retry_(socket_.get_executor()),
        port_(port) {
    shared_->Register(this);
  }
  ~Waiter() override {
    shared_->Unregister(this);
    if (!handed_on_) shared_->Leave();
  }

  void Start() {
    asio::dispatch(executor_, [self = shared_from_this()] { self->Begin(); });
  }

  // Called with the set of connections locked, so `this` is alive but may be on its way out.
  void Close(bool) override {
    if (auto self = weak_from_this().lock()) {
      // Moved, so that the last reference can't end here, under the lock.
      const auto executor = executor_;
      asio::post(executor, [self = std::move(self)] { self->CloseSocket(); });
    }
  }

 private:
  void Begin() {
    deadline_.expires_after(shared_->options.header_timeout);
    deadline_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->CloseSocket();
    });
    WaitReadable();
  }

  void CloseSocket() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    retry_.cancel();
  }

  void WaitReadable() {
    socket_.async_wait(TcpSocket::wait_read,
                       [self = shared_from_this()](boost::system::error_code error) {
                         if (!error) self->Look();
                       });
  }

  void Look() {
    if (!socket_.is_open()) return;
    char bytes[8];
    const ssize_t size =
        ::recv(socket_.native_handle(), bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
    if (size <= 0) {
      CloseSocket();
      return;
    }
    const Protocol protocol =
        DetectProtocol(std::string_view(bytes, static_cast<std::size_t>(size)));
    if (protocol == Protocol::kNeedMore) {
      // The bytes stay in the socket, which is readable all along: look again a little later.
      retry_.expires_after(std::chrono::milliseconds(5));
      retry_.async_wait([self = shared_from_this()](boost::system::error_code error) {
        if (!error) self->Look();
      });
      return;
    }
    deadline_.cancel();
    HandOn(protocol);
  }

  void HandOn(Protocol protocol) {
    const bool plain = protocol != Protocol::kTls;
    if (plain ? (shared_->options.tls_only) : !shared_->tls.has_value()) {
      CloseSocket();
      return;
    }
    if (protocol == Protocol::kHttp2) {
      boost::system::error_code error;
      const int descriptor = socket_.release(error);
      if (error) return;
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
      // From here on gRPC counts its own connections.
      shared_->take_http2(descriptor);
      return;
    }
    handed_on_ = true;
    if (protocol == Protocol::kTls) {
      ServeTls(shared_, std::move(socket_), port_);
    } else {
      ServeHttp1(shared_, std::move(socket_), port_);
    }
  }

  const std::shared_ptr<ServerShared> shared_;
  TcpSocket socket_;
  const TcpSocket::executor_type executor_;
  asio::steady_timer deadline_;
  asio::steady_timer retry_;
  const Port port_;
  bool handed_on_ = false;
};

}  // namespace

void ServeByFirstBytes(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port) {
  std::make_shared<Waiter>(std::move(shared), std::move(socket), port)->Start();
}

}  // namespace hotspan::serve
