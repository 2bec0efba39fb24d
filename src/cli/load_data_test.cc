#include "cli/load_data.h"

#include <gtest/gtest.h>

#include "wire/otlp/profile_decoder.h"
#include "wire/otlp/trace_decoder.h"

namespace hotspan::cli {
namespace {

constexpr LoadShape kShape{.spans = 3000,
                           .samples = 10'000,
                           .seed = 7,
                           .begin_ns = 1'700'000'000'000'000'000,
                           .end_ns = 1'700'003'600'000'000'000};

std::vector<LoadMessage> All(const LoadShape& shape) {
  LoadData data(shape);
  std::vector<LoadMessage> messages;
  for (LoadMessage message; data.Next(message);) messages.push_back(std::move(message));
  return messages;
}

TEST(LoadData, MakesTheCountsAskedFor) {
  std::uint64_t spans = 0;
  std::uint64_t samples = 0;
  for (const LoadMessage& message : All(kShape)) {
    (message.profile ? samples : spans) += message.items;
  }
  EXPECT_EQ(spans, kShape.spans);
  EXPECT_EQ(samples, kShape.samples);
}

TEST(LoadData, IsTheSameForTheSameSeed) {
  const auto first = All(kShape);
  const auto second = All(kShape);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].bytes, second[i].bytes);
  LoadShape other = kShape;
  other.seed = 8;
  EXPECT_NE(All(other)[0].bytes, first[0].bytes);
}

TEST(LoadData, IsTakenWholeByTheDecoders) {
  for (const LoadMessage& message : All(kShape)) {
    if (message.profile) {
      const auto decoded = wire::DecodeProfiles(message.bytes, wire::Encoding::kProtobuf);
      ASSERT_TRUE(decoded) << decoded.error().message();
      EXPECT_EQ(decoded->rejected, 0u) << decoded->message;
      EXPECT_EQ(decoded->batch.samples.size(), message.items);
    } else {
      const auto decoded = wire::DecodeTraces(message.bytes, wire::Encoding::kProtobuf);
      ASSERT_TRUE(decoded) << decoded.error().message();
      EXPECT_EQ(decoded->rejected, 0u) << decoded->message;
      EXPECT_EQ(decoded->batch.spans.size(), message.items);
    }
  }
}

}  // namespace
}  // namespace hotspan::cli
