#include "query/frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "query/flame/flame.h"
#include "query/test_store.h"

namespace hotspan::query {
namespace {

// Knows build id "known": address 16 is f inlined into g, 32 has a line but no name.
class FakeSymbolizer final : public Symbolizer {
 public:
  std::vector<SourceLine> Resolve(std::string_view build_id, std::string_view,
                                  std::uint64_t offset) override {
    ++calls;
    if (build_id != "known") return {};
    if (offset == 16) return {{"f", "f.cc", 3}, {"g", "g.cc", 9}};
    if (offset == 32) return {{"", "h.cc", 5}};
    return {};
  }
  std::atomic<int> calls = 0;
};

class FramesTest : public StoreTest {
 protected:
  // Native locations of a module, each a stack of its own.
  void WriteNative(const std::string& build_id, const std::vector<std::uint64_t>& addresses,
                   const std::string& elf_name) {
    SampleBatch batch = MakeTestSamples("shop", {});
    MappingRow mapping;
    mapping.file = batch.Add("/usr/bin/shop");
    mapping.build_id = batch.Add(build_id);
    batch.mappings.push_back(mapping);
    if (!elf_name.empty()) {
      FunctionRow function;
      function.name = batch.Add(elf_name);
      batch.functions.push_back(function);
      batch.lines.push_back({0, 0});
    }
    for (const std::uint64_t address : addresses) {
      LocationRow location;
      location.address = address;
      location.mapping = 0;
      location.line_count = elf_name.empty() ? 0 : 1;
      const auto number = static_cast<std::uint32_t>(batch.locations.size());
      batch.locations.push_back(location);
      batch.stacks.push_back({static_cast<std::uint32_t>(batch.stack_locations.size()), 1});
      batch.stack_locations.push_back(number);
      SampleRow sample;
      sample.value = 1;
      sample.time = {kTestNow};
      sample.stack = number;
      batch.samples.push_back(sample);
    }
    storage::WriteBatch write;
    write.samples = std::make_shared<const SampleBatch>(std::move(batch));
    ASSERT_TRUE(engine_->Write(std::move(write)).has_value());
  }

  std::vector<StackNumber> AllStacks() {
    storage::SampleMerge merge;
    merge.type = kTestCpu;
    const auto merged = engine_->MergeSamples(merge);
    std::vector<StackNumber> numbers;
    for (const auto& stack : merged->stacks) numbers.push_back(stack.stack);
    return numbers;
  }

  // "leaf<caller" of each stack, sorted.
  static std::vector<std::string> Texts(const FrameTable& table) {
    std::vector<std::string> out;
    for (const auto& [number, stack] : table.stacks) {
      std::string text;
      for (const std::uint32_t frame : stack) {
        if (!text.empty()) text += "<";
        text += flame::FrameLabel(table.frames[frame]);
        if (table.frames[frame].inlined) text += "(inlined)";
      }
      out.push_back(text);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  FakeSymbolizer symbolizer_;
};

TEST_F(FramesTest, ExpandsInlineChainsAndKeepsTheNameWhereNothingIsKnown) {
  WriteNative("known", {16, 32, 48}, "elf_name");
  FrameReader reader(*engine_, &symbolizer_);
  const auto table = reader.Read(AllStacks());
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(Texts(**table), (std::vector<std::string>{"elf_name", "elf_name", "f(inlined)<g"}));
}

TEST_F(FramesTest, UnknownAddressesStayModuleAndOffset) {
  WriteNative("other", {16}, "");
  FrameReader reader(*engine_, &symbolizer_);
  EXPECT_EQ(Texts(**reader.Read(AllStacks())), std::vector<std::string>{"shop+0x10"});
  FrameReader without(*engine_, nullptr);
  EXPECT_EQ(Texts(**without.Read(AllStacks())), std::vector<std::string>{"shop+0x10"});
}

TEST_F(FramesTest, AsksTheSymbolizerOnceForAnAddress) {
  WriteNative("known", {16, 48}, "");
  FrameReader reader(*engine_, &symbolizer_);
  ASSERT_TRUE(reader.Read(AllStacks()).has_value());
  EXPECT_EQ(symbolizer_.calls, 2);
  ASSERT_TRUE(reader.Read(AllStacks()).has_value());
  EXPECT_EQ(symbolizer_.calls, 2);
  EXPECT_EQ(reader.cached_addresses(), 2u);
}

TEST_F(FramesTest, ReadsFromManyThreads) {
  WriteNative("known", {16, 32, 48, 64}, "x");
  FrameReader reader(*engine_, &symbolizer_);
  const auto stacks = AllStacks();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) EXPECT_TRUE(reader.Read(stacks).has_value());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reader.cached_addresses(), 4u);
}

TEST_F(FramesTest, NoStacksIsAnEmptyTable) {
  FrameReader reader(*engine_, &symbolizer_);
  EXPECT_TRUE((*reader.Read({}))->stacks.empty());
}

}  // namespace
}  // namespace hotspan::query
