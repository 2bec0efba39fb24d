// Health, readiness and the server's own metrics.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "serve/api/metrics_text.h"
#include "serve/api/routes.h"
#include "wire/decode.h"

namespace hotspan::serve {
namespace {

constexpr std::array kSignalsAll = {ingest::Signal::kTraces, ingest::Signal::kProfiles,
                                    ingest::Signal::kPyroscope};

void AddIngest(MetricsText& text, const ingest::IngestStats& stats) {
  using ingest::SignalStats;
  const auto family = [&](std::string_view name, std::string_view help,
                          std::uint64_t SignalStats::* member) {
    text.Family(name, "counter", help);
    for (const ingest::Signal signal : kSignalsAll) {
      text.Value({{"signal", ingest::SignalName(signal)}},
                 stats.signals[static_cast<std::size_t>(signal)].*member);
    }
  };
  family("hotspan_ingest_requests_total", "Requests that brought data.", &SignalStats::requests);
  family("hotspan_ingest_duplicates_total", "Requests that had been acknowledged before.",
         &SignalStats::duplicates);
  family("hotspan_ingest_accepted_total", "Spans, or profiles, taken.", &SignalStats::accepted);
  family("hotspan_ingest_rejected_total", "Spans, or profiles, rejected one by one.",
         &SignalStats::rejected);
  family("hotspan_ingest_samples_total", "Samples taken.", &SignalStats::samples);
  family("hotspan_ingest_wire_bytes_total", "Bytes as received.", &SignalStats::wire_bytes);
  family("hotspan_ingest_inflated_bytes_total", "Bytes after inflating.",
         &SignalStats::inflated_bytes);
  family("hotspan_ingest_truncated_values_total", "Values cut at their limit.",
         &SignalStats::truncated_values);
  family("hotspan_ingest_invalid_utf8_total", "Strings repaired.", &SignalStats::invalid_utf8);
  family("hotspan_ingest_dropped_values_total", "Attributes, events, links over their count.",
         &SignalStats::dropped_values);
  text.Family("hotspan_ingest_refused_total", "counter", "Requests refused whole, by reason.");
  for (const ingest::Signal signal : kSignalsAll) {
    for (std::size_t reason = 0; reason < ingest::kRefusals; ++reason) {
      text.Value({{"signal", ingest::SignalName(signal)},
                  {"reason", ingest::RefusalName(static_cast<ingest::Refusal>(reason))}},
                 stats.signals[static_cast<std::size_t>(signal)].refused[reason]);
    }
  }
  text.Family("hotspan_ingest_profile_layouts_total", "counter", "Profile requests by layout.");
  for (std::size_t layout = 0; layout < stats.layouts.size(); ++layout) {
    text.Value({{"layout", wire::ProfileLayoutName(static_cast<wire::ProfileLayout>(layout))}},
               stats.layouts[layout]);
  }
  text.Single("hotspan_ingest_in_flight_bytes", "gauge", "Bytes being decoded.",
              stats.in_flight_bytes);
}

void AddStorage(MetricsText& text, const storage::EngineStats& stats) {
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    text.Single(name, "counter", help, value);
  };
  const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    text.Single(name, "gauge", help, value);
  };
  counter("hotspan_storage_spans_written_total", "Spans made durable.", stats.spans_written);
  counter("hotspan_storage_samples_written_total", "Samples made durable.", stats.samples_written);
  counter("hotspan_storage_batches_written_total", "Batches made durable.", stats.batches_written);
  counter("hotspan_storage_duplicate_batches_total", "Retries of batches written before.",
          stats.duplicate_batches);
  gauge("hotspan_storage_head_bytes", "Acknowledged data in memory.", stats.head_bytes);
  gauge("hotspan_storage_log_bytes", "Write-ahead log on disk.", stats.log_bytes);
  gauge("hotspan_storage_disk_bytes", "Data on disk.", stats.disk_bytes);
  gauge("hotspan_storage_stacks", "Distinct stacks known.", stats.stacks);
  counter("hotspan_storage_syncs_total", "Waits for the disk.", stats.syncs);
  counter("hotspan_storage_cuts_total", "Times the head was cut into blocks.", stats.cuts);
  counter("hotspan_storage_damaged_blocks_total", "Blocks with a wrong checksum.",
          stats.damaged_blocks);
  counter("hotspan_storage_write_errors_total", "Writes that failed.", stats.write_errors);
}

void AddHttp(MetricsText& text, const Api& api) {
  if (api.front != nullptr) {
    const auto routes = api.front->Stats();
    text.Family("hotspan_http_requests_total", "counter", "Requests by route and status.");
    for (const auto& [key, stats] : routes) {
      text.Value({{"route", key.first}, {"status", std::to_string(key.second)}}, stats.requests);
    }
    text.Family("hotspan_http_request_seconds_total", "counter", "Time spent in handlers.");
    for (const auto& [key, stats] : routes) {
      text.Value({{"route", key.first}, {"status", std::to_string(key.second)}},
                 static_cast<double>(stats.nanoseconds) * 1e-9);
    }
  }
  if (api.server != nullptr) {
    const ServerStats stats = api.server->Stats();
    text.Single("hotspan_connections_total", "counter", "Connections accepted.", stats.connections);
    text.Single("hotspan_connections_open", "gauge", "HTTP connections open.", stats.open);
    text.Single("hotspan_connections_refused_total", "counter", "Connections over the limit.",
                stats.refused);
    text.Single("hotspan_http_in_flight_bytes", "gauge", "Bytes of bodies being read.",
                stats.in_flight_bytes);
  }
}

void AddProcess(MetricsText& text, const Api& api) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  text.Family("process_cpu_seconds_total", "counter", "User and system CPU time.");
  text.Value({}, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  text.Single("process_resident_memory_bytes", "gauge", "Memory in use.", resident * page_bytes);
  text.Single("process_resident_memory_max_bytes", "gauge", "The most memory used so far.",
              static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
  text.Single("process_start_time_seconds", "gauge", "When the process began.",
              static_cast<std::uint64_t>(api.started_ns / 1'000'000'000));
  text.Family("hotspan_build_info", "gauge", "The version.");
  text.Value({{"version", kVersion}}, std::uint64_t{1});
}

Response Metrics(const Api& api) {
  MetricsText text;
  AddIngest(text, api.pipeline.Stats());
  AddStorage(text, api.engine.Stats());
  AddHttp(text, api);
  AddProcess(text, api);
  return {200, "text/plain; version=0.0.4; charset=utf-8", text.Take(), {}};
}

}  // namespace

void AddOperateRoutes(Router& router, Api& api) {
  const RouteOptions everywhere{.writes = false, .otlp = true, .cross_origin = false};
  const Handler fine = [](const Request&) { return TextResponse(200, "ok\n"); };
  router.Add("GET", "/-/healthy", fine, everywhere);
  router.Add("GET", "/-/ready", fine, everywhere);
  router.Add("GET", "/ready", [](const Request&) { return TextResponse(200, "ready\n"); });
  router.Add("GET", "/metrics", [&api](const Request&) { return Metrics(api); });
}

}  // namespace hotspan::serve
