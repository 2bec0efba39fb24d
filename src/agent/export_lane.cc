#include "agent/export_lane.h"

#include <algorithm>
#include <utility>

#include "agent/log_line.h"
#include "agent/otlp_encode.h"
#include "agent/time_now.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

constexpr int kDoublingsMax = 16;
// A server that asks for more is asked again after this.
constexpr std::int64_t kRetryAfterSecondsMax = 300;

bool IsRetryable(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

ExportLane::ExportLane(LaneOptions options, HttpUrl url,
                       const std::atomic<std::int64_t>* cut_off_ns,
                       std::atomic<std::uint64_t>* sent, std::atomic<std::uint64_t>* dropped,
                       bool* outage_told)
    : options_(std::move(options)),
      headers_(options_.headers),
      client_(std::move(url), cut_off_ns),
      sent_(sent),
      dropped_(dropped),
      outage_told_(outage_told) {
  headers_.emplace_back("Content-Type", "application/x-protobuf");
  headers_.emplace_back("User-Agent", "libhotspan/" HOTSPAN_AGENT_VERSION);
  if (options_.gzip) headers_.emplace_back("Content-Encoding", "gzip");
  random_.Seed();
}

void ExportLane::Add(const std::string& request, std::uint64_t items, std::uint64_t units) {
  std::string body = options_.gzip ? Gzip(request) : request;
  if (body.empty() || body.size() > limits::kAgentPendingBytesMax) {
    dropped_->fetch_add(items);
    return;
  }
  pending_bytes_ += body.size();
  pending_.push_back({std::move(body), items, units});
  while (pending_.size() > limits::kAgentPendingBatchesMax ||
         pending_bytes_ > limits::kAgentPendingBytesMax) {
    DropOldest();
  }
}

ExportLane::Outcome ExportLane::Send(bool now) {
  if (!now && SteadyNs() < next_attempt_ns_) {
    return pending_.empty() ? Outcome::kEmpty : Outcome::kWaiting;
  }
  while (!pending_.empty()) {
    const HttpResponse response =
        client_.Post(headers_, pending_.front().body, options_.timeout_ms);
    if (response.status == 0 || IsRetryable(response.status)) {
      BackOff(response);
      return response.connected ? Outcome::kWaiting : Outcome::kNoServer;
    }
    failures_ = 0;
    next_attempt_ns_ = 0;
    if (std::exchange(*outage_told_, false)) LogLine("the server answers again");
    CountAnswer(pending_.front(), response);
    pending_bytes_ -= pending_.front().body.size();
    pending_.pop_front();
  }
  return Outcome::kEmpty;
}

void ExportLane::DropAll() {
  while (!pending_.empty()) DropOldest();
}

void ExportLane::DropOldest() {
  dropped_->fetch_add(pending_.front().items);
  pending_bytes_ -= pending_.front().body.size();
  pending_.pop_front();
}

void ExportLane::CountAnswer(const Batch& batch, const HttpResponse& response) {
  std::uint64_t lost = batch.items;
  std::string cause = "status " + std::to_string(response.status);
  if (IsSuccess(response.status)) {
    const PartialSuccess partial = DecodePartialSuccess(response.body);
    const std::uint64_t rejected = std::min(partial.rejected, batch.units);
    lost = batch.units == 0 ? 0 : batch.items * rejected / batch.units;
    cause = std::to_string(rejected) + " rejected: " + partial.message;
  }
  sent_->fetch_add(batch.items - lost);
  if (lost == 0) return;
  dropped_->fetch_add(lost);
  if (std::exchange(told_status_, response.status) != response.status) {
    LogLine("the server does not take " + std::string(options_.signal) + " at " +
            client_.url().authority + client_.url().path + ": " + cause);
  }
}

void ExportLane::BackOff(const HttpResponse& response) {
  const int doublings = std::min(failures_++, kDoublingsMax);
  const std::int64_t longest =
      std::min<std::int64_t>(std::int64_t{options_.back_off_min_ms} << doublings,
                             options_.back_off_max_ms) *
      kNsPerMs;
  // Between half and all of it, so that many programs do not come back in one moment.
  const auto half = static_cast<std::uint64_t>(longest / 2 + 1);
  std::int64_t wait = longest - static_cast<std::int64_t>(random_.Next() % half);
  if (const auto seconds = ParseRetryAfter(response.retry_after, RealtimeNs())) {
    wait = std::max(wait, std::min(*seconds, kRetryAfterSecondsMax) * kNsPerSecond);
  }
  next_attempt_ns_ = SteadyNs() + wait;
  TellOutage(response.status == 0 ? response.error : "status " + std::to_string(response.status));
}

void ExportLane::TellOutage(std::string_view cause) {
  if (std::exchange(*outage_told_, true)) return;
  LogLine("cannot send " + std::string(options_.signal) + " to " + client_.url().authority + ": " +
          std::string(cause) + "; tries again, drops what does not fit its queue");
}

}  // namespace hotspan::agent
