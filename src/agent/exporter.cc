#include "agent/exporter.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/otlp_encode.h"
#include "agent/profile_encoder.h"
#include "agent/time_now.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

// Linux shows fifteen characters.
constexpr char kThreadName[] = "hotspan-export";

LaneOptions MakeLaneOptions(const ExporterOptions& options, std::string_view signal) {
  return {.signal = signal,
          .headers = options.headers,
          .gzip = options.gzip,
          .timeout_ms = options.timeout_ms,
          .back_off_min_ms = options.back_off_min_ms,
          .back_off_max_ms = options.back_off_max_ms};
}

bool Has(const ProfileChunk& chunk, SampleKind kind) {
  return std::ranges::any_of(chunk.samples,
                             [&](const CollectedSample& s) { return s.kind == kind; });
}

}  // namespace

Exporter::Exporter(ExporterOptions options, SpanQueue* queue, AgentStats* stats)
    : options_(std::move(options)),
      queue_(queue),
      stats_(stats),
      spans_(MakeLaneOptions(options_, "spans"), options_.traces_url, &cut_off_ns_,
             &stats->spans_sent, &stats->spans_dropped, &outage_told_),
      profiles_(MakeLaneOptions(options_, "profiles"), options_.profiles_url, &cut_off_ns_,
                &stats->samples_sent, &stats->samples_dropped, &outage_told_) {}

Exporter::~Exporter() {
  Stop(0);
  if (wake_fd_ >= 0) ::close(wake_fd_);
}

bool Exporter::Start() {
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return false;
  // The thread begins with all signals blocked: the program's handlers never run on it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  has_thread_ = ::pthread_create(&thread_, nullptr, &ThreadMain, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return has_thread_;
}

void Exporter::Wake() {
  const std::uint64_t one = 1;
  // Fails only when it is due to wake anyway.
  [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof(one));
}

bool Exporter::Flush(int timeout_ms) {
  const std::uint64_t number = flushes_asked_.fetch_add(1) + 1;
  Wake();
  const std::int64_t deadline = SteadyNs() + timeout_ms * kNsPerMs;
  const MutexLock lock(mutex_);
  while (flushes_done_ < number && !ended_) {
    const std::int64_t left = deadline - SteadyNs();
    if (left <= 0) return false;
    flushed_.WaitFor(mutex_, std::chrono::nanoseconds(left));
  }
  return flushes_done_ >= number && last_flush_ok_;
}

void Exporter::Stop(int limit_ms) {
  if (!std::exchange(has_thread_, false)) return;
  cut_off_ns_.store(SteadyNs() + limit_ms * kNsPerMs);
  stopping_.store(true);
  Wake();
  // Ends within the limit, but for a name lookup, which nothing can interrupt.
  ::pthread_join(thread_, nullptr);
}

void* Exporter::ThreadMain(void* exporter) {
  auto& self = *static_cast<Exporter*>(exporter);
  ::pthread_setname_np(::pthread_self(), kThreadName);
  if (self.options_.on_thread_start) self.options_.on_thread_start();
  self.Run();
  return nullptr;
}

void Exporter::Run() {
  const std::int64_t interval_ns = options_.interval_ms * kNsPerMs;
  std::int64_t next_gather_ns = SteadyNs() + interval_ns;
  std::uint64_t flushes_seen = 0;
  std::uint64_t flushes_open = 0;
  std::uint64_t dropped_before = 0;
  while (true) {
    const bool stopping = stopping_.load();
    const std::uint64_t asked = flushes_asked_.load();
    const bool new_flush = asked != flushes_seen;
    GatherSpans();
    if (new_flush || stopping || SteadyNs() >= next_gather_ns) {
      next_gather_ns = SteadyNs() + interval_ns;
      GatherProfiles();
    }
    // What was lost before it could be encoded does not make the flush a failure.
    if (new_flush && flushes_open == 0) dropped_before = Dropped();
    if (new_flush) flushes_open = flushes_seen = asked;
    const bool settled = Send(new_flush || stopping);
    if (flushes_open != 0 && settled) {
      const bool all_sent = spans_.empty() && profiles_.empty() && Dropped() == dropped_before;
      FinishFlush(std::exchange(flushes_open, 0), all_sent);
    }
    if (stopping && (settled || SteadyNs() >= cut_off_ns_.load())) break;
    WaitUntil(std::min(NextRoundNs(next_gather_ns), cut_off_ns_.load()));
  }
  spans_.DropAll();
  profiles_.DropAll();
  const MutexLock lock(mutex_);
  ended_ = true;
  flushed_.NotifyAll();
}

bool Exporter::Send(bool now) {
  const ExportLane::Outcome spans = spans_.Send(now);
  const ExportLane::Outcome profiles = profiles_.Send(now);
  return spans != ExportLane::Outcome::kWaiting && profiles != ExportLane::Outcome::kWaiting;
}

void Exporter::GatherSpans() {
  const std::vector<std::unique_ptr<SpanRecord>> all = queue_->TakeAll();
  // After the spans: what they waited for came before their end.
  lock_events_.AddTo(all);
  std::span<const std::unique_ptr<SpanRecord>> left(all);
  while (!left.empty()) {
    const auto batch = left.first(std::min(left.size(), limits::kAgentSpansPerBatch));
    spans_.Add(EncodeSpans(options_.resource, batch), batch.size(), batch.size());
    left = left.subspan(batch.size());
  }
}

void Exporter::GatherProfiles() {
  if (!options_.profiles) return;
  const ProfileChunk chunk = options_.profiles();
  stats_->samples_taken.fetch_add(chunk.samples.size() + chunk.dropped);
  stats_->samples_dropped.fetch_add(chunk.dropped);
  if (chunk.samples.empty()) return;
  std::uint64_t profile_count = 0;
  for (const SampleKind kind : kSampleKinds) {
    if (Has(chunk, kind)) profile_count += ProfileEncoder::ProfilesOf(kind);
  }
  profiles_.Add(EncodeProfiles(options_.resource, chunk, &ThreadNameFromProc), chunk.samples.size(),
                profile_count);
}

void Exporter::WaitUntil(std::int64_t steady_ns) const {
  const std::int64_t left = steady_ns - SteadyNs();
  if (left <= 0) return;
  pollfd wait{wake_fd_, POLLIN, 0};
  const std::int64_t left_ms = std::min<std::int64_t>(left / kNsPerMs + 1, 60'000);
  if (::poll(&wait, 1, static_cast<int>(left_ms)) > 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_fd_, &count, sizeof(count));
  }
}

std::int64_t Exporter::NextRoundNs(std::int64_t next_gather_ns) const {
  std::int64_t next = next_gather_ns;
  if (!spans_.empty()) next = std::min(next, spans_.next_attempt_ns());
  if (!profiles_.empty()) next = std::min(next, profiles_.next_attempt_ns());
  return next;
}

void Exporter::FinishFlush(std::uint64_t number, bool success) {
  const MutexLock lock(mutex_);
  flushes_done_ = number;
  last_flush_ok_ = success;
  flushed_.NotifyAll();
}

std::uint64_t Exporter::Dropped() const {
  return stats_->spans_dropped.load() + stats_->samples_dropped.load();
}

}  // namespace hotspan::agent
