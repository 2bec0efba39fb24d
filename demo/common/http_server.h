// A small HTTP/1.1 server: one thread accepts, a fixed pool of threads serves one connection each.
// Every routed request but /health runs in a server span that continues the caller's trace.
// Threads: Listen, Start and Stop from one thread; handlers run on the pool's threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "demo/common/http_message.h"

namespace demo {

using Handler = std::function<Response(const Request&)>;
// "GET /users" -> what answers it.
using Routes = std::map<std::string, Handler>;

class HttpServer {
 public:
  HttpServer(std::string service, Routes routes);
  ~HttpServer() { Stop(); }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Binds to the first free port of [port, port + tries) on loopback; port 0 lets the system
  // choose. False if there is none.
  bool Listen(std::uint16_t port, int tries);
  void Start(int workers);
  // Ends open connections and waits for the threads. A second call does nothing.
  void Stop();

  std::uint16_t port() const { return port_; }
  // Answers one request as the pool's threads do.
  Response Answer(const Request& request) const;

 private:
  void AcceptLoop();
  void WorkLoop();
  void Serve(int descriptor);
  // The next connection to serve; -1 when the server stops.
  int NextConnection();

  const std::string service_;
  const Routes routes_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable waiting_changed_;
  std::deque<int> waiting_;
  std::set<int> serving_;
  bool stopping_ = false;
};

}  // namespace demo
