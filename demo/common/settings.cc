#include "demo/common/settings.h"

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace demo {
namespace {

template <typename T>
bool Number(const std::string& text, std::int64_t low, std::int64_t high, T* number) {
  const std::optional<std::int64_t> parsed = ParseNumber(text, low, high);
  if (parsed) *number = static_cast<T>(*parsed);
  return parsed.has_value();
}

bool AddPeer(const std::string& text, Settings* settings) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  const std::optional<Address> address = ParseAddress(text.substr(equals + 1));
  if (address) settings->peers[text.substr(0, equals)] = *address;
  return address.has_value();
}

// False where the value does not fit the flag, or the flag is not known.
bool Apply(const std::string& flag, const std::string& value, Settings* settings) {
  if (flag == "--service") {
    settings->service = value;
    return true;
  }
  if (flag == "--data") {
    settings->data_dir = value;
    return true;
  }
  if (flag == "--port") return Number(value, 0, 65535, &settings->port);
  if (flag == "--port-tries") return Number(value, 1, 1000, &settings->port_tries);
  if (flag == "--workers") return Number(value, 1, 256, &settings->workers);
  if (flag == "--peer") return AddPeer(value, settings);
  if (flag == "--order-ms") {
    std::int64_t milliseconds = 0;
    if (!Number(value, 1, 60'000, &milliseconds)) return false;
    settings->order_cpu = std::chrono::milliseconds(milliseconds);
    return true;
  }
  return false;
}

}  // namespace

Peer Settings::PeerNamed(const std::string& name) const {
  const auto found = peers.find(name);
  if (found == peers.end()) {
    std::fprintf(stderr, "%s needs --peer %s=HOST:PORT\n", service.c_str(), name.c_str());
    std::exit(2);
  }
  return {.name = name, .address = found->second};
}

Settings ParseSettings(const std::vector<std::string>& arguments, std::string* error) {
  Settings settings;
  error->clear();
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) {
      *error = arguments[i] + " is unknown or has no value";
      return settings;
    }
    if (!Apply(arguments[i], arguments[i + 1], &settings)) {
      *error = "bad argument: " + arguments[i] + " " + arguments[i + 1];
      return settings;
    }
  }
  if (settings.service.empty()) *error = "--service is missing";
  return settings;
}

}  // namespace demo
