#include "agent/env_config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "agent/random.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

constexpr std::string_view kDefaultEndpoint = "http://127.0.0.1:4318";
constexpr std::string_view kTracesPath = "/v1/traces";
constexpr std::string_view kProfilesPath = "/v1development/profiles";
constexpr int kCpuHzMax = 1000;
constexpr int kTimeoutMsMax = 600'000;

// An empty variable counts as not set, as OpenTelemetry has it.
std::string Get(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

std::optional<int> ParseInt(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* const digits = text.data() + at + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
    out += static_cast<char>(value);
    at += 2;
  }
  return out;
}

std::string JoinUrl(std::string_view endpoint, std::string_view path) {
  while (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  return std::string(endpoint) + std::string(path);
}

void Warn(AgentConfig& config, std::string_view name, std::string_view value,
          std::string_view used) {
  config.warnings.push_back(std::string(name) + "=" + std::string(value) +
                            " is ignored: " + std::string(used));
}

void ReadEndpoints(const hotspan_options& options, const Environment& environment,
                   AgentConfig& config) {
  const bool by_option = options.endpoint != nullptr && options.endpoint[0] != '\0';
  config.endpoint = by_option ? options.endpoint : Get(environment, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (config.endpoint.empty()) config.endpoint = kDefaultEndpoint;
  config.traces_url = JoinUrl(config.endpoint, kTracesPath);
  config.profiles_url = JoinUrl(config.endpoint, kProfilesPath);
  if (by_option) return;
  // Those of one signal are the whole URL.
  const std::string traces = Get(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (!traces.empty()) config.traces_url = traces;
  const std::string profiles = Get(environment, "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT");
  if (!profiles.empty()) config.profiles_url = profiles;
}

void ReadTransport(const Environment& environment, AgentConfig& config) {
  const std::string headers = Get(environment, "OTEL_EXPORTER_OTLP_HEADERS");
  const auto pairs = ParsePairs(headers);
  const auto has_control = [](std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
  };
  if (!pairs || std::ranges::any_of(*pairs, [&](const auto& pair) {
        return has_control(pair.first) || has_control(pair.second);
      })) {
    Warn(config, "OTEL_EXPORTER_OTLP_HEADERS", "...", "not a list of key=value");
  } else {
    config.headers = *pairs;
  }
  const std::string compression = Get(environment, "OTEL_EXPORTER_OTLP_COMPRESSION");
  config.gzip = compression != "none";
  if (!compression.empty() && compression != "none" && compression != "gzip") {
    Warn(config, "OTEL_EXPORTER_OTLP_COMPRESSION", compression, "gzip or none");
  }
  const std::string timeout = Get(environment, "OTEL_EXPORTER_OTLP_TIMEOUT");
  if (!timeout.empty()) {
    const std::optional<int> ms = ParseInt(timeout);
    if (ms && *ms > 0 && *ms <= kTimeoutMsMax) {
      config.timeout_ms = *ms;
    } else {
      Warn(config, "OTEL_EXPORTER_OTLP_TIMEOUT", timeout, "milliseconds, 1 to 600000");
    }
  }
  const std::string protocol = Get(environment, "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (!protocol.empty() && protocol != "http/protobuf") {
    Warn(config, "OTEL_EXPORTER_OTLP_PROTOCOL", protocol, "http/protobuf is spoken");
  }
}

// What is on unless it is turned off.
bool ReadSwitch(const char* name, const Environment& environment, AgentConfig& config) {
  const std::string value = Lower(Get(environment, name));
  if (value == "false" || value == "0" || value == "off") return false;
  if (!value.empty() && value != "true" && value != "1" && value != "on") {
    Warn(config, name, value, "true or false");
  }
  return true;
}

void ReadSampling(const hotspan_options& options, const Environment& environment,
                  AgentConfig& config) {
  const std::string name = Get(environment, "OTEL_TRACES_SAMPLER");
  if (!name.empty()) {
    const std::string argument = Get(environment, "OTEL_TRACES_SAMPLER_ARG");
    if (const auto sampler = SpanSampler::Make(name, argument)) {
      config.span_sampler = *sampler;
    } else {
      Warn(config, "OTEL_TRACES_SAMPLER", name + " (" + argument + ")",
           config.span_sampler.description() + " is used");
    }
  }
  const std::string hz = Lower(Get(environment, "HOTSPAN_CPU_HZ"));
  if (options.cpu_hz != 0) {
    config.cpu_hz = std::clamp(options.cpu_hz, 0, kCpuHzMax);
  } else if (hz == "off") {
    config.cpu_hz = 0;
  } else if (!hz.empty()) {
    const std::optional<int> number = ParseInt(hz);
    if (number && *number >= 0 && *number <= kCpuHzMax) {
      config.cpu_hz = *number;
    } else {
      Warn(config, "HOTSPAN_CPU_HZ", hz, "0 to 1000");
    }
  }
  config.off_cpu = ReadSwitch("HOTSPAN_OFF_CPU", environment, config);
  config.locks = ReadSwitch("HOTSPAN_LOCKS", environment, config);
}

std::string ExecutableName() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view text(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(text.substr(text.rfind('/') + 1));
}

void ReadResource(const hotspan_options& options, const Environment& environment,
                  AgentConfig& config) {
  const std::string text = Get(environment, "OTEL_RESOURCE_ATTRIBUTES");
  std::string name;
  std::string version;
  if (const auto pairs = ParsePairs(text)) {
    for (const auto& [key, value] : *pairs) {
      if (key == "service.name") {
        name = value;
      } else if (key == "service.version") {
        version = value;
      } else {
        config.resource.push_back({key, value, std::nullopt});
      }
    }
  } else {
    Warn(config, "OTEL_RESOURCE_ATTRIBUTES", text, "not a list of key=value");
  }
  const std::string by_variable = Get(environment, "OTEL_SERVICE_NAME");
  if (!by_variable.empty()) name = by_variable;
  if (options.service_name != nullptr && options.service_name[0] != '\0') {
    name = options.service_name;
  }
  if (options.service_version != nullptr && options.service_version[0] != '\0') {
    version = options.service_version;
  }
  config.service_name = name.empty() ? "unknown_service:" + ExecutableName() : name;
  config.resource.insert(config.resource.begin(),
                         {"service.name", config.service_name, std::nullopt});
  if (!version.empty()) config.resource.push_back({"service.version", version, std::nullopt});
}

std::string RandomUuid() {
  std::array<std::uint8_t, 16> bytes{};
  KernelRandom(bytes.data(), bytes.size());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fu) | 0x40u);  // version 4
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fu) | 0x80u);  // RFC 9562's variant
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

// The fields that the caller's header knew of; later ones stay zero.
hotspan_options CopyOptions(const hotspan_options* options) {
  hotspan_options copy{};
  if (options != nullptr) {
    __builtin_memcpy(&copy, options, std::min(options->size, sizeof(copy)));
  }
  return copy;
}

}  // namespace

std::optional<std::vector<std::pair<std::string, std::string>>> ParsePairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view pair = Trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    const auto key = PercentDecode(Trim(pair.substr(0, equals)));
    const auto value = PercentDecode(Trim(pair.substr(equals + 1)));
    if (!key || key->empty() || !value) return std::nullopt;
    if (pairs.size() >= limits::kAgentConfigPairsMax) return std::nullopt;
    pairs.emplace_back(*key, *value);
  }
  return pairs;
}

AgentConfig ReadConfig(const hotspan_options* given, const Environment& environment) {
  const hotspan_options options = CopyOptions(given);
  AgentConfig config;
  config.disabled = Lower(Get(environment, "OTEL_SDK_DISABLED")) == "true";
  config.verbose = options.verbose != 0;
  ReadEndpoints(options, environment, config);
  ReadTransport(environment, config);
  ReadSampling(options, environment, config);
  ReadResource(options, environment, config);
  return config;
}

std::vector<ResourceAttribute> ResourceOf(const AgentConfig& config) {
  std::vector<ResourceAttribute> all = config.resource;
  const auto add = [&](ResourceAttribute attribute) {
    const bool is_set = std::ranges::any_of(
        all, [&](const ResourceAttribute& other) { return other.key == attribute.key; });
    if (!is_set && (attribute.number || !attribute.text.empty())) {
      all.push_back(std::move(attribute));
    }
  };
  add({"service.instance.id", RandomUuid(), std::nullopt});
  add({"process.pid", {}, ::getpid()});
  add({"process.executable.name", ExecutableName(), std::nullopt});
  add({"host.name", HostName(), std::nullopt});
  add({"telemetry.sdk.name", "libhotspan", std::nullopt});
  add({"telemetry.sdk.language", "cpp", std::nullopt});
  add({"telemetry.sdk.version", HOTSPAN_AGENT_VERSION, std::nullopt});
  return all;
}

}  // namespace hotspan::agent
