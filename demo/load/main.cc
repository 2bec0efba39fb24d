// The demo's load generator: a burst of requests over the frontend's routes, then a steady trickle
// until SIGINT or SIGTERM. Shows progress on a terminal and closes with a summary.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "demo/common/http_client.h"
#include "demo/load/load_plan.h"
#include "demo/load/load_report.h"

namespace demo {
namespace {

using Clock = std::chrono::steady_clock;

// The trickle follows the mix over this many requests.
constexpr int kTrickleDraws = 30;

constexpr char kLoadUsage[] =
    "usage: hotspan_demo_load [--target HOST:PORT] [--requests N] [--concurrency N]\n"
    "         [--heavy-limit N] [--mix ROUTE=WEIGHT,...] [--trickle MILLI] [--seed N]\n"
    "         [--once] [--json]\n"
    "Sends N requests (150), so many at a time (15), then MILLI requests per 1000 seconds (1000)\n"
    "until it is stopped; --once ends after the burst. Routes: home, order, users, checkout,\n"
    "prices, report; of order, users and checkout at most --heavy-limit (2) run at once. --json\n"
    "prints the summary of the burst as one JSON line. Exit code 1: a request failed.\n";

struct Options {
  Address target{.host = "127.0.0.1", .port = 8080};
  int requests = 150;
  int concurrency = 15;
  int heavy_limit = 2;
  int trickle_milli = 1000;
  std::uint64_t seed = 1;
  bool once = false;
  bool json = false;
  Mix mix = DefaultMix();
};

template <typename T>
bool SetNumber(const std::string& text, std::int64_t low, std::int64_t high, T* number) {
  const std::optional<std::int64_t> parsed = ParseNumber(text, low, high);
  if (parsed) *number = static_cast<T>(*parsed);
  return parsed.has_value();
}

bool Apply(const std::string& flag, const std::string& value, Options* options) {
  if (flag == "--requests") return SetNumber(value, 0, 1'000'000, &options->requests);
  if (flag == "--concurrency") return SetNumber(value, 1, 200, &options->concurrency);
  if (flag == "--heavy-limit") return SetNumber(value, 1, 200, &options->heavy_limit);
  if (flag == "--trickle") return SetNumber(value, 0, 100'000, &options->trickle_milli);
  if (flag == "--seed") return SetNumber(value, 0, 1'000'000'000, &options->seed);
  if (flag == "--target") {
    const std::optional<Address> address = ParseAddress(value);
    if (address) options->target = *address;
    return address.has_value();
  }
  if (flag == "--mix") {
    const std::optional<Mix> mix = ParseMix(value);
    if (mix) options->mix = *mix;
    return mix.has_value();
  }
  return false;
}

std::optional<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--once") {
      options.once = true;
    } else if (arguments[i] == "--json") {
      options.json = true;
    } else if (i + 1 == arguments.size() || !Apply(arguments[i], arguments[i + 1], &options)) {
      std::fprintf(stderr, "bad or unknown argument: %s\n%s", arguments[i].c_str(), kLoadUsage);
      return std::nullopt;
    } else {
      ++i;
    }
  }
  return options;
}

class LoadRun {
 public:
  explicit LoadRun(const Options& options)
      : options_(options), plan_(options.mix, options.seed), queue_(options.heavy_limit) {}

  int Run() {
    queue_.Add(plan_.Next(options_.requests));
    for (int i = 0; i < options_.concurrency; ++i) workers_.emplace_back([this] { Work(); });
    const bool complete = Watch();
    if (complete) Summarize();
    const bool clean = report_.Failed() == 0;
    if (complete && !options_.once) Trickle();
    queue_.Close();
    for (std::thread& worker : workers_) worker.join();
    if (!complete || !options_.once) std::fputs(report_.Text(Seconds()).c_str(), stderr);
    return clean ? 0 : 1;
  }

 private:
  void Work() {
    while (const std::optional<PlannedRequest> request = queue_.Take()) {
      const Clock::time_point begin = Clock::now();
      const Response answer = Fetch(options_.target, {.target = request->target});
      const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
      const bool ok = answer.status == request->expected_status;
      report_.Add(request->route, took.count(), ok,
                  "status " + std::to_string(answer.status) + ", " + answer.body.substr(0, 200));
      queue_.Done(*request);
    }
  }

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  // Shows progress until the burst is over; false where a signal ends it before.
  bool Watch() const {
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const std::uint64_t requests = static_cast<std::uint64_t>(options_.requests);
    bool stopped = false;
    while (!stopped && report_.Ok() + report_.Failed() < requests) {
      if (terminal) Progress();
      stopped = Ended(std::chrono::milliseconds(100));
    }
    if (terminal) {
      Progress();
      std::fputc('\n', stderr);
    }
    return !stopped;
  }

  void Progress() const {
    constexpr int kWidth = 30;
    const std::uint64_t ok = report_.Ok();
    const std::uint64_t failed = report_.Failed();
    const int done = static_cast<int>(ok + failed);
    const int bar = options_.requests == 0 ? kWidth : kWidth * done / options_.requests;
    std::fprintf(stderr, "\r[%-*s] %d/%d requests, %llu failed, %.0f s ", kWidth,
                 std::string(static_cast<std::size_t>(bar), '#').c_str(), done, options_.requests,
                 static_cast<unsigned long long>(failed), Seconds());
  }

  void Summarize() const {
    std::fputs(report_.Text(Seconds()).c_str(), stderr);
    if (!options_.json) return;
    std::printf("%s\n", report_.Json(Seconds()).c_str());
    std::fflush(stdout);
  }

  // Adds one request at a time; none while the services cannot keep up.
  void Trickle() {
    if (options_.trickle_milli == 0) {
      while (!Ended(std::chrono::hours(1))) continue;
      return;
    }
    const std::chrono::milliseconds pause(1'000'000 / options_.trickle_milli);
    std::vector<PlannedRequest> drawn;
    while (!Ended(pause)) {
      if (queue_.Waiting() >= static_cast<std::size_t>(options_.concurrency)) continue;
      if (drawn.empty()) {
        drawn = plan_.Next(kTrickleDraws);
        std::reverse(drawn.begin(), drawn.end());
      }
      std::vector<PlannedRequest> next{std::move(drawn.back())};
      drawn.pop_back();
      // The reader of the prices goes with the request that keeps it waiting.
      if (next[0].route == "prices-refresh" && !drawn.empty()) {
        next.push_back(std::move(drawn.back()));
        drawn.pop_back();
      }
      queue_.Add(std::move(next));
    }
  }

  // Waits so long for SIGINT or SIGTERM, which are blocked in all threads.
  static bool Ended(std::chrono::milliseconds pause) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    const timespec timeout{.tv_sec = pause.count() / 1000,
                           .tv_nsec = pause.count() % 1000 * 1'000'000};
    return sigtimedwait(&ending, nullptr, &timeout) > 0;
  }

  const Options options_;
  const Clock::time_point begin_ = Clock::now();
  LoadPlan plan_;
  LoadQueue queue_;
  LoadReport report_;
  std::vector<std::thread> workers_;
};

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  const std::optional<demo::Options> options =
      demo::ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) return 2;
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return demo::LoadRun(*options).Run();
}
