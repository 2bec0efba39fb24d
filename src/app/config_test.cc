#include "app/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hotspan::app {
namespace {

class ConfigTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"PORT", "HOTSPAN_HTTP_ADDR", "HOTSPAN_DATA_DIR"}) ::unsetenv(name);
    std::filesystem::remove(file_);
  }
  void WriteFile(const std::string& text) { std::ofstream(file_) << text; }

  const std::string file_ =
      testing::TempDir() + "hotspan_config_test_" + std::to_string(::getpid()) + ".yaml";
};

TEST_F(ConfigTest, ListensOnLoopbackByDefault) {
  const auto config = ParseServeConfig({});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->http_addr, "127.0.0.1:4040");
  EXPECT_EQ(config->otlp_grpc_addr, "127.0.0.1:4317");
  EXPECT_EQ(config->otlp_http_addr, "127.0.0.1:4318");
  EXPECT_EQ(config->retention.traces.ns, 7 * 24 * kHour.ns);
}

TEST_F(ConfigTest, PrefersFlagsToVariablesToTheFile) {
  WriteFile(
      "http_addr: 127.0.0.1:1\ndata_dir: from-file\nretention-traces: 2d\n"
      "allowed-hosts: [a, b]\n");
  ::setenv("HOTSPAN_HTTP_ADDR", "127.0.0.1:2", 1);
  auto config = ParseServeConfig({"--config", file_});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->http_addr, "127.0.0.1:2");
  EXPECT_EQ(config->data_dir, "from-file");
  EXPECT_EQ(config->retention.traces.ns, 48 * kHour.ns);
  EXPECT_EQ(config->allowed_hosts, (std::vector<std::string>{"a", "b"}));
  config = ParseServeConfig({"--config", file_, "--http-addr", "127.0.0.1:3"});
  EXPECT_EQ(config->http_addr, "127.0.0.1:3");
}

TEST_F(ConfigTest, HonoursPort) {
  ::setenv("PORT", "8123", 1);
  EXPECT_EQ(ParseServeConfig({})->http_addr, "127.0.0.1:8123");
  EXPECT_EQ(ParseServeConfig({"--http-addr", "127.0.0.1:1"})->http_addr, "127.0.0.1:1");
}

TEST_F(ConfigTest, NamesWhatIsWrong) {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const auto config = ParseServeConfig(arguments);
    return config ? std::string() : config.error().message();
  };
  EXPECT_NE(error_of({"--colour"}).find("--colour"), std::string::npos);
  EXPECT_NE(error_of({"--retention-traces", "soon"}).find("--retention-traces"), std::string::npos);
  EXPECT_NE(error_of({"--tls-only"}).find("--tls-cert"), std::string::npos);
  EXPECT_NE(error_of({"--storage", "tape"}).find("tape"), std::string::npos);
  WriteFile("colour: red\n");
  EXPECT_NE(error_of({"--config", file_}).find("unknown key \"colour\""), std::string::npos);
  EXPECT_NE(error_of({"--config", "/nowhere.yaml"}).find("/nowhere.yaml"), std::string::npos);
}

}  // namespace
}  // namespace hotspan::app
