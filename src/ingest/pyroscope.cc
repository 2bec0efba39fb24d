#include "ingest/pyroscope.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "base/utf8.h"
#include "ingest/multipart.h"
#include "model/attributes.h"
#include "wire/folded/folded_decoder.h"
#include "wire/inflate/inflate.h"
#include "wire/pprof/pprof_decoder.h"

namespace hotspan::ingest {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSampleRateMax = 1'000'000;
constexpr std::size_t kLabelsMax = 64;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

tl::unexpected<Error> BadParameter(std::string field, std::string message) {
  return Fail(Error(Code::kInvalidArgument, std::move(message)).Field(std::move(field)));
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool IsNameChar(char c, std::string_view extra) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         extra.find(c) != std::string_view::npos;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "10s", "5m", "1h", "2d", "1w"; months and years are Pyroscope's 30 and 365 days.
std::optional<std::int64_t> ParseAgo(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = ParseInt(text.substr(0, digits));
  if (!count) return std::nullopt;
  static constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"s", 1},         {"m", 60},         {"min", 60},         {"h", 3600},       {"d", 86400},
      {"w", 7 * 86400}, {"M", 30 * 86400}, {"mon", 30 * 86400}, {"y", 365 * 86400}};
  for (const auto& [unit, seconds] : kUnits) {
    std::int64_t ns = 0;
    if (text.substr(digits) != unit) continue;
    if (__builtin_mul_overflow(*count, seconds * kNsPerSecond, &ns)) return std::nullopt;
    return ns;
  }
  return std::nullopt;
}

std::optional<TimeNs> ParseTime(std::string_view text, TimeNs now) {
  if (text == "now") return now;
  if (const std::size_t minus = text.rfind('-'); minus != std::string_view::npos) {
    const auto ago = ParseAgo(text.substr(minus + 1));
    if (!ago) return std::nullopt;
    return TimeNs{now.ns - *ago};
  }
  const auto number = ParseInt(text);
  if (!number || *number < 0) return std::nullopt;
  std::int64_t factor = kNsPerSecond;
  if (text.size() >= 18)
    factor = 1;
  else if (text.size() >= 15)
    factor = 1'000;
  else if (text.size() >= 12)
    factor = 1'000'000;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(*number, factor, &ns)) return std::nullopt;
  return TimeNs{ns};
}

Status ParseLabel(std::string_view label, IngestQuery& out) {
  const std::size_t equals = label.find('=');
  if (equals == std::string_view::npos) {
    return BadParameter("name", "name: a label has no '='");
  }
  const std::string_view key = Trim(label.substr(0, equals));
  std::string_view value = Trim(label.substr(equals + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  for (const char c : key) {
    if (!IsNameChar(c, "_."))
      return BadParameter("name", "name: a label's name has a bad character");
  }
  if (key.empty()) return BadParameter("name", "name: a label has no name");
  if (value.size() > limits::kAttributeValueBytesMax) {
    return BadParameter("name", "name: a label's value is too long");
  }
  if (out.labels.size() == kLabelsMax) {
    return BadParameter("name", "name: more labels than the limit of 64");
  }
  out.labels.emplace_back(std::string(key), ReplaceInvalidUtf8(value));
  return {};
}

Status ParseName(std::string_view name, IngestQuery& out) {
  const std::size_t brace = std::min(name.find('{'), name.size());
  const std::string_view app = Trim(name.substr(0, brace));
  if (app.empty()) return BadParameter("name", "name: service name is required");
  if (app.size() > limits::kAttributeKeyBytesMax) {
    return BadParameter("name", "name: service name is too long");
  }
  for (const char c : app) {
    if (!IsNameChar(c, "_.-/")) {
      return BadParameter("name", "name: service name has a character that is not allowed");
    }
  }
  out.service = std::string(app);
  std::string_view rest = name.substr(brace);
  if (rest.empty()) return {};
  if (rest.back() != '}') return BadParameter("name", "name: '{' without '}'");
  rest = rest.substr(1, rest.size() - 2);
  while (!rest.empty()) {
    // A comma inside of quotes belongs to the value.
    bool quoted = false;
    std::size_t end = 0;
    while (end < rest.size() && (quoted || rest[end] != ',')) quoted ^= rest[end++] == '"';
    if (!Trim(rest.substr(0, end)).empty()) TRY(ParseLabel(rest.substr(0, end), out));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

Status TakeParameter(std::string_view key, const std::string& value, TimeNs now, IngestQuery& out) {
  if (key == "name") return ParseName(value, out);
  if (key == "from" || key == "until") {
    const auto time = ParseTime(value, now);
    if (!time) return BadParameter(std::string(key), std::string(key) + ": is no time");
    (key == "from" ? out.from : out.until) = *time;
  } else if (key == "sampleRate") {
    // As Pyroscope has it, a bad rate is the default and no error.
    const auto rate = ParseInt(value);
    if (rate && *rate >= 0 && *rate <= kSampleRateMax) out.sample_rate = *rate;
  } else if (key == "spyName" && value != "unknown") {
    out.spy = ReplaceInvalidUtf8(std::string_view(value).substr(0, 256));
  }
  return {};
}

// Pyroscope's names for what folded stacks count, by the last part of the application's name.
struct SuffixType {
  std::string_view suffix;
  std::string_view type;
};
constexpr SuffixType kSuffixTypes[] = {
    {"wall", "wall:wall:nanoseconds:cpu:nanoseconds"},
    {"inuse_objects", "memory:inuse_objects:count:space:bytes"},
    {"inuse_space", "memory:inuse_space:bytes:space:bytes"},
    {"alloc_objects", "memory:alloc_objects:count:space:bytes"},
    {"alloc_space", "memory:alloc_space:bytes:space:bytes"},
    {"goroutines", "goroutine:goroutines:count:goroutine:count"},
    {"mutex_count", "mutex:contentions:count:contentions:count"},
    {"mutex_duration", "mutex:delay:nanoseconds:contentions:count"},
    {"block_count", "block:contentions:count:contentions:count"},
    {"lock_count", "block:contentions:count:contentions:count"},
    {"block_duration", "block:delay:nanoseconds:contentions:count"},
    {"lock_duration", "block:delay:nanoseconds:contentions:count"},
    {"exceptions", "exceptions:samples:count::"},
};

wire::FoldedOptions FoldedOptionsOf(IngestQuery& query) {
  wire::FoldedOptions options;
  const std::int64_t period = query.sample_rate > 0 ? kNsPerSecond / query.sample_rate : 0;
  const std::size_t dot = query.service.rfind('.');
  const std::string_view suffix = dot == std::string::npos
                                      ? std::string_view()
                                      : std::string_view(query.service).substr(dot + 1);
  bool known = suffix == "cpu" || suffix == "itimer";
  if (period > 0) {
    options.type = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
    options.scale = period;
    options.period = period;
  }
  for (const SuffixType& entry : kSuffixTypes) {
    if (entry.suffix != suffix) continue;
    known = true;
    options.type = entry.type;
    const bool wall = suffix == "wall" && period > 0;
    options.scale = wall ? period : 1;
    options.period = wall ? period : 0;
  }
  if (known) query.service.resize(dot);
  return options;
}

wire::ProfileSource SourceOf(const IngestQuery& query, TimeNs now) {
  wire::ProfileSource source;
  source.service_name = query.service;
  AttributeWriter resource(source.resource_attributes);
  AttributeWriter series(source.series_attributes);
  for (const auto& [key, value] : query.labels) {
    if (key == "service_name" && !value.empty()) source.service_name = value;
  }
  if (source.service_name != query.service) {
    series.Add("app_name", Value::String(query.service));
  }
  resource.Add("service.name", Value::String(source.service_name));
  for (const auto& [key, value] : query.labels) {
    if (key == "service_name" || key.starts_with("__")) continue;
    series.Add(key, Value::String(value));
  }
  if (!query.spy.empty()) series.Add("pyroscope_spy", Value::String(query.spy));
  source.start = query.from.value_or(now);
  const TimeNs end = query.until.value_or(source.start);
  if (end > source.start) source.duration = end - source.start;
  return source;
}

// The uploaded profile of a form, or the body itself. `hints` receives the form's configuration.
Result<std::string_view> FindProfile(std::string_view content_type, std::string_view body,
                                     std::string_view& hints) {
  if (!IsMultipart(content_type)) return body;
  TRY_ASSIGN(const std::vector<Part> parts, ParseMultipart(content_type, body));
  std::optional<std::string_view> profile;
  for (const Part& part : parts) {
    if (part.name == "profile") profile = part.bytes;
    if (part.name == "sample_type_config") hints = part.bytes;
    if (part.name == "prev_profile" && !part.bytes.empty()) {
      return Fail(Code::kInvalidArgument,
                  "prev_profile is not supported: upgrade the profiler to one that sends deltas");
    }
    if (part.name == "jfr") {
      return Fail(Code::kInvalidArgument, "jfr is not supported; send pprof or folded stacks");
    }
  }
  if (!profile) {
    return Fail(Code::kInvalidArgument, "multipart body: there is no part named \"profile\"");
  }
  return *profile;
}

}  // namespace

std::string UnescapeUrl(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Result<IngestQuery> ParseIngestQuery(std::string_view query, TimeNs now) {
  IngestQuery out;
  if (query.size() > limits::kQueryBytesMax) {
    return Fail(Code::kInvalidArgument, "query is longer than the limit of " +
                                            std::to_string(limits::kQueryBytesMax) + " bytes");
  }
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string value = UnescapeUrl(pair.substr(std::min(equals + 1, pair.size())));
    TRY(TakeParameter(UnescapeUrl(pair.substr(0, equals)), value, now, out));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  if (out.service.empty()) return BadParameter("name", "name: service name is required");
  return out;
}

Result<wire::ProfileDecode> DecodeIngestBody(const IngestQuery& sent_query,
                                             std::string_view content_type, std::string_view body,
                                             TimeNs now) {
  std::string_view hints;
  TRY_ASSIGN(std::string_view profile, FindProfile(content_type, body, hints));
  std::string inflated;
  if (wire::IsGzip(profile)) {
    TRY_ASSIGN(inflated, wire::Inflate(profile, "gzip", limits::kMessageBytesMax));
    profile = inflated;
  }
  if (profile.starts_with(std::string_view("FLR\0", 4))) {
    return Fail(Code::kInvalidArgument, "jfr is not supported; send pprof or folded stacks");
  }
  if (wire::LooksLikePprof(profile)) {
    wire::PprofOptions options;
    options.source = SourceOf(sent_query, now);
    if (hints.find("block_") != std::string_view::npos) options.contention_name = "block";
    return wire::DecodePprof(profile, options);
  }
  if (wire::LooksLikeFolded(profile)) {
    IngestQuery query = sent_query;
    wire::FoldedOptions options = FoldedOptionsOf(query);
    options.source = SourceOf(query, now);
    return wire::DecodeFolded(profile, options);
  }
  return Fail(Code::kInvalidArgument,
              "body of " + std::to_string(profile.size()) +
                  " bytes is neither pprof nor folded stacks (lines of frames and a count)");
}

}  // namespace hotspan::ingest
