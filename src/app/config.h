// What `hotspan serve` can be told, by flag, HOTSPAN_… environment variable or YAML file, in that
// order of precedence.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "storage/engine.h"

namespace hotspan::app {

struct ServeConfig {
  std::string data_dir = "./hotspan-data";
  std::string storage = "embedded";
  std::string http_addr = "127.0.0.1:4040";
  std::string otlp_grpc_addr = "127.0.0.1:4317";
  std::string otlp_http_addr = "127.0.0.1:4318";
  storage::RetentionPolicy retention;
  std::string tls_cert;
  std::string tls_key;
  bool tls_only = false;
  std::vector<std::string> allowed_hosts;
  std::string help;  // not empty: print it and do nothing else
};

// Arguments after `serve`. Errors are one line for people.
Result<ServeConfig> ParseServeConfig(const std::vector<std::string>& arguments);

}  // namespace hotspan::app
