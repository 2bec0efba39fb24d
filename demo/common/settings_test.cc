#include "demo/common/settings.h"

#include <gtest/gtest.h>

namespace demo {
namespace {

TEST(ParseSettings, ReadsAllFlags) {
  std::string error;
  const Settings settings = ParseSettings(
      {"--service", "frontend", "--port", "8080", "--port-tries", "20", "--workers", "4", "--data",
       "/tmp/x", "--peer", "api-gateway=127.0.0.1:8081", "--order-ms", "40"},
      &error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(settings.service, "frontend");
  EXPECT_EQ(settings.port, 8080);
  EXPECT_EQ(settings.port_tries, 20);
  EXPECT_EQ(settings.workers, 4);
  EXPECT_EQ(settings.data_dir, "/tmp/x");
  EXPECT_EQ(settings.PeerNamed("api-gateway").address.port, 8081);
  EXPECT_EQ(settings.order_cpu, std::chrono::milliseconds(40));
}

TEST(ParseSettings, NamesTheBadArgument) {
  std::string error;
  ParseSettings({"--service", "frontend", "--port", "70000"}, &error);
  EXPECT_EQ(error, "bad argument: --port 70000");
  ParseSettings({"--service", "frontend", "--colour", "red"}, &error);
  EXPECT_EQ(error, "bad argument: --colour red");
  ParseSettings({"--service"}, &error);
  EXPECT_EQ(error, "--service is unknown or has no value");
  ParseSettings({}, &error);
  EXPECT_EQ(error, "--service is missing");
  ParseSettings({"--service", "frontend", "--peer", "x=nowhere"}, &error);
  EXPECT_EQ(error, "bad argument: --peer x=nowhere");
}

}  // namespace
}  // namespace demo
