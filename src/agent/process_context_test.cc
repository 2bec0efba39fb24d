#include "agent/process_context.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "agent/otlp_encode.h"
#include "agent/test_otlp_reader.h"

namespace hotspan::agent {
namespace {

// The header, found as a reader in another process finds it: by the name of its mapping.
const char* FindHeader() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("OTEL_CTX") == std::string::npos) continue;
    return reinterpret_cast<const char*>(std::strtoull(line.c_str(), nullptr, 16));
  }
  return nullptr;
}

template <typename T>
T At(const char* header, std::size_t offset) {
  T value;
  std::memcpy(&value, header + offset, sizeof(value));
  return value;
}

Pbf Payload(const char* header) {
  return Pbf(std::string(At<const char*>(header, 24), At<std::uint32_t>(header, 12)));
}

TEST(ProcessContext, IsFoundAndReadByItsMapping) {
  PublishProcessContext(EncodeResource({{"service.name", "shop", std::nullopt}}));
  const char* const header = FindHeader();
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(std::string(header, 8), "OTEL_CTX");
  EXPECT_EQ(At<std::uint32_t>(header, 8), 2u);
  EXPECT_GT(At<std::uint64_t>(header, 16), 0u);
  const Pbf context = Payload(header);
  EXPECT_EQ(Attributes(context.Message(1), 1).at("service.name"), "shop");
  EXPECT_EQ(Attributes(context, 2).at("threadlocal.schema_version"), "tlsdesc_v1_dev");
}

TEST(ProcessContext, ANewOneReplacesTheOldWithALaterTime) {
  PublishProcessContext(EncodeResource({{"service.name", "a", std::nullopt}}));
  const char* const header = FindHeader();
  ASSERT_NE(header, nullptr);
  const auto first = At<std::uint64_t>(header, 16);
  PublishProcessContext(EncodeResource({{"service.name", "b", std::nullopt}}));
  EXPECT_EQ(FindHeader(), header);
  EXPECT_GT(At<std::uint64_t>(header, 16), first);
  EXPECT_EQ(Attributes(Payload(header).Message(1), 1).at("service.name"), "b");
}

}  // namespace
}  // namespace hotspan::agent
