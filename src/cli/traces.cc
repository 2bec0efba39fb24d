// traces list: search as a table.
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/verbs.h"

namespace hotspan::cli {
namespace {

std::string Link(const Context& context, const Json& trace, const Json& slowest) {
  return fmt::format("{}/trace/{}?span={}", context.server, TextOf(trace, "trace_id"),
                     TextOf(slowest, "span_id"));
}

void AddRow(const Context& context, const TracesOptions& options, const Json& trace, Table& table) {
  const Json root = MemberOf(trace, "root");
  const Json slowest = MemberOf(trace, "slowest");
  std::vector<std::string> row = {
      std::string(TextOf(trace, "trace_id")),
      Cut(fmt::format("{} {}", TextOf(root, "service"), TextOf(root, "name")), 48),
      Cut(fmt::format("{} {}", TextOf(slowest, "service"), TextOf(slowest, "name")), 48),
      fmt::format("{:.1f}", static_cast<double>(IntOf(trace, "duration_ns")) / 1e6),
      fmt::format("{}", IntOf(trace, "spans")),
      FormatLocalTime(IntOf(trace, "start_ns"))};
  if (options.links) row.push_back(Link(context, trace, slowest));
  table.Add(std::move(row));
}

}  // namespace

int Traces(const Context& context, const TracesOptions& options) {
  struct Call call;
  call.target = Target("/api/hotspan/v1/traces", {{"service", options.service},
                                                  {"filter", options.filter},
                                                  {"min_duration", options.min_latency},
                                                  {"start", "now-" + options.since},
                                                  {"limit", std::to_string(options.limit)}});
  std::string body;
  if (const int exit = CallOrReport(context, call, body); exit >= 0) return exit;
  simdjson::dom::parser parser;
  Json answer;
  if (!ParseJson(parser, body, answer)) return kExitNo;
  const auto traces = ArrayOf(answer, "traces");
  if (context.json) {
    context.out << body << '\n';
    return traces.size() > 0 ? kExitFine : kExitNo;
  }
  if (traces.size() == 0) {
    context.err << "no traces match in the last " << options.since << '\n';
    return kExitNo;
  }
  std::vector<std::string> header = {"TRACE", "ROOT", "SLOWEST SPAN", "MS", "SPANS", "TIME"};
  if (options.links) header.push_back("EXPLANATION");
  Table table(std::move(header));
  table.SetRight({false, false, false, true, true, false, false});
  for (const auto& trace : traces) AddRow(context, options, trace, table);
  table.Print(context.out);
  return kExitFine;
}

}  // namespace hotspan::cli
