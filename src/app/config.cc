#include "app/config.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "query/traceql/parser.h"

namespace hotspan::app {
namespace {

struct Texts {
  std::string config;
  std::string retention_traces = "7d";
  std::string retention_profiles = "30d";
};

std::string EnvironmentName(std::string flag) {
  for (char& c : flag) c = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return "HOTSPAN_" + flag;
}

void AddOptions(CLI::App& parser, ServeConfig& config, Texts& texts) {
  const auto text = [&](const char* name, std::string& target, const char* help) {
    return parser.add_option(std::string("--") + name, target, help)
        ->envname(EnvironmentName(name))
        ->capture_default_str();
  };
  text("config", texts.config, "YAML file with the same keys as the flags");
  text("data-dir", config.data_dir, "folder of the data, made if it is not there");
  text("storage", config.storage, "embedded, or memory (keeps nothing)")
      ->check(CLI::IsMember({"embedded", "memory"}));
  text("http-addr", config.http_addr, "page, API, OTLP and gRPC; port 0: a free one");
  text("otlp-grpc-addr", config.otlp_grpc_addr, "OTLP; off: none");
  text("otlp-http-addr", config.otlp_http_addr, "OTLP; off: none");
  text("retention-traces", texts.retention_traces, "how long traces are kept");
  text("retention-profiles", texts.retention_profiles, "how long profiles are kept");
  text("tls-cert", config.tls_cert, "PEM file; with it TLS is answered on every port");
  text("tls-key", config.tls_key, "PEM file of the certificate's key");
  parser.add_flag("--tls-only", config.tls_only, "refuse connections without TLS")
      ->envname(EnvironmentName("tls-only"));
  parser
      .add_option("--allowed-hosts", config.allowed_hosts,
                  "names by which browsers may reach the server, comma separated; *: any")
      ->envname(EnvironmentName("allowed-hosts"))
      ->delimiter(',');
}

Status ApplyYaml(CLI::App& parser, const std::string& file) {
  const auto fail = [&](const std::string& why) {
    return Fail(Code::kInvalidArgument, "config file " + file + ": " + why);
  };
  YAML::Node root;
  try {
    root = YAML::LoadFile(file);
  } catch (const YAML::Exception& exception) {
    return fail(exception.what());
  }
  if (root.IsNull()) return {};
  if (!root.IsMap()) return fail("it must be a map of keys");
  for (const auto& entry : root) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    std::replace(key.begin(), key.end(), '_', '-');
    CLI::Option* option = key == "config" ? nullptr : parser.get_option_no_throw("--" + key);
    if (option == nullptr) return fail("unknown key \"" + key + "\"");
    // What a flag or a variable said already stays.
    if (option->count() > 0) continue;
    if (entry.second.IsScalar()) {
      option->add_result(entry.second.Scalar());
    } else if (entry.second.IsSequence() && key == "allowed-hosts") {
      for (const auto& item : entry.second) option->add_result(item.Scalar());
    } else {
      return fail("the value of \"" + key + "\" has the wrong kind");
    }
    try {
      option->run_callback();
    } catch (const CLI::Error& error) {
      return fail(error.what());
    }
  }
  return {};
}

Status SetRetention(const char* flag, const std::string& text, DurationNs& target) {
  const auto duration = query::traceql::ParseDurationNs(text);
  if (!duration || *duration <= 0) {
    return Fail(Code::kInvalidArgument,
                std::string(flag) + ": \"" + text + "\" is not a duration like 7d or 12h");
  }
  target = {*duration};
  return {};
}

// The port that a platform assigned, unless an address was given.
void ApplyPort(CLI::App& parser, ServeConfig& config) {
  const char* port = std::getenv("PORT");
  if (port == nullptr || *port == '\0' || parser.get_option("--http-addr")->count() > 0) return;
  config.http_addr = std::string("127.0.0.1:") + port;
}

}  // namespace

Result<ServeConfig> ParseServeConfig(const std::vector<std::string>& arguments) {
  ServeConfig config;
  Texts texts;
  CLI::App parser("Runs the server.", "hotspan serve");
  AddOptions(parser, config, texts);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    parser.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    config.help = parser.help();
    return config;
  } catch (const CLI::ParseError& error) {
    return Fail(Code::kInvalidArgument, std::string(error.what()) + "; see hotspan serve --help");
  }
  if (!texts.config.empty()) TRY(ApplyYaml(parser, texts.config));
  ApplyPort(parser, config);
  TRY(SetRetention("--retention-traces", texts.retention_traces, config.retention.traces));
  TRY(SetRetention("--retention-profiles", texts.retention_profiles, config.retention.profiles));
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return Fail(Code::kInvalidArgument, "--tls-cert and --tls-key belong together");
  }
  if (config.tls_only && config.tls_cert.empty()) {
    return Fail(Code::kInvalidArgument, "--tls-only needs --tls-cert and --tls-key");
  }
  return config;
}

}  // namespace hotspan::app
