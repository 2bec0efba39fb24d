#include "wire/folded/folded_decoder.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace hotspan::wire {
namespace {

ProfileDecode Decode(std::string_view text, const FoldedOptions& options = {}) {
  auto decoded = DecodeFolded(text, options);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message());
  if (!decoded) return {};
  EXPECT_EQ(FindDamage(decoded->batch), "");
  return std::move(*decoded);
}

std::string StackOf(const SampleBatch& batch, const SampleRow& sample) {
  std::string text;
  const StackRow& stack = batch.stacks[sample.stack];
  for (std::uint32_t i = 0; i < stack.location_count; ++i) {
    const LocationRow& location = batch.locations[batch.stack_locations[stack.first_location + i]];
    if (!text.empty()) text += '<';
    text += batch.Text(batch.functions[batch.lines[location.first_line].function].name);
  }
  return text;
}

TEST(FoldedDecoder, ReadsLinesLeafLast) {
  FoldedOptions options;
  options.scale = 10;
  options.source.service_name = "shop";
  options.source.start = {99};
  const ProfileDecode decoded =
      Decode("main;a b;leaf 3\r\n\n# note\nmain;other 2.6\nmain 1", options);
  const SampleBatch& batch = decoded.batch;
  ASSERT_EQ(batch.samples.size(), 3u);
  EXPECT_EQ(StackOf(batch, batch.samples[0]), "leaf<a b<main");
  EXPECT_EQ(batch.samples[0].value, 30);
  EXPECT_EQ(batch.samples[0].time.ns, 99);
  EXPECT_EQ(batch.samples[1].value, 30);
  EXPECT_EQ(StackOf(batch, batch.samples[2]), "main");
  EXPECT_EQ(batch.functions.size(), 4u);
  EXPECT_EQ(batch.Text(batch.resources[0].service_name), "shop");
}

TEST(FoldedDecoder, SkipsLinesWithoutCountAndEmptyFrames) {
  const ProfileDecode decoded = Decode("\xef\xbb\xbfjust\n;main;;work; 4\n");
  ASSERT_EQ(decoded.batch.samples.size(), 1u);
  EXPECT_EQ(StackOf(decoded.batch, decoded.batch.samples[0]), "work<main");
}

TEST(FoldedDecoder, NamesTheLineThatIsWrong) {
  const auto decoded = DecodeFolded("main 1\nmain;work x12\n", {});
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message().find("line 2"), std::string::npos);
}

TEST(FoldedDecoder, RefusesOverflowNoiseAndUtf16) {
  FoldedOptions options;
  options.scale = 1000;
  EXPECT_FALSE(DecodeFolded("a 9223372036854775807", options));
  EXPECT_FALSE(DecodeFolded("a 1e300", options));
  EXPECT_FALSE(DecodeFolded("", {}));
  EXPECT_FALSE(DecodeFolded("# nothing\n", {}));
  EXPECT_FALSE(DecodeFolded(std::string_view("\xff\xfe"
                                             "m\0 \0001\0",
                                             8),
                            {}));
}

TEST(FoldedDecoder, CutsDeepStacksAndRepairsNames) {
  std::string line = "f\xff";
  for (std::size_t i = 0; i < limits::kStackDepthMax + 5; ++i) line += ";g" + std::to_string(i);
  const ProfileDecode decoded = Decode(line + " 1\n\xfe;x 2");
  EXPECT_EQ(decoded.batch.stacks[0].location_count, limits::kStackDepthMax);
  EXPECT_EQ(decoded.counts.truncated, 1u);
  EXPECT_EQ(decoded.counts.invalid_utf8, 2u);
}

TEST(LooksLikeFolded, TellsTextFromNoise) {
  EXPECT_TRUE(LooksLikeFolded("main;work 12\n"));
  EXPECT_TRUE(LooksLikeFolded("# c\n\nmain 1"));
  EXPECT_FALSE(LooksLikeFolded(""));
  EXPECT_FALSE(LooksLikeFolded("hello world\n"));
  EXPECT_FALSE(LooksLikeFolded(std::string_view("a\0b 12\n", 7)));
}

}  // namespace
}  // namespace hotspan::wire
