// One program for all demo services: hotspan_demo_service --service NAME ...
// Prints one JSON line when it serves, and ends on SIGINT or SIGTERM.
#include <signal.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/hotspan.hpp"
#include "demo/common/sqlite.h"
#include "demo/services/services.h"

namespace demo {

std::string CreateDatabase(const Settings& settings, const std::string& name,
                           const std::string& schema) {
  const std::string path = settings.data_dir + "/" + name + ".sqlite";
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(path + suffix);
  }
  Database database(path);
  database.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  database.Execute("BEGIN;" + schema + "COMMIT;");
  return path;
}

namespace {

using Maker = Routes (*)(const Settings&);

const std::map<std::string, Maker>& Makers() {
  static const std::map<std::string, Maker> makers = {
      {"frontend", MakeFrontend},          {"api-gateway", MakeApiGateway},
      {"auth-service", MakeAuthService},   {"data-service", MakeDataService},
      {"order-service", MakeOrderService}, {"user-db", MakeUserDb},
      {"api_server", MakeApiServer},       {"checkout-service", MakeCheckoutService}};
  return makers;
}

int Run(const Settings& settings, Maker maker) {
  // Blocked before any thread begins, so that only sigwait below takes them.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);

  const hotspan::Agent agent({.service_name = settings.service,
                              .service_version = "1.0.0",
                              .endpoint = {},
                              .cpu_hz = 0,
                              .verbose = false});
  HttpServer server(settings.service, maker(settings));
  if (!server.Listen(settings.port, settings.port_tries)) {
    std::fprintf(stderr, "%s: port %d is in use; choose another with --port\n",
                 settings.service.c_str(), settings.port);
    return 2;
  }
  server.Start(settings.workers);
  std::printf("{\"ready\":true,\"service\":\"%s\",\"port\":%d}\n", settings.service.c_str(),
              server.port());
  std::fflush(stdout);
  int signal_number = 0;
  sigwait(&ending, &signal_number);
  server.Stop();
  return 0;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string error;
  const demo::Settings settings = demo::ParseSettings(arguments, &error);
  const auto maker = demo::Makers().find(settings.service);
  if (error.empty() && maker == demo::Makers().end()) {
    error = "no such service: " + settings.service;
  }
  if (!error.empty()) {
    std::fprintf(stderr, "%s\n%s", error.c_str(), demo::kUsage);
    return 2;
  }
  try {
    return demo::Run(settings, maker->second);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", settings.service.c_str(), failure.what());
    return 1;
  }
}
