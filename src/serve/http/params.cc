#include "serve/http/params.h"

#include <charconv>
#include <cmath>

#include "base/json_writer.h"
#include "query/traceql/parser.h"

namespace hotspan::serve {
namespace {

template <typename T>
bool ParseNumber(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// Days since 1970-01-01 of a date of the Gregorian calendar.
std::int64_t DaysOf(std::int64_t year, int month, int day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = y / 400;
  const std::int64_t of_era = y - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// The digits at [at, at + size).
std::optional<int> Digits(std::string_view text, std::size_t at, std::size_t size) {
  int value = 0;
  if (at + size > text.size() || !ParseNumber(text.substr(at, size), value) || value < 0) {
    return std::nullopt;
  }
  return value;
}

// "Z", "+02:00", "-0530": seconds east of UTC.
std::optional<int> ZoneSeconds(std::string_view zone) {
  if (zone == "Z" || zone == "z" || zone.empty()) return 0;
  if (zone.size() != 5 && zone.size() != 6) return std::nullopt;
  const auto hours = Digits(zone, 1, 2);
  const auto minutes = Digits(zone, zone.size() - 2, 2);
  if (!hours || !minutes || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const int seconds = (*hours * 60 + *minutes) * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

std::optional<std::int64_t> ParseRfc3339(std::string_view text) {
  const auto year = Digits(text, 0, 4);
  const auto month = Digits(text, 5, 2);
  const auto day = Digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  if (*year < 1970 || *year > 2261 || *month < 1 || *month > 12 || *day < 1 || *day > 31) {
    return std::nullopt;
  }
  std::int64_t seconds = DaysOf(*year, *month, *day) * 86400;
  if (text.size() == 10) return seconds * kSecond.ns;
  const auto hour = Digits(text, 11, 2);
  const auto minute = Digits(text, 14, 2);
  const auto second = Digits(text, 17, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  seconds += *hour * 3600 + *minute * 60 + *second;
  std::size_t at = 19;
  std::int64_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    std::int64_t unit = kSecond.ns / 10;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
      fraction += (text[at] - '0') * unit;
    }
  }
  const auto zone = ZoneSeconds(text.substr(at));
  if (!zone) return std::nullopt;
  return (seconds - *zone) * kSecond.ns + fraction;
}

std::optional<std::int64_t> ParseEpoch(std::string_view text) {
  std::int64_t whole = 0;
  if (ParseNumber(text, whole)) {
    if (whole < 0) return std::nullopt;
    if (whole < 100'000'000'000) return whole * 1'000'000'000;
    if (whole < 100'000'000'000'000) return whole * 1'000'000;
    if (whole < 100'000'000'000'000'000) return whole * 1'000;
    return whole;
  }
  double seconds = 0;
  if (!ParseNumber(text, seconds) || !(seconds >= 0) || seconds > 9e9) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

}  // namespace

Result<TimeNs> ParseTime(std::string_view text, TimeNs now) {
  if (text == "now") return now;
  if (text.starts_with("now-") || text.starts_with("now+")) {
    const auto duration = query::traceql::ParseDurationNs(text.substr(4));
    if (duration) return TimeNs{text[3] == '-' ? now.ns - *duration : now.ns + *duration};
  } else if (const auto epoch = ParseEpoch(text)) {
    return TimeNs{*epoch};
  } else if (const auto date = ParseRfc3339(text)) {
    return TimeNs{*date};
  }
  return Fail(Code::kInvalidArgument, "\"" + std::string(text) +
                                          "\" is not a time: a number since 1970, RFC 3339, now or "
                                          "now-1h");
}

void Params::SetError(std::string_view field, std::string message) {
  if (!status_) return;
  status_ = Fail(Error(Code::kInvalidArgument, std::move(message)).Field(std::string(field)));
}

std::string_view Params::Text(std::string_view name) const {
  for (const auto& [key, value] : request_.query) {
    if (key == name) return value;
  }
  return {};
}

std::string Params::Required(std::string_view name) {
  const std::string_view text = Text(name);
  if (text.empty()) SetError(name, "parameter " + std::string(name) + " is missing");
  return std::string(text);
}

std::int64_t Params::Int(std::string_view name, std::int64_t missing, std::int64_t min,
                         std::int64_t max) {
  const std::string_view text = Text(name);
  if (text.empty()) return missing;
  std::int64_t value = 0;
  if (!ParseNumber(text, value) || value < min || value > max) {
    SetError(name, std::string(name) + " \"" + std::string(text) + "\" is not a number from " +
                       std::to_string(min) + " to " + std::to_string(max));
    return missing;
  }
  return value;
}

std::optional<DurationNs> Params::Duration(std::string_view name) {
  const std::string_view text = Text(name);
  if (text.empty()) return std::nullopt;
  const auto duration = query::traceql::ParseDurationNs(text);
  if (!duration) {
    SetError(name, std::string(name) + " \"" + std::string(text) +
                       "\" is not a duration like 500ms or 1.5s");
    return std::nullopt;
  }
  return DurationNs{*duration};
}

std::string_view Params::Word(std::string_view name,
                              std::initializer_list<std::string_view> words) {
  const std::string_view text = Text(name);
  if (text.empty()) return *words.begin();
  std::string allowed;
  for (const std::string_view word : words) {
    if (word == text) return word;
    allowed += (allowed.empty() ? "" : ", ") + std::string(word);
  }
  SetError(name, std::string(name) + " \"" + std::string(text) + "\" is not one of: " + allowed);
  return *words.begin();
}

std::optional<TraceId> Params::Trace(std::string_view name) {
  const std::string_view text = Text(name);
  if (text.empty()) return std::nullopt;
  const auto id = TraceId::FromHex(text);
  if (!id || id->IsZero()) {
    SetError(name, std::string(name) + " \"" + std::string(text) +
                       "\" is not a trace id (1 to 32 hex digits, not all zero)");
    return std::nullopt;
  }
  return id;
}

std::optional<SpanId> Params::Span(std::string_view name) {
  const std::string_view text = Text(name);
  if (text.empty()) return std::nullopt;
  const auto id = SpanId::FromHex(text);
  if (!id || id->IsZero()) {
    SetError(name, std::string(name) + " \"" + std::string(text) +
                       "\" is not a span id (1 to 16 hex digits, not all zero)");
    return std::nullopt;
  }
  return id;
}

std::optional<TimeNs> Params::Time(std::string_view name) {
  const std::string_view text = Text(name);
  if (text.empty()) return std::nullopt;
  const auto time = ParseTime(text, now_);
  if (!time) {
    SetError(name, std::string(name) + ": " + time.error().message());
    return std::nullopt;
  }
  return *time;
}

TimeRange Params::Ordered(TimeRange range) {
  if (range.end <= range.begin) SetError("end", "end must be after start");
  return range;
}

TimeRange Params::Range(DurationNs back) {
  const auto start = Time("start");
  const auto end = Time("end");
  // What was written until now counts, the present moment too.
  const TimeNs until = end ? *end : std::max(now_, start.value_or(now_)) + DurationNs{1};
  return Ordered({start ? *start : until - back, until});
}

TimeRange Params::RangeOrAll() {
  const auto start = Time("start");
  const auto end = Time("end");
  return Ordered({start.value_or(TimeNs{INT64_MIN}), end.value_or(TimeNs{INT64_MAX})});
}

int HttpStatusOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return 400;
    case Code::kOutOfRange:
      return 400;
    case Code::kUnimplemented:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
      return 409;
    case Code::kFailedPrecondition:
      return 400;
    case Code::kResourceExhausted:
      return 413;
    case Code::kCancelled:
      return 499;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kAborted:
      return 503;
    case Code::kUnavailable:
      return 503;
    case Code::kUnknown:
      return 500;
    case Code::kInternal:
      return 500;
    case Code::kDataLoss:
      return 500;
  }
  return 500;
}

Response ErrorResponse(const Error& error) {
  JsonWriter json;
  json.BeginObject().Key("error").BeginObject();
  json.Key("code").String(CodeName(error.code()));
  json.Key("message").String(error.message());
  if (!error.field().empty()) json.Key("field").String(error.field());
  if (error.offset()) json.Key("offset").Number(std::uint64_t{*error.offset()});
  json.EndObject().EndObject();
  Response response = JsonResponse(json.Take());
  response.status = HttpStatusOf(error.code());
  return response;
}

}  // namespace hotspan::serve
