#include "cli/load_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "cli/load_profile.h"

namespace hotspan::cli {
namespace {

constexpr std::size_t kServices = 50;
constexpr std::size_t kTracedServices = 20;
constexpr std::size_t kOperations = 10;
constexpr std::size_t kSpansPerTrace = 12;
constexpr std::uint64_t kBatchSpans = 512;
constexpr std::uint64_t kSamplesPerMessage = 4000;
constexpr std::size_t kRecentSpansMax = 4096;

void AddText(protozero::pbf_writer& attributes, std::uint32_t field, std::string_view key,
             std::string_view text) {
  std::string value;
  protozero::pbf_writer(value).add_string(1, text.data(), text.size());
  std::string pair;
  protozero::pbf_writer writer(pair);
  writer.add_string(1, key.data(), key.size());
  writer.add_message(2, value);
  attributes.add_message(field, pair);
}

}  // namespace

std::uint64_t LoadRandom::Next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

LoadZipf::LoadZipf(std::size_t size) : sums_(size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += 1.0 / static_cast<double>(i + 1);
    sums_[i] = sum;
  }
}

std::size_t LoadZipf::Draw(LoadRandom& random) const {
  const double at = random.Unit() * sums_.back();
  const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
  return std::min(static_cast<std::size_t>(found - sums_.begin()), sums_.size() - 1);
}

LoadData::LoadData(const LoadShape& shape)
    : shape_(shape),
      random_(shape.seed),
      service_zipf_(kTracedServices),
      operation_zipf_(kOperations),
      value_zipf_(10'000),
      services_(kServices) {
  for (std::size_t i = 0; i < services_.size(); ++i) {
    services_[i].name = fmt::format("shop-service-{:02}", i);
  }
}

TraceId LoadData::NewTraceId() {
  const std::uint64_t words[2] = {random_.Next(), random_.Next() | 1};
  return TraceId::FromBytes({reinterpret_cast<const char*>(words), 16});
}

SpanId LoadData::NewSpanId() {
  const std::uint64_t word = random_.Next() | 1;
  return SpanId::FromBytes({reinterpret_cast<const char*>(&word), 8});
}

// Where the data are in time: spans lead, samples follow.
std::int64_t LoadData::NowNs() const {
  const double done = shape_.spans > 0
                          ? static_cast<double>(spans_made_) / static_cast<double>(shape_.spans)
                          : static_cast<double>(samples_made_) /
                                static_cast<double>(std::max<std::uint64_t>(shape_.samples, 1));
  return shape_.begin_ns +
         static_cast<std::int64_t>(std::min(done, 1.0) *
                                   static_cast<double>(shape_.end_ns - shape_.begin_ns));
}

void LoadData::AppendAttributes(std::string& span) {
  protozero::pbf_writer writer(span);
  for (unsigned key = 0; key < 6; ++key) {
    AddText(writer, 9, fmt::format("shop.small_{}", key),
            fmt::format("value-{}", random_.Below(100)));
  }
  for (unsigned key = 0; key < 3; ++key) {
    AddText(writer, 9, fmt::format("shop.wide_{}", key),
            fmt::format("value-{}", value_zipf_.Draw(random_)));
  }
  std::string value;
  protozero::pbf_writer(value).add_int64(3, static_cast<std::int64_t>(random_.Below(100'000)));
  std::string pair;
  protozero::pbf_writer number(pair);
  number.add_string(1, "shop.number");
  number.add_message(2, value);
  writer.add_message(9, pair);
  if (random_.Below(1000) == 0) {
    AddText(writer, 9, "shop.needle", fmt::format("{:016x}", random_.Next()));
  }
}

void LoadData::AddSpan(Service& service, const TraceId& trace, const SpanId& span,
                       const SpanId& parent, std::int64_t start_ns, std::int64_t duration_ns,
                       std::size_t depth) {
  std::string bytes;
  {
    protozero::pbf_writer writer(bytes);
    const std::string name = fmt::format("operation-{}", operation_zipf_.Draw(random_));
    writer.add_bytes(1, trace.AsBytes().data(), 16);
    writer.add_bytes(2, span.AsBytes().data(), 8);
    if (!parent.IsZero()) writer.add_bytes(4, parent.AsBytes().data(), 8);
    writer.add_string(5, name);
    writer.add_enum(6, depth == 0 ? 2 : 1 + static_cast<int>(random_.Below(3)));
    writer.add_fixed64(7, static_cast<std::uint64_t>(start_ns));
    writer.add_fixed64(8, static_cast<std::uint64_t>(start_ns + duration_ns));
    if (random_.Below(100) == 0) {
      std::string status;
      protozero::pbf_writer(status).add_enum(3, 2);
      writer.add_message(15, status);
    }
  }
  AppendAttributes(bytes);
  protozero::pbf_writer(service.spans).add_message(2, bytes);
  service.recent.push_back({trace, span, start_ns, duration_ns});
  if (service.recent.size() > kRecentSpansMax) service.recent.pop_front();
  if (++service.waiting >= kBatchSpans) Flush(service);
}

void LoadData::AddTrace() {
  const TraceId trace = NewTraceId();
  const std::size_t services = 1 + random_.Below(6);
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < services; ++i) members.push_back(service_zipf_.Draw(random_));
  struct Made {
    SpanId id;
    std::int64_t start_ns;
    std::int64_t duration_ns;
    std::size_t depth;
  };
  std::vector<Made> made;
  for (std::size_t i = 0; i < kSpansPerTrace && spans_made_ < shape_.spans; ++i) {
    Made span{NewSpanId(), NowNs(), 0, 0};
    SpanId parent;
    if (i == 0) {
      // A long tail: most are short, a few take seconds.
      span.duration_ns = static_cast<std::int64_t>(2e6 * std::exp(random_.Unit() * 6));
    } else {
      const Made& above = made[random_.Below(made.size())];
      parent = above.id;
      span.depth = above.depth + 1;
      span.duration_ns = std::max<std::int64_t>(
          1000, static_cast<std::int64_t>(static_cast<double>(above.duration_ns) *
                                          (0.1 + 0.6 * random_.Unit())));
      span.start_ns =
          above.start_ns + static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(
                               std::max<std::int64_t>(1, above.duration_ns - span.duration_ns))));
    }
    AddSpan(services_[members[i % members.size()]], trace, span.id, parent, span.start_ns,
            span.duration_ns, span.depth);
    made.push_back(span);
    ++spans_made_;
  }
}

void LoadData::Flush(Service& service) {
  if (service.waiting == 0) return;
  std::string scope;
  protozero::pbf_writer(scope).add_string(1, "shop");
  std::string scope_spans;
  protozero::pbf_writer(scope_spans).add_message(1, scope);
  scope_spans += service.spans;
  LoadMessage message;
  message.items = service.waiting;
  std::string resource_spans = EncodeLoadResource(service.name);
  protozero::pbf_writer(resource_spans).add_message(2, scope_spans);
  protozero::pbf_writer(message.bytes).add_message(1, resource_spans);
  ready_.push_back(std::move(message));
  service.spans.clear();
  service.waiting = 0;
}

void LoadData::AddProfile() {
  // Services profile in turn, the busy ones more often.
  const std::size_t index =
      profile_turn_++ % 3 == 0 ? random_.Below(kTracedServices) : service_zipf_.Draw(random_);
  Service& service = services_[index];
  LoadProfile profile(index, NowNs());
  const std::uint64_t count = std::min(kSamplesPerMessage, shape_.samples - samples_made_);
  for (std::uint64_t done = 0; done < count;) {
    // A run of samples of one span, or of none.
    const std::uint64_t run = std::min<std::uint64_t>(4 + random_.Below(9), count - done);
    const bool linked = !service.recent.empty() && random_.Below(10) < 3;
    LoadLink link;
    if (linked) {
      const LinkedSpan& span = service.recent[random_.Below(service.recent.size())];
      link = {span.trace_id, span.span_id, span.start_ns,
              std::max<std::int64_t>(1, span.duration_ns)};
    }
    for (std::uint64_t i = 0; i < run; ++i) profile.AddSample(random_, linked ? &link : nullptr);
    done += run;
  }
  samples_made_ += count;
  LoadMessage message;
  message.profile = true;
  message.items = count;
  message.bytes = profile.Finish(service.name);
  ready_.push_back(std::move(message));
}

bool LoadData::Next(LoadMessage& out) {
  while (ready_.empty()) {
    const bool more_spans = spans_made_ < shape_.spans;
    const bool more_samples = samples_made_ < shape_.samples;
    // Keep both at the same part of their way.
    const bool samples_behind =
        more_samples &&
        (!more_spans || static_cast<double>(samples_made_) * static_cast<double>(shape_.spans) <
                            static_cast<double>(spans_made_) * static_cast<double>(shape_.samples));
    if (samples_behind) {
      AddProfile();
    } else if (more_spans) {
      AddTrace();
    } else if (!flushed_) {
      flushed_ = true;
      for (Service& service : services_) Flush(service);
    } else {
      return false;
    }
  }
  out = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

}  // namespace hotspan::cli
