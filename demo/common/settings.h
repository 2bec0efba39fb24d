// Command line of the demo's service program.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "demo/common/http_client.h"

namespace demo {

struct Settings {
  std::string service;
  std::uint16_t port = 0;
  int port_tries = 1;
  int workers = 16;
  std::string data_dir = ".";
  std::map<std::string, Address> peers;
  // CPU time of one order.calculate_totals.
  std::chrono::milliseconds order_cpu{550};

  // The peer of this name; exits the program with a message where it was not given.
  Peer PeerNamed(const std::string& name) const;
};

inline constexpr char kUsage[] =
    "usage: hotspan_demo_service --service NAME [--port P] [--port-tries N] [--workers N]\n"
    "         [--data DIR] [--peer NAME=HOST:PORT]... [--order-ms MS]\n"
    "NAME is frontend, api-gateway, auth-service, data-service, order-service, user-db,\n"
    "api_server or checkout-service. Port 0 takes a free one; --port-tries N takes the first free\n"
    "one of N from P on. The address of the trace server comes from OTEL_EXPORTER_OTLP_ENDPOINT.\n";

// Reads the arguments after the program's name. On bad ones `error` says what is wrong.
Settings ParseSettings(const std::vector<std::string>& arguments, std::string* error);

}  // namespace demo
