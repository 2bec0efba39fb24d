// flame: one merged flame graph, in the terminal or as a file.
#include <fmt/format.h>

#include <fstream>

#include "cli/cli.h"
#include "cli/flame_text.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/verbs.h"

namespace hotspan::cli {
namespace {

std::string FlameTarget(const FlameOptions& options, const std::string& format) {
  const bool ranged = options.trace_id.empty();
  return Target("/api/hotspan/v1/flame", {{"service", options.service},
                                          {"trace_id", options.trace_id},
                                          {"span_id", options.span_id},
                                          {"mode", options.trace_id.empty() ? "" : options.mode},
                                          {"spans", options.spans},
                                          {"type", options.type},
                                          {"start", ranged ? "now-" + options.since : ""},
                                          {"format", format}});
}

int WriteFile(const Context& context, const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) {
    context.err << "can't write " << path << '\n';
    return kExitUsage;
  }
  context.err << "wrote " << path << " (" << bytes.size() << " bytes)\n";
  return kExitFine;
}

}  // namespace

int Flame(const Context& context, const FlameOptions& options) {
  bool wrote = false;
  for (const auto& [format, path] :
       {std::pair{"svg", &options.svg}, {"pprof", &options.pprof}, {"folded", &options.folded}}) {
    if (path->empty()) continue;
    struct Call call;
    call.target = FlameTarget(options, format);
    std::string body;
    if (const int exit = CallOrReport(context, call, body); exit >= 0) return exit;
    if (const int exit = WriteFile(context, *path, body); exit != kExitFine) return exit;
    wrote = true;
  }
  if (wrote) return kExitFine;
  struct Call call;
  call.target = FlameTarget(options, "json");
  std::string body;
  if (const int exit = CallOrReport(context, call, body); exit >= 0) return exit;
  simdjson::dom::parser parser;
  Json answer;
  Json flame;
  if (!ParseJson(parser, body, answer)) return kExitNo;
  const int found = IntOf(answer, "samples") > 0 ? kExitFine : kExitNo;
  if (context.json) {
    context.out << body << '\n';
    return found;
  }
  context.out << fmt::format("{}: {} samples, tier {}\n", TextOf(answer, "type"),
                             IntOf(answer, "samples"), TextOf(answer, "tier"));
  if (answer["flame"].get(flame) == simdjson::SUCCESS) PrintFlame(context.out, flame, 0.005, 100);
  return found;
}

}  // namespace hotspan::cli
