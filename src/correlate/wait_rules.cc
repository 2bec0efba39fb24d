#include "correlate/wait_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "correlate/finding_text.h"
#include "correlate/ledger.h"

namespace hotspan::correlate {
namespace {

struct WaitRule {
  LedgerClass cls;
  double share;  // of own time, from which on it is told
  std::string_view kind;
  std::string_view what;
  std::string_view fix;
};

constexpr WaitRule kRules[] = {
    {LedgerClass::kLock, 0.10, "lock_contention", "waiting for a lock",
     "shrink the critical section: move slow work out of it, split the lock, or read without it"},
    {LedgerClass::kIo, 0.30, "waiting_on_io", "waiting for disk or files",
     "read ahead or keep the data in memory; write and sync outside of the request"},
    {LedgerClass::kNet, 0.30, "waiting_on_network", "waiting for the network",
     "trace the callee to see what it does; batch the calls, reuse connections, or call in "
     "parallel"},
    {LedgerClass::kSleep, 0.10, "sleep", "sleeping",
     "wait for the event itself instead of sleeping, or shorten the back-off"},
    {LedgerClass::kWait, 0.30, "waiting_on_others", "waiting for another thread or task",
     "look at what that thread does; give it more workers or less work"},
    {LedgerClass::kRunnable, 0.10, "queueing", "ready to run but waiting for a core",
     "lower the load, give the process more cores, or raise its CPU limit"},
    {LedgerClass::kGc, 0.10, "gc_pressure", "in garbage collection",
     "allocate less on this path; open the allocation profile to see where"},
};

// The program's frame that waited the longest in a class, at its line.
struct CallSite {
  CodeLocation location;
  std::string leaf;  // the wait's own frame, "[lock] futex"
  std::uint64_t samples = 0;
};

CallSite FindCallSite(const CodeView& view, LedgerClass cls) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<double, std::uint64_t>> sites;
  for (const CodeSample& sample : view.waits) {
    const std::span<const std::uint32_t> stack = view.StackOf(sample.stack);
    if (stack.empty() || WaitClassOf(view.frames->frames[stack[0]].function) != cls) continue;
    std::uint32_t user = stack[0];
    for (const std::uint32_t frame : stack) {
      if (view.traits[frame].vendor) continue;
      user = frame;
      break;
    }
    auto& site = sites[{user, stack[0]}];
    site.first += sample.value;
    ++site.second;
  }
  CallSite best;
  double most = 0;
  for (const auto& [frames, sum] : sites) {
    best.samples += sum.second;
    if (sum.first <= most) continue;
    most = sum.first;
    const Frame& frame = view.frames->frames[frames.first];
    best.location.function = view.names[frames.first];
    best.location.file = frame.file;
    best.location.line = frame.line;
    best.leaf = view.frames->frames[frames.second].function;
  }
  return best;
}

std::string HolderText(const LockHolder& holder) {
  std::string who = holder.name.empty() ? fmt::format("span {}", holder.span_id.ToHex())
                                        : fmt::format("span \"{}\" ({}) of {}", holder.name,
                                                      holder.span_id.ToHex(), holder.service);
  return fmt::format("held by {} of trace {}", who, holder.trace_id.ToHex());
}

Finding MakeWait(const WaitRule& rule, const LedgerEntry& entry, double own_ns,
                 const ExplainedSpan& span, const CodeView& view,
                 const std::optional<LockHolder>& holder) {
  const CallSite site = FindCallSite(view, rule.cls);
  Finding finding;
  finding.kind = std::string(rule.kind);
  const double factor = own_ns > 0 ? std::min(1.0, view.scale_ns / own_ns) : 1;
  const auto scaled = [&](std::int64_t ns) {
    return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
  };
  finding.saves_ns = scaled(entry.ns);
  finding.saves_low_ns = scaled(entry.low_ns);
  finding.saves_high_ns = scaled(entry.high_ns);
  finding.severity = SeverityOf(static_cast<double>(finding.saves_ns),
                                static_cast<double>(span.duration.ns), true);
  finding.location = site.location;
  finding.location.service = span.service;
  const double share = own_ns > 0 ? static_cast<double>(entry.ns) / own_ns : 0;
  finding.title =
      fmt::format("{} {} ({} of the span's own time)",
                  FormatDuration(static_cast<double>(entry.ns)), rule.what, FormatPercent(share));
  if (!finding.location.function.empty()) {
    finding.title += fmt::format(" in {}", finding.location.function);
  }
  finding.fix = std::string(rule.fix);
  const std::string url =
      SpanFlameUrl(span.trace_id, span.span_id, "off_cpu:off_cpu:nanoseconds::");
  finding.evidence.push_back(
      {fmt::format("ledger class {}: {}, 95 % interval {} to {}", LedgerClassName(rule.cls),
                   FormatDuration(static_cast<double>(entry.ns)),
                   FormatDuration(static_cast<double>(entry.low_ns)),
                   FormatDuration(static_cast<double>(entry.high_ns))),
       static_cast<double>(entry.ns), ExplainUrl(span.trace_id, span.span_id)});
  if (!site.leaf.empty()) {
    finding.evidence.push_back(
        {fmt::format("{} samples, most of them in {}", site.samples, site.leaf),
         static_cast<double>(site.samples), url});
  }
  if (rule.cls == LedgerClass::kLock && holder) {
    finding.title += ", " + HolderText(*holder);
    finding.evidence.push_back(
        {fmt::format("event lock.wait{}{}: {}", holder->lock.empty() ? "" : " of ", holder->lock,
                     HolderText(*holder)),
         static_cast<double>(holder->wait_ns), ExplainUrl(holder->trace_id, holder->span_id)});
  }
  return finding;
}

}  // namespace

std::optional<LockHolder> FindLockHolder(const std::vector<SpanEvent>& events) {
  std::optional<LockHolder> best;
  for (const SpanEvent& event : events) {
    if (event.name != "lock.wait") continue;
    const auto trace = TraceId::FromHex(event.attributes.FindText("lock.holder.trace_id"));
    const auto span = SpanId::FromHex(event.attributes.FindText("lock.holder.span_id"));
    if (!trace || !span || trace->IsZero() || span->IsZero()) continue;
    LockHolder holder;
    holder.trace_id = *trace;
    holder.span_id = *span;
    holder.lock = std::string(event.attributes.FindText("lock.name"));
    for (const std::string_view key :
         {"lock.wait_ns", "lock.wait.duration_ns", "lock.duration_ns"}) {
      const std::optional<Value> wait = event.attributes.Find(key);
      if (wait && wait->AsNumber()) holder.wait_ns = static_cast<std::int64_t>(*wait->AsNumber());
    }
    if (!best || holder.wait_ns > best->wait_ns) best = std::move(holder);
  }
  return best;
}

std::vector<Finding> FindWaits(const Ledger& ledger, const ExplainedSpan& span,
                               const CodeView& view, const std::optional<LockHolder>& holder) {
  std::vector<Finding> findings;
  std::int64_t own = ledger.duration_ns;
  for (const LedgerEntry& entry : ledger.classes) {
    if (entry.cls == LedgerClass::kChild) own -= entry.ns;
  }
  if (own <= 0) return findings;
  for (const WaitRule& rule : kRules) {
    for (const LedgerEntry& entry : ledger.classes) {
      if (entry.cls != rule.cls || entry.ns <= 0) continue;
      if (static_cast<double>(entry.ns) < rule.share * static_cast<double>(own)) continue;
      findings.push_back(MakeWait(rule, entry, static_cast<double>(own), span, view, holder));
    }
  }
  return findings;
}

}  // namespace hotspan::correlate
