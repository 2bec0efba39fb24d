#include "agent/env_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>

namespace hotspan::agent {
namespace {

using Variables = std::map<std::string, std::string>;

AgentConfig Read(const Variables& variables, const hotspan_options* options = nullptr) {
  return ReadConfig(options, [&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

std::string ResourceText(const AgentConfig& config, const std::string& key) {
  std::string found;
  int count = 0;
  for (const ResourceAttribute& attribute : ResourceOf(config)) {
    if (attribute.key != key) continue;
    found = attribute.number ? std::to_string(*attribute.number) : attribute.text;
    ++count;
  }
  EXPECT_LE(count, 1) << key;
  return found;
}

hotspan_options Options() {
  hotspan_options options{};
  options.size = sizeof(options);
  return options;
}

TEST(EnvConfig, HasDefaults) {
  const AgentConfig config = Read({});
  EXPECT_FALSE(config.disabled);
  EXPECT_EQ(config.traces_url, "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(config.profiles_url, "http://127.0.0.1:4318/v1development/profiles");
  EXPECT_EQ(config.cpu_hz, 97);
  EXPECT_TRUE(config.off_cpu);
  EXPECT_TRUE(config.gzip);
  EXPECT_EQ(config.span_sampler.description(), "parentbased_always_on");
  EXPECT_TRUE(config.service_name.starts_with("unknown_service:")) << config.service_name;
  EXPECT_TRUE(config.warnings.empty());
}

TEST(EnvConfig, TakesTheEnvironment) {
  const AgentConfig config = Read({{"OTEL_SERVICE_NAME", "shop"},
                                   {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:1234/base/"},
                                   {"OTEL_EXPORTER_OTLP_HEADERS", "X-Scope=a%20b, y=2"},
                                   {"OTEL_EXPORTER_OTLP_TIMEOUT", "500"},
                                   {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
                                   {"OTEL_TRACES_SAMPLER", "traceidratio"},
                                   {"OTEL_TRACES_SAMPLER_ARG", "0.25"},
                                   {"HOTSPAN_CPU_HZ", "199"},
                                   {"HOTSPAN_OFF_CPU", "false"},
                                   {"HOTSPAN_LOCKS", "off"}});
  EXPECT_EQ(config.service_name, "shop");
  EXPECT_EQ(config.traces_url, "http://collector:1234/base/v1/traces");
  EXPECT_EQ(config.headers, (HttpHeaders{{"X-Scope", "a b"}, {"y", "2"}}));
  EXPECT_EQ(config.timeout_ms, 500);
  EXPECT_FALSE(config.gzip);
  EXPECT_EQ(config.span_sampler.description(), "traceidratio 0.25");
  EXPECT_EQ(config.cpu_hz, 199);
  EXPECT_FALSE(config.off_cpu);
  EXPECT_FALSE(config.locks);
  EXPECT_TRUE(config.warnings.empty());
}

TEST(EnvConfig, OptionsWinOverTheEnvironment) {
  hotspan_options options = Options();
  options.service_name = "by option";
  options.service_version = "2";
  options.endpoint = "http://option:1";
  options.cpu_hz = 11;
  const AgentConfig config =
      Read({{"OTEL_SERVICE_NAME", "shop"},
            {"OTEL_RESOURCE_ATTRIBUTES", "service.name=third,service.version=1"},
            {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://environment:1"},
            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://environment:2/x"},
            {"HOTSPAN_CPU_HZ", "199"}},
           &options);
  EXPECT_EQ(config.service_name, "by option");
  EXPECT_EQ(ResourceText(config, "service.version"), "2");
  EXPECT_EQ(config.traces_url, "http://option:1/v1/traces");
  EXPECT_EQ(config.cpu_hz, 11);
}

TEST(EnvConfig, EndpointOfOneSignalIsTakenAsItIs) {
  const AgentConfig config = Read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"},
                                   {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b:2/x"},
                                   {"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://c:3/y"}});
  EXPECT_EQ(config.traces_url, "http://b:2/x");
  EXPECT_EQ(config.profiles_url, "http://c:3/y");
}

TEST(EnvConfig, ServiceNameWinsOverResourceAttributes) {
  EXPECT_EQ(Read({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=a"}}).service_name, "a");
  EXPECT_EQ(Read({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=a"}, {"OTEL_SERVICE_NAME", "b"}})
                .service_name,
            "b");
}

TEST(EnvConfig, WarnsOfWhatItCannotUseAndKeepsTheDefault) {
  const AgentConfig config = Read({{"OTEL_RESOURCE_ATTRIBUTES", "novalue"},
                                   {"OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0aX: y"},
                                   {"OTEL_EXPORTER_OTLP_TIMEOUT", "-1"},
                                   {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
                                   {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                                   {"OTEL_TRACES_SAMPLER", "traceidratio"},
                                   {"OTEL_TRACES_SAMPLER_ARG", "7"},
                                   {"HOTSPAN_CPU_HZ", "1001"},
                                   {"HOTSPAN_OFF_CPU", "perhaps"},
                                   {"HOTSPAN_LOCKS", "2"}});
  EXPECT_EQ(config.warnings.size(), 9u);
  EXPECT_TRUE(config.headers.empty());
  EXPECT_EQ(config.timeout_ms, 10'000);
  EXPECT_EQ(config.cpu_hz, 97);
  EXPECT_TRUE(config.off_cpu);
  EXPECT_TRUE(config.locks);
  EXPECT_EQ(config.span_sampler.description(), "parentbased_always_on");
}

TEST(EnvConfig, NoProfileByOptionOrVariable) {
  hotspan_options options = Options();
  options.cpu_hz = -1;
  EXPECT_EQ(Read({{"HOTSPAN_CPU_HZ", "50"}}, &options).cpu_hz, 0);
  EXPECT_EQ(Read({{"HOTSPAN_CPU_HZ", "off"}}).cpu_hz, 0);
  EXPECT_EQ(Read({{"HOTSPAN_CPU_HZ", "0"}}).cpu_hz, 0);
  options.cpu_hz = 5000;
  EXPECT_EQ(Read({}, &options).cpu_hz, 1000);
}

TEST(EnvConfig, IsDisabledByTheStandardVariable) {
  EXPECT_TRUE(Read({{"OTEL_SDK_DISABLED", "TRUE"}}).disabled);
  EXPECT_FALSE(Read({{"OTEL_SDK_DISABLED", "1"}}).disabled);
}

TEST(EnvConfig, ReadsOnlyTheOptionsThatTheCallerKnows) {
  hotspan_options options = Options();
  options.service_name = "old";
  options.endpoint = "http://beyond";
  options.size = offsetof(hotspan_options, endpoint);
  const AgentConfig config = Read({}, &options);
  EXPECT_EQ(config.service_name, "old");
  EXPECT_EQ(config.endpoint, "http://127.0.0.1:4318");
}

TEST(ResourceOf, DescribesThisProcess) {
  const AgentConfig config = Read(
      {{"OTEL_SERVICE_NAME", "shop"}, {"OTEL_RESOURCE_ATTRIBUTES", "host.name=mine,team=a%2Cb"}});
  EXPECT_EQ(ResourceText(config, "service.name"), "shop");
  EXPECT_EQ(ResourceText(config, "team"), "a,b");
  EXPECT_EQ(ResourceText(config, "host.name"), "mine");
  EXPECT_EQ(ResourceText(config, "process.pid"), std::to_string(::getpid()));
  EXPECT_EQ(ResourceText(config, "telemetry.sdk.name"), "libhotspan");
  EXPECT_EQ(ResourceText(config, "telemetry.sdk.language"), "cpp");
  EXPECT_FALSE(ResourceText(config, "telemetry.sdk.version").empty());
  EXPECT_FALSE(ResourceText(config, "process.executable.name").empty());
  const std::string id = ResourceText(config, "service.instance.id");
  ASSERT_EQ(id.size(), 36u);
  EXPECT_EQ(id[14], '4');
  EXPECT_NE(id, ResourceText(config, "service.instance.id"));
}

}  // namespace
}  // namespace hotspan::agent
