#include "serve/http/server.h"

#include <boost/asio/ssl.hpp>
#include <charconv>

#include "base/clock.h"
#include "serve/http/server_state.h"

namespace hotspan::serve {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// HTTP/1.1 if the client takes it, since browsers offer both and our HTTP/2 is gRPC alone.
int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_size,
               const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char kHttp1[] = "\x08http/1.1";
  static constexpr unsigned char kHttp2[] = "\x02h2";
  for (const auto& [protocol, size] : {std::pair{kHttp1, 9u}, std::pair{kHttp2, 3u}}) {
    unsigned char* chosen = nullptr;
    const int found =
        SSL_select_next_proto(&chosen, out_size, protocol, size, offered, offered_size);
    if (found == OPENSSL_NPN_NEGOTIATED) {
      *out = chosen;
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_NOACK;
}

Status LoadTls(ServerShared& shared) {
  const ServerOptions& options = shared.options;
  if (options.tls_certificate.empty()) return {};
  boost::system::error_code error;
  shared.tls.emplace(asio::ssl::context::tls_server);
  shared.tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                          asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                          asio::ssl::context::no_tlsv1_1);
  shared.tls->use_certificate_chain_file(options.tls_certificate, error);
  if (error) {
    return Fail(Code::kInvalidArgument, "can't read the TLS certificate " +
                                            options.tls_certificate + ": " + error.message());
  }
  shared.tls->use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  if (error) {
    return Fail(Code::kInvalidArgument,
                "can't read the TLS key " + options.tls_key + ": " + error.message());
  }
  SSL_CTX_set_alpn_select_cb(shared.tls->native_handle(), &SelectAlpn, nullptr);
  return {};
}

void AcceptNext(const std::shared_ptr<ServerShared>& shared, Listener& listener) {
  listener.acceptor.async_accept(
      asio::make_strand(shared->io),
      [shared, &listener](boost::system::error_code error, TcpSocket socket) {
        if (shared->stopping.load()) return;
        if (!error) {
          boost::system::error_code ignored;
          socket.set_option(tcp::no_delay(true), ignored);
          if (shared->Enter()) {
            ServeByFirstBytes(shared, std::move(socket), listener.port);
          } else {
            shared->refused.fetch_add(1);
            socket.close(ignored);
          }
          AcceptNext(shared, listener);
          return;
        }
        // Out of descriptors, most likely: wait until some are back.
        auto timer =
            std::make_shared<asio::steady_timer>(shared->io, std::chrono::milliseconds(50));
        timer->async_wait([shared, &listener, timer](boost::system::error_code) {
          if (!shared->stopping.load()) AcceptNext(shared, listener);
        });
      });
}

std::string AddressText(const tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

}  // namespace

bool ServerShared::Enter() {
  const MutexLock lock(mutex);
  if (open >= options.connections_max) return false;
  ++open;
  accepted.fetch_add(1);
  return true;
}

void ServerShared::Leave() {
  const MutexLock lock(mutex);
  --open;
  changed.NotifyAll();
}

void ServerShared::Register(Connection* connection) {
  const MutexLock lock(mutex);
  connections.insert(connection);
}

void ServerShared::Unregister(Connection* connection) {
  const MutexLock lock(mutex);
  connections.erase(connection);
  changed.NotifyAll();
}

bool ServerShared::CloseConnections(bool now, std::int64_t patience_ns) {
  const std::int64_t begin = MonotonicNs();
  const MutexLock lock(mutex);
  for (Connection* connection : connections) connection->Close(now);
  while (!connections.empty() && MonotonicNs() - begin < patience_ns) {
    changed.WaitFor(mutex, std::chrono::milliseconds(20));
  }
  return connections.empty();
}

bool ServerShared::ReserveBytes(std::uint64_t bytes) {
  if (in_flight_bytes.fetch_add(bytes) + bytes <= options.in_flight_bytes_max) return true;
  in_flight_bytes.fetch_sub(bytes);
  return false;
}

Result<HostPort> ParseHostPort(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) {
    return Fail(Code::kInvalidArgument,
                "address \"" + std::string(address) + "\" is not HOST:PORT");
  }
  HostPort parsed;
  std::string_view host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  parsed.host = host.empty() ? "0.0.0.0" : std::string(host);
  const std::string_view port = address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), parsed.port);
  if (error != std::errc() || end != port.data() + port.size()) {
    return Fail(Code::kInvalidArgument,
                "port \"" + std::string(port) + "\" is not a number from 0 to 65535");
  }
  return parsed;
}

struct Server::State {
  std::shared_ptr<ServerShared> shared;
  bool started = false;
};

Server::Server(ServerOptions options, AsyncHandler handler, TakeHttp2 take_http2)
    : state_(std::make_shared<State>()) {
  state_->shared =
      std::make_shared<ServerShared>(std::move(options), std::move(handler), std::move(take_http2));
}

Server::~Server() { Stop(); }

Result<std::string> Server::Listen(std::string_view address, Port port) {
  TRY_ASSIGN(const HostPort parsed, ParseHostPort(address));
  ServerShared& shared = *state_->shared;
  boost::system::error_code error;
  tcp::resolver resolver(shared.io);
  const auto found =
      resolver.resolve(parsed.host, std::to_string(parsed.port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return Fail(Code::kInvalidArgument,
                "can't resolve the host of " + std::string(address) + ": " + error.message());
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  tcp::acceptor acceptor(asio::make_strand(shared.io));
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    return Fail(Code::kFailedPrecondition,
                "address " + std::string(address) +
                    " is in use; stop the other program or choose another port");
  }
  if (error) {
    return Fail(Code::kFailedPrecondition,
                "can't listen on " + std::string(address) + ": " + error.message());
  }
  std::string bound = AddressText(acceptor.local_endpoint(error));
  shared.listeners.push_back({std::move(acceptor), port});
  return bound;
}

Status Server::Start() {
  const std::shared_ptr<ServerShared>& shared = state_->shared;
  TRY(LoadTls(*shared));
  state_->started = true;
  // Listeners may all be closed while answers are still being made.
  shared->work.emplace(asio::make_work_guard(shared->io));
  for (Listener& listener : shared->listeners) AcceptNext(shared, listener);
  for (std::size_t i = 0; i < shared->options.threads; ++i) {
    shared->threads.emplace_back([shared] { shared->io.run(); });
  }
  return {};
}

void Server::Stop() {
  if (!state_->started) return;
  state_->started = false;
  const std::shared_ptr<ServerShared> shared = state_->shared;
  shared->stopping.store(true);
  for (Listener& listener : shared->listeners) {
    asio::post(listener.acceptor.get_executor(), [shared, &listener] {
      boost::system::error_code ignored;
      listener.acceptor.close(ignored);
    });
  }
  shared->CloseConnections(false, 5'000'000'000);
  if (shared->CloseConnections(true, 1'000'000'000)) {
    shared->work.reset();
  } else {
    shared->io.stop();
  }
  for (std::thread& thread : shared->threads) thread.join();
  shared->threads.clear();
}

ServerStats Server::Stats() const {
  ServerShared& shared = *state_->shared;
  ServerStats stats;
  stats.connections = shared.accepted.load();
  stats.refused = shared.refused.load();
  stats.in_flight_bytes = shared.in_flight_bytes.load();
  const MutexLock lock(shared.mutex);
  stats.open = shared.open;
  return stats;
}

}  // namespace hotspan::serve
