// bench-load: sends generated data and reports rates and the time of acknowledgements.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "cli/cli.h"
#include "cli/load_data.h"
#include "cli/verbs.h"

namespace hotspan::cli {
namespace {

constexpr std::size_t kSenders = 4;
constexpr std::size_t kQueueMax = 16;
constexpr std::size_t kRetriesMax = 100;

// Sends messages of one generator from a few threads, over a short queue.
class Senders {
 public:
  struct Totals {
    std::uint64_t spans = 0;
    std::uint64_t samples = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t retries = 0;
    std::string error;  // of the first message that failed for good
    bool unreachable = false;
    std::vector<std::int64_t> took_ns;
  };

  explicit Senders(Api& api) : api_(api) {
    for (std::size_t i = 0; i < kSenders; ++i) threads_.emplace_back([this] { Run(); });
  }

  // Waits for room; false once a message has failed.
  bool Push(LoadMessage message) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (queue_.size() >= kQueueMax && totals_.error.empty()) changed_.Wait(mutex_);
    if (!totals_.error.empty()) return false;
    queue_.push_back(std::move(message));
    changed_.NotifyAll();
    return true;
  }

  Totals Finish() EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
    const MutexLock lock(mutex_);
    return std::move(totals_);
  }

 private:
  void Run() EXCLUDES(mutex_) {
    for (;;) {
      LoadMessage message;
      {
        const MutexLock lock(mutex_);
        while (queue_.empty() && !closed_ && totals_.error.empty()) changed_.Wait(mutex_);
        if (queue_.empty() || !totals_.error.empty()) return;
        message = std::move(queue_.front());
        queue_.pop_front();
      }
      changed_.NotifyAll();
      Send(std::move(message));
    }
  }

  void Send(LoadMessage message) EXCLUDES(mutex_) {
    struct Call call;
    call.method = "POST";
    call.target = message.profile ? "/v1development/profiles" : "/v1/traces";
    call.content_type = "application/x-protobuf";
    call.body = std::move(message.bytes);
    std::size_t retries = 0;
    for (;;) {
      const std::int64_t begin = MonotonicNs();
      const auto reply = api_.Call(call);
      const bool busy = reply && (reply->status == 429 || reply->status == 503);
      if (busy && ++retries < kRetriesMax) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      const MutexLock lock(mutex_);
      totals_.retries += retries;
      if (!reply || reply->status != 200) {
        totals_.unreachable = !reply;
        totals_.error = reply ? fmt::format("status {} on {}", reply->status, call.target)
                              : reply.error().message();
        changed_.NotifyAll();
        return;
      }
      totals_.took_ns.push_back(MonotonicNs() - begin);
      (message.profile ? totals_.samples : totals_.spans) += message.items;
      totals_.messages += 1;
      totals_.bytes += call.body.size();
      return;
    }
  }

  Api& api_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<LoadMessage> queue_ GUARDED_BY(mutex_);
  Totals totals_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

double PercentileMs(const std::vector<std::int64_t>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[rank]) / 1e6;
}

void Report(const Context& context, Senders::Totals& totals, double seconds) {
  std::sort(totals.took_ns.begin(), totals.took_ns.end());
  const double spans_rate = static_cast<double>(totals.spans) / seconds;
  const double samples_rate = static_cast<double>(totals.samples) / seconds;
  const double p50 = PercentileMs(totals.took_ns, 0.5);
  const double p99 = PercentileMs(totals.took_ns, 0.99);
  if (context.json) {
    context.out << fmt::format(
        "{{\"spans\":{},\"samples\":{},\"messages\":{},\"bytes\":{},\"retries\":{},"
        "\"seconds\":{:.3f},\"spans_per_second\":{:.0f},\"samples_per_second\":{:.0f},"
        "\"ack_p50_ms\":{:.3f},\"ack_p99_ms\":{:.3f}}}\n",
        totals.spans, totals.samples, totals.messages, totals.bytes, totals.retries, seconds,
        spans_rate, samples_rate, p50, p99);
    return;
  }
  context.out << fmt::format(
      "{} spans and {} samples in {} messages ({:.1f} MiB), {:.1f} s: {:.0f} spans/s, {:.0f} "
      "samples/s; acknowledged in {:.1f} ms p50, {:.1f} ms p99; {} retries\n",
      totals.spans, totals.samples, totals.messages, static_cast<double>(totals.bytes) / (1 << 20),
      seconds, spans_rate, samples_rate, p50, p99, totals.retries);
}

}  // namespace

int BenchLoad(const Context& context, const BenchLoadOptions& options) {
  const std::int64_t now_ns = SystemClock().NowNs();
  LoadData data({options.spans, options.samples, options.seed,
                 now_ns - options.hours * 3'600'000'000'000, now_ns});
  const std::int64_t begin = MonotonicNs();
  Senders senders(context.api);
  LoadMessage message;
  std::uint64_t made = 0;
  std::uint64_t shown = 0;
  while (data.Next(message)) {
    made += message.items;
    if (!senders.Push(std::move(message))) break;
    const std::uint64_t percent =
        made * 100 / std::max<std::uint64_t>(1, options.spans + options.samples);
    if (context.colour && !context.json && percent != shown) {
      shown = percent;
      context.err << fmt::format("\r{} %", percent) << std::flush;
    }
    message = {};
  }
  Senders::Totals totals = senders.Finish();
  if (shown > 0) context.err << '\r';
  if (!totals.error.empty()) {
    context.err << "hotspan bench-load: " << totals.error << '\n';
    return totals.unreachable ? kExitNoServer : kExitNo;
  }
  Report(context, totals, static_cast<double>(MonotonicNs() - begin) * 1e-9);
  return kExitFine;
}

}  // namespace hotspan::cli
