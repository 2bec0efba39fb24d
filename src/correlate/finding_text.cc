#include "correlate/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hotspan::correlate {
namespace {

constexpr std::string_view kApi = "/api/hotspan/v1/";

}  // namespace

std::string FormatDuration(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  if (ns >= 1e7) return fmt::format("{:.0f} ms", ns / 1e6);
  if (ns >= 1e5) return fmt::format("{:.1f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.0f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string FormatPercent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string FormatShare(const ShareInterval& share) {
  return fmt::format("{:.1f} %, 95 % interval {:.1f} to {:.1f} %", share.share * 100,
                     share.low * 100, share.high * 100);
}

std::string FormatTime(TimeNs time) {
  // Days since 1970 to year, month, day, after H. Hinnant's civil_from_days.
  const std::int64_t seconds = time.ns / 1'000'000'000;
  const std::int64_t days = seconds / 86400 + 719468;
  const std::int64_t era = days / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_index = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * month_index + 2) / 5 + 1;
  const std::int64_t month = month_index < 10 ? month_index + 3 : month_index - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const std::int64_t second = seconds % 86400;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", year, month, day, second / 3600,
                     second / 60 % 60, second % 60);
}

std::string UrlEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == ':';
    if (plain) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

std::string TraceUrl(const TraceId& trace) {
  return fmt::format("{}traces/{}", kApi, trace.ToHex());
}

std::string ExplainUrl(const TraceId& trace, const SpanId& span) {
  return fmt::format("{}explain?trace_id={}&span_id={}", kApi, trace.ToHex(), span.ToHex());
}

std::string SpanFlameUrl(const TraceId& trace, const SpanId& span, std::string_view type,
                         Mode mode) {
  return fmt::format("{}flame?trace_id={}&span_id={}&mode={}&type={}&format=json", kApi,
                     trace.ToHex(), span.ToHex(), ModeName(mode), UrlEncode(type));
}

std::string PooledFlameUrl(std::string_view service, std::string_view name, TimeRange range,
                           std::string_view type) {
  const auto quoted = [](std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
    return out + "\"";
  };
  const std::string query =
      fmt::format("{{resource.service.name={} && name={}}}", quoted(service), quoted(name));
  return fmt::format("{}flame?spans={}&type={}&start={}&end={}&format=json", kApi, UrlEncode(query),
                     UrlEncode(type), range.begin.ns, range.end.ns);
}

Severity SeverityOf(double saves_ns, double duration_ns, bool known_cure) {
  const double ratio = duration_ns > 0 ? saves_ns / duration_ns : 0;
  if (known_cure) {
    if (saves_ns >= 1e8 && ratio >= 0.2) return Severity::kHigh;
    return saves_ns >= 1e7 && ratio >= 0.05 ? Severity::kMedium : Severity::kLow;
  }
  if (saves_ns >= 5e8 && ratio >= 0.5) return Severity::kHigh;
  return saves_ns >= 1e8 && ratio >= 0.2 ? Severity::kMedium : Severity::kLow;
}

void RankFindings(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.saves_ns != b.saves_ns) return a.saves_ns > b.saves_ns;
    return std::tie(a.kind, a.location.function, a.title) <
           std::tie(b.kind, b.location.function, b.title);
  });
}

}  // namespace hotspan::correlate
