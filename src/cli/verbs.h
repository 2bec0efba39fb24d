// The verbs, one file each. Internal to cli.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/api.h"

namespace hotspan::cli {

struct Context {
  Api& api;
  std::ostream& out;
  std::ostream& err;
  bool json = false;
  bool colour = false;  // standard output is a terminal
  std::string server;   // for links; empty: none
};

struct ImportOptions {
  std::vector<std::string> files;
  std::string service;  // of profiles that don't name theirs
};
int Import(const Context& context, const ImportOptions& options);

struct ExplainOptions {
  std::string trace_id;
  std::string span_id;
  std::string mode = "self";
};
int Explain(const Context& context, const ExplainOptions& options);

struct FlameOptions {
  std::string service;
  std::string trace_id;
  std::string span_id;
  std::string spans;  // TraceQL
  std::string type;
  std::string since = "1h";
  std::string mode = "self";
  std::string svg, pprof, folded;  // files to write
};
int Flame(const Context& context, const FlameOptions& options);

struct TracesOptions {
  std::string service;
  std::string filter;
  std::string min_latency;
  std::string since = "1h";
  std::int64_t limit = 10;
  bool links = false;
};
int Traces(const Context& context, const TracesOptions& options);

struct BenchLoadOptions {
  std::uint64_t spans = 120'000;
  std::uint64_t samples = 400'000;
  std::uint64_t seed = 1;
  std::int64_t hours = 24;  // over which the data spread, until now
};
int BenchLoad(const Context& context, const BenchLoadOptions& options);

// Calls and turns what is no success into a line on `err` and an exit code; -1: go on.
int CallOrReport(const Context& context, const struct Call& call, std::string& body);

}  // namespace hotspan::cli
