// What the library is to do: the options of hotspan_start, then the environment, then defaults.
//
// Threads: read once at start; a value after that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/hotspan.h"
#include "agent/http_client.h"
#include "agent/otlp_encode.h"
#include "agent/span_sampler.h"

namespace hotspan::agent {

struct AgentConfig {
  bool disabled = false;  // OTEL_SDK_DISABLED
  std::string service_name;
  std::string endpoint;  // as given, for the log
  std::string traces_url;
  std::string profiles_url;
  HttpHeaders headers;
  bool gzip = true;
  int timeout_ms = 10'000;
  SpanSampler span_sampler;
  int cpu_hz = 97;  // 0: no profile
  bool off_cpu = true;
  bool locks = true;
  bool verbose = false;
  // Of the user; what the library knows itself is added by ResourceOf.
  std::vector<ResourceAttribute> resource;
  // What was set and could not be used, one line each.
  std::vector<std::string> warnings;
};

// Null where not set; like getenv.
using Environment = std::function<const char*(const char* name)>;

// `options` may be null.
AgentConfig ReadConfig(const hotspan_options* options, const Environment& environment);

// "k=v,k2=v2" with %xx in values, as in OTEL_RESOURCE_ATTRIBUTES; nothing where any pair is not
// one.
std::optional<std::vector<std::pair<std::string, std::string>>> ParsePairs(std::string_view text);

// The resource of this process: the config's, then service.instance.id, process and host, and the
// library itself. Another process needs another one.
std::vector<ResourceAttribute> ResourceOf(const AgentConfig& config);

}  // namespace hotspan::agent
