#include "wire/sample_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/bytes.h"
#include "base/limits.h"

namespace hotspan::wire {
namespace {

constexpr std::size_t kTypePartBytesMax = 128;
constexpr std::size_t kBuildIdDigitsMax = 128;

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

std::string_view SeriesName(const SampleTypeNames& names, std::string_view contention_name) {
  const std::string_view type = names.type;
  if (type == "cpu" || (type == "samples" && names.period_type == "cpu")) return "process_cpu";
  if (type == "contentions" || type == "delay") return contention_name;
  if (type.starts_with("alloc_") || type.starts_with("inuse_")) return "memory";
  return type;
}

// A part of a series type: colons part the parts, so a name can't have one.
void AppendPart(std::string& out, std::string_view part) {
  const std::size_t begin = out.size();
  out.append(part.substr(0, kTypePartBytesMax));
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), ':', '_');
}

std::string_view WithoutContextPrefix(std::string_view key) {
  constexpr std::string_view kPrefix = "process.context.label.";
  return key.starts_with(kPrefix) ? key.substr(kPrefix.size()) : key;
}

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsThreadId(std::string_view key) {
  return IsOneOf(key, {"thread.id", "thread_id", "thread id", "tid"});
}
bool IsThreadName(std::string_view key) {
  return IsOneOf(key, {"thread.name", "thread_name", "thread name", "thread"});
}

}  // namespace

std::string_view NormaliseUnit(std::string_view unit) {
  if (unit == "ns") return "nanoseconds";
  if (unit == "us" || unit == "\xc2\xb5s" || unit == "\xce\xbcs") return "microseconds";
  if (unit == "ms") return "milliseconds";
  if (unit == "s") return "seconds";
  if (unit == "By") return "bytes";
  return unit;
}

SeriesType NameSeries(const SampleTypeNames& sent, std::int64_t period, bool has_cpu_time,
                      std::string_view contention_name) {
  SampleTypeNames names{sent.type, NormaliseUnit(sent.unit), sent.period_type,
                        NormaliseUnit(sent.period_unit)};
  SeriesType series;
  const bool cpu_counts = names.type == "samples" && names.unit == "count" &&
                          names.period_type == "cpu" && names.period_unit == "nanoseconds";
  if (cpu_counts && period > 0 && !has_cpu_time) {
    series.times_period = true;
    names.type = "cpu";
    names.unit = "nanoseconds";
  }
  // async-profiler names its CPU profiles after the timer that takes the samples.
  if (IsOneOf(names.type, {"itimer", "ctimer"}) && names.unit == "nanoseconds") {
    names = {"cpu", "nanoseconds", "cpu", "nanoseconds"};
  }
  if (names.type == "cpu" && names.unit == "nanoseconds" && names.period_type.empty()) {
    names.period_type = "cpu";
    names.period_unit = "nanoseconds";
  }
  if (names.type == "off_cpu") names = {"off_cpu", names.unit, "", ""};
  AppendPart(series.text, SeriesName(names, contention_name));
  for (const std::string_view part :
       {names.type, names.unit, names.period_type, names.period_unit}) {
    series.text += ':';
    AppendPart(series.text, part);
  }
  return series;
}

void SampleLabels::Clear() {
  packed_.clear();
  link_ = LinkRow{};
}

void SampleLabels::AddText(std::string_view key, std::string_view text) {
  const std::string_view name = WithoutContextPrefix(key);
  if (name == "span_id" || name == "profile_id") {
    if (const auto id = SpanId::FromHex(text); id && text.size() == 16) {
      link_.span_id = *id;
      link_.kind = name == "span_id" ? LinkKind::kSpan : LinkKind::kLocalRoot;
      return;
    }
  }
  if (name == "trace_id") {
    if (const auto id = TraceId::FromHex(text); id && text.size() == 32) {
      link_.trace_id = *id;
      return;
    }
  }
  AttributeWriter writer(packed_);
  const auto number = IsThreadId(key) ? WholeNumber(text) : std::nullopt;
  if (number) {
    writer.Add("thread.id", Value::Int(*number));
  } else {
    writer.Add(IsThreadName(key) ? "thread.name" : key, Value::String(text));
  }
}

void SampleLabels::AddInt(std::string_view key, std::int64_t number) {
  AttributeWriter(packed_).Add(IsThreadId(key) ? "thread.id" : key, Value::Int(number));
}

std::uint32_t SampleBuilder::Link(const LinkRow& link) {
  if (link.span_id.IsZero()) return 0;
  std::string key(link.trace_id.AsBytes());
  key += link.span_id.AsBytes();
  key += static_cast<char>(link.kind);
  const auto [it, added] =
      links_.try_emplace(std::move(key), static_cast<std::uint32_t>(batch_.links.size()));
  if (added) batch_.links.push_back(link);
  return it->second;
}

std::uint32_t SampleBuilder::Labels(std::string_view packed) {
  if (packed.empty()) return 0;
  const auto [it, added] = labels_.try_emplace(
      std::string(packed), static_cast<std::uint32_t>(batch_.label_sets.size()));
  if (added) batch_.label_sets.push_back(batch_.Add(packed));
  return it->second;
}

void SampleBuilder::BeginStack() {
  stack_begin_ = batch_.stack_locations.size();
  cut_ = false;
}

void SampleBuilder::PushLocation(std::uint32_t location) {
  const std::size_t depth = batch_.stack_locations.size() - stack_begin_;
  if (depth < limits::kStackDepthMax) [[likely]] {
    batch_.stack_locations.push_back(location);
    return;
  }
  if (cut_) return;
  cut_ = true;
  ++counts_.truncated;
  const std::uint32_t marker = CutMarker();
  batch_.stack_locations.back() = marker;
}

std::uint32_t SampleBuilder::EndStack() {
  StackRow row;
  row.first_location = static_cast<std::uint32_t>(stack_begin_);
  row.location_count = static_cast<std::uint32_t>(batch_.stack_locations.size() - stack_begin_);
  batch_.stacks.push_back(row);
  return static_cast<std::uint32_t>(batch_.stacks.size() - 1);
}

// A frame that stands for all that was cut at the root.
std::uint32_t SampleBuilder::CutMarker() {
  if (cut_marker_ != UINT32_MAX) return cut_marker_;
  FunctionRow function;
  function.name = batch_.Add("[stack cut]");
  batch_.functions.push_back(function);
  LineRow line;
  line.function = static_cast<std::uint32_t>(batch_.functions.size() - 1);
  batch_.lines.push_back(line);
  LocationRow location;
  location.first_line = static_cast<std::uint32_t>(batch_.lines.size() - 1);
  location.line_count = 1;
  batch_.locations.push_back(location);
  cut_marker_ = static_cast<std::uint32_t>(batch_.locations.size() - 1);
  return cut_marker_;
}

Status SampleBuilder::AddSample(const SampleRow& row) {
  if (row.value <= 0) {
    if (row.value < 0) ++counts_.dropped;
    return {};
  }
  if (batch_.samples.size() >= limits::kSamplesPerMessageMax) {
    return Fail(Code::kResourceExhausted, "message has more samples than the limit of " +
                                              std::to_string(limits::kSamplesPerMessageMax));
  }
  batch_.samples.push_back(row);
  return {};
}

Status SampleBuilder::CheckSize() const {
  const std::size_t tables[] = {batch_.functions.size(), batch_.mappings.size(),
                                batch_.lines.size(),     batch_.locations.size(),
                                batch_.stacks.size(),    batch_.links.size()};
  if (*std::max_element(std::begin(tables), std::end(tables)) > limits::kProfileTableEntriesMax) {
    return Fail(Code::kResourceExhausted, "a table has more entries than the limit of " +
                                              std::to_string(limits::kProfileTableEntriesMax));
  }
  if (batch_.stack_locations.size() > limits::kStackLocationsPerMessageMax) {
    return Fail(Code::kResourceExhausted, "stacks have more frames together than the limit of " +
                                              std::to_string(limits::kStackLocationsPerMessageMax));
  }
  if (batch_.arena.size() > limits::kProfileArenaBytesMax) {
    return Fail(Code::kResourceExhausted, "text and attributes take more than the limit of " +
                                              std::to_string(limits::kProfileArenaBytesMax) +
                                              " bytes");
  }
  return {};
}

std::uint64_t ToFileOffset(const MappingRow& mapping, std::uint64_t address) {
  if (mapping.build_id.size == 0 || mapping.start == 0 || address < mapping.start) return address;
  if (mapping.limit > mapping.start && address >= mapping.limit) return address;
  return address - mapping.start + mapping.offset;
}

bool IsHexBuildId(std::string_view text) {
  return !text.empty() && text.size() % 2 == 0 && text.size() <= kBuildIdDigitsMax &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

}  // namespace hotspan::wire
