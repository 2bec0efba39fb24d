// explain: why a span is slow, as text.
#include <fmt/format.h>

#include <array>

#include "cli/cli.h"
#include "cli/flame_text.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/verbs.h"

namespace hotspan::cli {
namespace {

constexpr std::size_t kLedgerWidth = 60;

void PrintHead(std::ostream& out, const Json& answer) {
  const Json span = MemberOf(answer, "span");
  out << fmt::format("{}  {}  {}\n", TextOf(span, "name"), TextOf(span, "service"),
                     FormatDuration(IntOf(span, "duration_ns")));
  out << fmt::format("trace {}  span {}  {}\n", TextOf(span, "trace_id"), TextOf(span, "span_id"),
                     FormatLocalTime(IntOf(span, "start_ns")));
  const Json baseline = MemberOf(answer, "baseline");
  if (IntOf(baseline, "n") > 0) {
    out << fmt::format("{:.1f} times the median of {} spans (p50 {}, p95 {})\n",
                       RealOf(baseline, "ratio"), IntOf(baseline, "n"),
                       FormatDuration(IntOf(baseline, "p50_ns")),
                       FormatDuration(IntOf(baseline, "p95_ns")));
  }
}

void PrintLedger(std::ostream& out, const Json& ledger) {
  static constexpr std::array<std::string_view, 6> kFills = {"█", "▓", "▒", "░", "▞", "·"};
  const std::int64_t duration = IntOf(ledger, "duration_ns");
  out << fmt::format("\nWhere {} of wall time went\n  ", FormatDuration(duration));
  std::size_t index = 0;
  const auto fill_of = [](std::string_view cls, std::size_t at) {
    return cls == "unobserved" ? kFills.back() : kFills[at % (kFills.size() - 1)];
  };
  for (const auto& entry : ArrayOf(ledger, "classes")) {
    const double share =
        duration > 0 ? static_cast<double>(IntOf(entry, "ns")) / static_cast<double>(duration)
                     : 0.0;
    const auto width = static_cast<std::size_t>(share * static_cast<double>(kLedgerWidth) + 0.5);
    for (std::size_t i = 0; i < width; ++i) out << fill_of(TextOf(entry, "class"), index);
    ++index;
  }
  out << '\n';
  index = 0;
  for (const auto& entry : ArrayOf(ledger, "classes")) {
    const std::int64_t ns = IntOf(entry, "ns");
    if (ns == 0 && IntOf(entry, "high_ns") == 0) {
      ++index;
      continue;
    }
    const double share = duration > 0 ? static_cast<double>(ns) / static_cast<double>(duration) : 0;
    out << fmt::format(
        "  {} {:<11} {:>10} {:>7}   {} … {}   {}, {} samples\n",
        fill_of(TextOf(entry, "class"), index++), TextOf(entry, "class"), FormatDuration(ns),
        FormatPercent(share), FormatDuration(IntOf(entry, "low_ns")),
        FormatDuration(IntOf(entry, "high_ns")), TextOf(entry, "source"), IntOf(entry, "samples"));
    if (!TextOf(entry, "hint").empty()) out << "      " << TextOf(entry, "hint") << '\n';
  }
}

void PrintTop(std::ostream& out, const Json& profile) {
  Table table({"  SHARE", "95 %", "SELF", "FUNCTION", "WHERE"});
  table.SetRight({true, true, true, false, false});
  std::size_t rows = 0;
  for (const auto& entry : ArrayOf(profile, "top")) {
    if (++rows > 15) break;
    const std::int64_t total = IntOf(profile, "total");
    const double self =
        total > 0 ? static_cast<double>(IntOf(entry, "self")) / static_cast<double>(total) : 0.0;
    const std::string where =
        TextOf(entry, "file").empty()
            ? std::string()
            : fmt::format("{}:{}", TextOf(entry, "file"), IntOf(entry, "line"));
    table.Add({FormatPercent(RealOf(entry, "share")),
               fmt::format("{} – {}", FormatPercent(RealOf(entry, "share_low")),
                           FormatPercent(RealOf(entry, "share_high"))),
               FormatPercent(self), Cut(TextOf(entry, "function"), 60), where});
  }
  if (rows > 0) table.Print(out);
}

void PrintProfiles(std::ostream& out, const Json& answer) {
  for (const auto& profile : ArrayOf(answer, "profiles")) {
    out << fmt::format("\n{}: {} samples, tier {}, mode {}\n", TextOf(profile, "type"),
                       IntOf(profile, "samples"), TextOf(profile, "tier"), TextOf(profile, "mode"));
    if (!TextOf(profile, "note").empty()) out << "  " << TextOf(profile, "note") << '\n';
    PrintFlame(out, MemberOf(profile, "flame"), 0.01, 60);
    out << '\n';
    PrintTop(out, profile);
  }
  for (const auto& missing : ArrayOf(answer, "missing")) {
    out << fmt::format("\nno {}: {} ({})\n", TextOf(missing, "type"), TextOf(missing, "detail"),
                       TextOf(missing, "reason"));
    if (!TextOf(missing, "fix").empty()) out << "  to fix: " << TextOf(missing, "fix") << '\n';
  }
}

void PrintFindings(std::ostream& out, const Json& answer) {
  const auto findings = ArrayOf(answer, "findings");
  if (findings.size() == 0) {
    out << "\nno findings\n";
    return;
  }
  out << "\nFindings\n";
  std::size_t number = 0;
  for (const auto& finding : findings) {
    out << fmt::format("{}. [{}] {}\n", ++number, TextOf(finding, "severity"),
                       TextOf(finding, "title"));
    const Json location = MemberOf(finding, "location");
    if (!TextOf(location, "function").empty()) {
      out << fmt::format("   at {} {}{}\n", TextOf(location, "function"), TextOf(location, "file"),
                         IntOf(location, "line") > 0 ? fmt::format(":{}", IntOf(location, "line"))
                                                     : std::string());
    }
    if (IntOf(finding, "saves_ns") > 0) {
      out << fmt::format("   saves {} ({} … {}) of a span\n",
                         FormatDuration(IntOf(finding, "saves_ns")),
                         FormatDuration(IntOf(finding, "saves_low_ns")),
                         FormatDuration(IntOf(finding, "saves_high_ns")));
    }
    for (const auto& evidence : ArrayOf(finding, "evidence")) {
      out << "   - " << TextOf(evidence, "text") << '\n';
    }
    if (!TextOf(finding, "fix").empty()) out << "   fix: " << TextOf(finding, "fix") << '\n';
  }
}

}  // namespace

int Explain(const Context& context, const ExplainOptions& options) {
  struct Call call;
  call.target = Target(
      "/api/hotspan/v1/explain",
      {{"trace_id", options.trace_id}, {"span_id", options.span_id}, {"mode", options.mode}});
  std::string body;
  if (const int exit = CallOrReport(context, call, body); exit >= 0) return exit;
  if (context.json) {
    context.out << body << '\n';
    return kExitFine;
  }
  simdjson::dom::parser parser;
  Json answer;
  if (!ParseJson(parser, body, answer)) return kExitNo;
  PrintHead(context.out, answer);
  PrintLedger(context.out, MemberOf(answer, "ledger"));
  PrintProfiles(context.out, answer);
  PrintFindings(context.out, answer);
  return kExitFine;
}

}  // namespace hotspan::cli
