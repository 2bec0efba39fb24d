#include "symbols/elf_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <fstream>

namespace hotspan::symbols {
namespace {

std::uint64_t InlinedLeaf(std::uint64_t& place);

// A function with another compiled into it, and the address of an instruction of the inner one.
[[gnu::noinline]] std::uint64_t OuterFunction(std::uint64_t& place) {
  return InlinedLeaf(place) + 1;
}

[[gnu::always_inline]] inline std::uint64_t InlinedLeaf(std::uint64_t& place) {
  std::uint64_t here = 0;
  asm volatile("lea (%%rip), %0" : "=r"(here));
  place = here;
  return here;
}

std::uint64_t FileOffsetOf(std::uint64_t address) {
  struct Search {
    std::uint64_t address;
    std::uint64_t offset;
  } search{address, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const std::uint64_t start = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_LOAD && wanted.address >= start &&
              wanted.address < start + header.p_memsz) {
            wanted.offset = wanted.address - start + header.p_offset;
            return 1;
          }
        }
        return 0;
      },
      &search);
  return search.offset;
}

constexpr const char* kSelf = "/proc/self/exe";

TEST(ElfSymbolizer, GivesTheInlineChainWithFilesAndLines) {
  std::uint64_t place = 0;
  OuterFunction(place);
  const auto symbolizer = MakeElfSymbolizer();
  const auto chain = symbolizer->Resolve(ReadBuildId(kSelf), kSelf, FileOffsetOf(place));
  ASSERT_GE(chain.size(), 2u);
  EXPECT_THAT(chain[0].function, ::testing::HasSubstr("InlinedLeaf"));
  EXPECT_THAT(chain[0].file, ::testing::EndsWith("elf_symbolizer_test.cc"));
  EXPECT_GT(chain[0].line, chain[1].line);
  EXPECT_THAT(chain[1].function, ::testing::HasSubstr("OuterFunction"));
  EXPECT_THAT(chain[1].file, ::testing::EndsWith("elf_symbolizer_test.cc"));
}

TEST(ElfSymbolizer, RefusesAFileOfAnotherBuild) {
  std::uint64_t place = 0;
  OuterFunction(place);
  const auto symbolizer = MakeElfSymbolizer();
  EXPECT_TRUE(symbolizer->Resolve("00112233", kSelf, FileOffsetOf(place)).empty());
}

TEST(ElfSymbolizer, KnowsNothingOfMissingAndBrokenFiles) {
  const auto symbolizer = MakeElfSymbolizer({.debug_folder = "/nonexistent", .files_max = 1});
  EXPECT_TRUE(symbolizer->Resolve("ab", "/nonexistent/program", 64).empty());
  EXPECT_TRUE(symbolizer->Resolve("", kSelf, 64).empty());
  EXPECT_TRUE(symbolizer->Resolve("ab", "/dev/null", 64).empty());
  EXPECT_TRUE(symbolizer->Resolve(ReadBuildId(kSelf), kSelf, UINT64_MAX).empty());
}

}  // namespace
}  // namespace hotspan::symbols
