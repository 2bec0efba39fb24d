#include "serve/http/relay.h"

#include <fcntl.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

namespace hotspan::serve {
namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
namespace {

class Relay final : public Connection, public std::enable_shared_from_this<Relay> {
 public:
  Relay(std::shared_ptr<ServerShared> shared, beast::ssl_stream<TcpStream> stream, TcpSocket inner)
      : shared_(std::move(shared)),
        outer_(std::move(stream)),
        inner_(std::move(inner)),
        executor_(beast::get_lowest_layer(outer_).get_executor()) {
    shared_->Register(this);
  }
  ~Relay() override {
    shared_->Unregister(this);
    shared_->Leave();
  }

  void Start() {
    asio::dispatch(executor_, [self = shared_from_this()] {
      beast::get_lowest_layer(self->outer_).expires_never();
      self->Inward();
      self->Outward();
    });
  }

  void Close(bool) override {
    if (auto self = weak_from_this().lock()) {
      const auto executor = executor_;
      asio::post(executor, [self = std::move(self)] { self->End(); });
    }
  }

 private:
  void End() {
    boost::system::error_code ignored;
    inner_.close(ignored);
    beast::get_lowest_layer(outer_).close();
  }

  void Inward() {
    outer_.async_read_some(
        asio::buffer(inward_),
        [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
          if (error) return self->End();
          asio::async_write(self->inner_, asio::buffer(self->inward_.data(), size),
                            [self](boost::system::error_code failed, std::size_t) {
                              if (failed) return self->End();
                              self->Inward();
                            });
        });
  }

  void Outward() {
    inner_.async_read_some(
        asio::buffer(outward_),
        [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
          if (error) return self->End();
          asio::async_write(self->outer_, asio::buffer(self->outward_.data(), size),
                            [self](boost::system::error_code failed, std::size_t) {
                              if (failed) return self->End();
                              self->Outward();
                            });
        });
  }

  const std::shared_ptr<ServerShared> shared_;
  beast::ssl_stream<TcpStream> outer_;
  TcpSocket inner_;
  const TcpStream::executor_type executor_;
  std::array<char, 16384> inward_{};
  std::array<char, 16384> outward_{};
};

// Two connected sockets over loopback: gRPC asks for the peer's address, which a pair of Unix
// sockets does not have.
bool MakePair(TcpSocket& near, TcpSocket& far) {
  boost::system::error_code error;
  const tcp::endpoint loopback(asio::ip::address_v4::loopback(), 0);
  asio::basic_socket_acceptor<tcp, TcpSocket::executor_type> acceptor(near.get_executor());
  acceptor.open(loopback.protocol(), error);
  if (!error) acceptor.bind(loopback, error);
  if (!error) acceptor.listen(1, error);
  if (error) return false;
  const tcp::endpoint address = acceptor.local_endpoint(error);
  if (!error) near.connect(address, error);
  if (!error) acceptor.accept(far, error);
  if (error) return false;
  // Another process could have come first.
  const bool ours = far.remote_endpoint(error) == near.local_endpoint(error) && !error;
  return ours && !near.set_option(tcp::no_delay(true), error);
}

}  // namespace

void RelayToGrpc(std::shared_ptr<ServerShared> shared, beast::ssl_stream<TcpStream> stream) {
  TcpSocket near(stream.get_executor());
  TcpSocket far(stream.get_executor());
  boost::system::error_code error;
  if (!MakePair(near, far)) {
    shared->Leave();
    return;
  }
  const int descriptor = far.release(error);
  if (error) {
    shared->Leave();
    return;
  }
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  shared->take_http2(descriptor);
  std::make_shared<Relay>(std::move(shared), std::move(stream), std::move(near))->Start();
}

}  // namespace hotspan::serve
