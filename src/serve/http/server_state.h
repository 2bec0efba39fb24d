// What the listeners and the connections of one Server share. Internal to serve/http.
//
// Threads: counters and the set of connections may be touched by any network thread.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "serve/http/server.h"

namespace hotspan::serve {

using TcpSocket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                     boost::asio::strand<boost::asio::io_context::executor_type>>;
using TcpStream =
    boost::beast::basic_stream<boost::asio::ip::tcp,
                               boost::asio::strand<boost::asio::io_context::executor_type>>;

// A connection that Stop can end.
class Connection {
 public:
  virtual ~Connection() = default;
  // Closes it now if it is idle, else after its answer; `now` closes it in any case.
  virtual void Close(bool now) = 0;
};

struct Listener {
  boost::asio::ip::tcp::acceptor acceptor;
  Port port;
};

struct ServerShared : std::enable_shared_from_this<ServerShared> {
  ServerShared(ServerOptions o, AsyncHandler h, TakeHttp2 t)
      : options(std::move(o)), handler(std::move(h)), take_http2(std::move(t)) {}

  const ServerOptions options;
  const AsyncHandler handler;
  const TakeHttp2 take_http2;
  boost::asio::io_context io;
  std::vector<Listener> listeners;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work;
  std::optional<boost::asio::ssl::context> tls;
  std::vector<std::thread> threads;

  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> in_flight_bytes{0};
  std::atomic<bool> stopping{false};

  Mutex mutex;
  CondVar changed;
  std::unordered_set<Connection*> connections GUARDED_BY(mutex);
  std::uint64_t open GUARDED_BY(mutex) = 0;

  // One open connection, from accept to close.
  bool Enter() EXCLUDES(mutex);
  void Leave() EXCLUDES(mutex);
  void Register(Connection* connection) EXCLUDES(mutex);
  void Unregister(Connection* connection) EXCLUDES(mutex);
  // Closes what is open and waits; whether nothing was left.
  bool CloseConnections(bool now, std::int64_t patience_ns) EXCLUDES(mutex);
  // Room for bytes of a body; false if the server holds too much already.
  bool ReserveBytes(std::uint64_t bytes);
  void ReleaseBytes(std::uint64_t bytes) { in_flight_bytes.fetch_sub(bytes); }
};

// Serves HTTP/1.1 on an accepted connection; returns at once.
void ServeHttp1(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port);
// Shakes hands, then serves what ALPN agreed on.
void ServeTls(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port);
// Waits for the first bytes and picks one of the above, or hands the connection on as gRPC.
void ServeByFirstBytes(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port);

}  // namespace hotspan::serve
