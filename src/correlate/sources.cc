#include "correlate/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "correlate/finding_text.h"
#include "correlate/frame_traits.h"
#include "correlate/ledger.h"

namespace hotspan::correlate {
namespace {

using storage::ProfileStats;

// Everything ever seen of one type, as far as it matters for a span.
struct Gathered {
  std::uint64_t span_linked = 0;
  std::uint64_t local_root_linked = 0;
  bool in_window = false;
  std::int64_t period = 0;
  std::set<std::string> agents;
  std::optional<TimeNs> before;
  std::optional<TimeNs> after;
};

void Take(const ProfileStats& stats, const TimeRange& window, bool counts, Gathered& gathered) {
  if (window.Touches(stats.first, stats.last)) {
    gathered.in_window = true;
    if (!counts) return;
    gathered.span_linked += stats.span_linked;
    gathered.local_root_linked += stats.local_root_linked;
    if (stats.period > 0) gathered.period = stats.period;
    if (!stats.agent.empty()) gathered.agents.insert(stats.agent);
  } else if (stats.last < window.begin) {
    if (!gathered.before || stats.last > *gathered.before) gathered.before = stats.last;
  } else if (!gathered.after || stats.first < *gathered.after) {
    gathered.after = stats.first;
  }
}

std::string HowToSend(std::string_view type) {
  if (IsOffCpuType(type)) {
    return "record waits too: libhotspan does with HOTSPAN_OFF_CPU=1";
  }
  return "link libhotspan into the service, or send OTLP profiles to /v1development/profiles or "
         "pprof to /ingest with service_name";
}

Missing Make(const MissingFacts& facts, std::string reason, std::string detail, std::string fix) {
  Missing missing;
  missing.type = facts.type;
  missing.reason = std::move(reason);
  missing.detail = std::move(detail);
  missing.fix = std::move(fix);
  return missing;
}

bool IsExpired(const MissingFacts& facts) {
  return facts.retention && facts.span.end < facts.now - facts.retention->profiles;
}

Missing Expired(const MissingFacts& facts) {
  return Make(facts, "expired",
              fmt::format("the span ended {}, and profiles are kept for {} hours",
                          FormatTime(facts.span.end), facts.retention->profiles.ns / kHour.ns),
              "keep profiles for longer (retention.profiles)");
}

// What held the span's time instead of a CPU.
std::string WhatItDid(const MissingFacts& facts) {
  const LedgerEntry* most = nullptr;
  if (facts.ledger != nullptr) {
    for (const LedgerEntry& entry : facts.ledger->classes) {
      if (entry.cls == LedgerClass::kOnCpu || entry.cls == LedgerClass::kUnobserved) continue;
      if (most == nullptr || entry.ns > most->ns) most = &entry;
    }
  }
  if (most == nullptr || most->ns <= 0) return "what it waited for was not recorded";
  const std::string time = FormatDuration(static_cast<double>(most->ns));
  if (most->cls == LedgerClass::kChild) return fmt::format("its children took {}", time);
  return fmt::format("it spent {} in {}", time, LedgerClassName(most->cls));
}

Missing NoSamples(const MissingFacts& facts, std::int64_t period) {
  const double expected =
      period > 0 ? static_cast<double>(facts.own_ns) / static_cast<double>(period) : 0;
  if (period > 0 && expected < 4) {
    return Make(
        facts, "shorter_than_period",
        fmt::format("the span's own time is {} and one sample stands for {}: at most {:.1f} "
                    "samples could be expected",
                    FormatDuration(static_cast<double>(facts.own_ns)),
                    FormatDuration(static_cast<double>(period)), expected),
        "look at all spans of the operation together, or raise the sampling rate");
  }
  return Make(facts, "idle",
              fmt::format("the source labels its samples and has none for this span, so it used "
                          "less than {} of this time; {}",
                          period > 0 ? FormatDuration(3.7 * static_cast<double>(period))
                                     : std::string("a few samples' worth"),
                          WhatItDid(facts)),
              IsOffCpuType(facts.type) ? "nothing: the span did not wait"
                                       : "open the off-CPU profile or the children of the span");
}

Missing NoProfiles(const Sources& sources, const MissingFacts& facts) {
  if (!sources.near_names.empty()) {
    return Make(facts, "name_mismatch",
                fmt::format("\"{}\" has no profiles of this type; did you mean {}?", facts.service,
                            fmt::join(sources.near_names, ", ")),
                fmt::format("give traces and profiles the same service.name: \"{}\" or \"{}\"",
                            facts.service, sources.near_names.front()));
  }
  if (IsExpired(facts)) return Expired(facts);
  return Make(facts, "no_profiles_of_service",
              sources.types.empty()
                  ? fmt::format("\"{}\" has never sent a profile", facts.service)
                  : fmt::format("\"{}\" sends profiles, but none of this type", facts.service),
              HowToSend(facts.type));
}

Missing OutsideWindow(const Source& source, const MissingFacts& facts) {
  std::string detail =
      fmt::format("no samples within {} minutes of the span", kServiceWindowMax.ns / kMinute.ns);
  if (source.before)
    detail += fmt::format("; the nearest before ended {}", FormatTime(*source.before));
  if (source.after)
    detail += fmt::format("; the nearest after began {}", FormatTime(*source.after));
  Missing missing =
      Make(facts, "outside_window", std::move(detail),
           "keep the profiler on all the time, and check the clocks of both machines");
  missing.before = source.before;
  missing.after = source.after;
  return missing;
}

}  // namespace

TimeRange Around(query::TimeInterval span, DurationNs margin) {
  TimeRange range{span.begin, span.end};
  if (range.begin.ns >= INT64_MIN + margin.ns) range.begin = range.begin - margin;
  if (range.end.ns <= INT64_MAX - margin.ns - 1) range.end = range.end + margin + DurationNs{1};
  return range;
}

const Source* Sources::Find(std::string_view type) const {
  for (const Source& source : types) {
    if (source.type == type) return &source;
  }
  return nullptr;
}

Result<Sources> ReadSources(storage::Engine& engine, const SourcesRequest& request) {
  storage::CatalogRequest catalog_request;
  catalog_request.tenant = request.tenant;
  catalog_request.service = request.service;
  TRY_ASSIGN(const storage::Catalog catalog, engine.ReadCatalog(catalog_request));
  const TimeRange window = Around(request.span, kServiceWindowMax);
  // Which types this very instance sends; the others' labelling says nothing about it.
  std::set<std::string> own_types;
  for (const ProfileStats& stats : catalog.profiles) {
    if (!request.instance.empty() && stats.instance == request.instance &&
        window.Touches(stats.first, stats.last)) {
      own_types.insert(stats.type);
    }
  }
  std::map<std::string, Gathered> by_type;
  for (const ProfileStats& stats : catalog.profiles) {
    if (stats.service != request.service || stats.samples == 0) continue;
    const bool counts = !own_types.contains(stats.type) || stats.instance == request.instance;
    Take(stats, window, counts, by_type[stats.type]);
  }
  Sources sources;
  for (auto& [type, gathered] : by_type) {
    Source source;
    source.type = type;
    source.tier = gathered.span_linked > 0         ? Tier::kSpan
                  : gathered.local_root_linked > 0 ? Tier::kLocalRoot
                                                   : Tier::kService;
    source.in_window = gathered.in_window;
    source.period = gathered.period;
    source.agents.assign(gathered.agents.begin(), gathered.agents.end());
    source.before = gathered.before;
    source.after = gathered.after;
    sources.types.push_back(std::move(source));
  }
  if (!sources.types.empty()) return sources;

  catalog_request.service.clear();
  TRY_ASSIGN(const storage::Catalog all, engine.ReadCatalog(catalog_request));
  std::set<std::string> near;
  const std::string canonical = Canonical(request.service);
  for (const ProfileStats& stats : all.profiles) {
    if (stats.service != request.service && Canonical(stats.service) == canonical) {
      near.insert(stats.service);
    }
  }
  sources.near_names.assign(near.begin(), near.end());
  return sources;
}

std::vector<Missing> WhyMissing(const Sources& sources, const MissingFacts& facts) {
  std::vector<Missing> reasons;
  const Source* source = sources.Find(facts.type);
  if (source == nullptr) {
    reasons.push_back(NoProfiles(sources, facts));
  } else if (!source->in_window) {
    reasons.push_back(IsExpired(facts) ? Expired(facts) : OutsideWindow(*source, facts));
  } else if (source->tier == Tier::kService) {
    reasons.push_back(Make(
        facts, "not_labelled",
        "there are samples of this service at that time, but they name no span, so they can't be "
        "told from those of other requests",
        "use a profiler that labels samples with the active span (libhotspan, or the span "
        "profiles of your SDK), and check that traces are sampled"));
  } else if (facts.samples == 0 && facts.tier != Tier::kService && facts.tier != source->tier) {
    reasons.push_back(Make(facts, "not_labelled",
                           fmt::format("this source labels samples by tier {}, not by tier {}",
                                       TierName(source->tier), TierName(facts.tier)),
                           fmt::format("ask with tier={} or tier=auto", TierName(source->tier))));
  } else if (facts.samples == 0 && facts.tier != Tier::kService) {
    reasons.push_back(NoSamples(facts, source->period));
  }
  if (facts.drops) {
    reasons.push_back(
        Make(facts, "agent_drops",
             "the agent of this service reports that it lost samples in this window",
             "give the agent a larger queue or a lower rate, and check the network to "
             "the collector"));
  }
  return reasons;
}

}  // namespace hotspan::correlate
