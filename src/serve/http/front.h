// What every HTTP request passes before and after its handler: checks against foreign web pages,
// the route, a worker thread, compression of the answer, and the counts of /metrics.
//
// Threads: Handle may be called from any thread; it does not block.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "serve/http/router.h"
#include "serve/http/server.h"
#include "serve/http/worker_pool.h"

namespace hotspan::serve {

struct FrontOptions {
  // Names by which browsers may reach the server, besides localhost and literal addresses; "*":
  // any.
  std::vector<std::string> allowed_hosts;
  std::size_t readers = 4;
  // Writers wait for the disk together, so more of them make larger groups.
  std::size_t writers = 16;
  std::size_t queue_max = 1024;
};

struct RouteStats {
  std::uint64_t requests = 0;
  std::uint64_t nanoseconds = 0;
};

class Front {
 public:
  Front(Router router, FrontOptions options);

  void Handle(Request request, Respond respond);
  // The same without a worker thread, for calls from inside the process.
  Response HandleNow(Request request);

  // By (route pattern, status).
  std::map<std::pair<std::string, int>, RouteStats> Stats() const EXCLUDES(mutex_);
  WorkerPool& writers() { return writers_; }

 private:
  Response Run(const Route& route, const Request& request);
  void Finish(const Request& request, Response& response) const;
  void Count(const std::string& pattern, int status, std::int64_t begin_ns) EXCLUDES(mutex_);
  // A refusal, or status 0.
  Response Check(const Request& request, const Router::Match& match) const;
  bool IsAllowedHost(std::string_view host_port) const;

  const Router router_;
  const FrontOptions options_;
  mutable Mutex mutex_;
  std::map<std::pair<std::string, int>, RouteStats> stats_ GUARDED_BY(mutex_);
  // Last, so that their threads end before what they use.
  WorkerPool readers_;
  WorkerPool writers_;
};

// Whether a Host header's name is an address or localhost: no foreign page can have such a name
// resolve to us by DNS rebinding.
bool IsLocalOrLiteralHost(std::string_view host_port);

}  // namespace hotspan::serve
