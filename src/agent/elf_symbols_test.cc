#include "agent/elf_symbols.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "agent/module_map.h"

namespace hotspan::agent {
namespace {

// Where this process runs, to check names by addresses we know.
const LoadedModule& ModuleOf(const CodeSnapshot& snapshot, const void* code) {
  return **snapshot.Find(reinterpret_cast<std::uint64_t>(code));
}

extern "C" int hotspan_test_named_function(int x) { return x + 1; }

TEST(ElfSymbols, FindsFunctionsOfTheProgramAndOfLibc) {
  ModuleMap map;
  map.Refresh();
  const auto snapshot = map.Current();
  const auto check = [&snapshot](const void* code, std::string_view name) {
    const LoadedModule& module = ModuleOf(*snapshot, code);
    const auto symbols = ElfSymbols::Load(module.path, module.build_id);
    ASSERT_NE(symbols, nullptr) << module.path;
    EXPECT_EQ(symbols->build_id(), module.build_id);
    std::uint64_t offset = 0;
    ASSERT_TRUE(module.FileOffset(reinterpret_cast<std::uint64_t>(code), &offset));
    EXPECT_NE(symbols->Find(offset).find(name), std::string_view::npos) << symbols->Find(offset);
    EXPECT_EQ(symbols->Find(~std::uint64_t{0}), "");
    EXPECT_EQ(symbols->Find(0), "");
  };
  check(reinterpret_cast<const void*>(&hotspan_test_named_function), "hotspan_test_named_function");
  check(reinterpret_cast<const void*>(&qsort), "qsort");
}

TEST(ElfSymbols, RefusesAFileOfAnotherBuild) {
  ModuleMap map;
  map.Refresh();
  const auto snapshot = map.Current();
  const LoadedModule& libc = ModuleOf(*snapshot, reinterpret_cast<const void*>(&qsort));
  EXPECT_EQ(ElfSymbols::Load(libc.path, "00"), nullptr);
  EXPECT_NE(ElfSymbols::Load(libc.path, ""), nullptr);
  EXPECT_EQ(ElfSymbols::Load("/nowhere/at/all", ""), nullptr);
  EXPECT_EQ(ElfSymbols::Load("/proc/self/maps", ""), nullptr);
}

TEST(ElfSymbols, TakesAnyBytes) {
  std::ifstream file(HOTSPAN_TEST_MODULE, std::ios::binary);
  const std::vector<std::uint8_t> good{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(good.size(), 1000u);
  const auto symbols = ElfSymbols::FromImage(good);
  ASSERT_NE(symbols, nullptr);
  EXPECT_GE(symbols->size(), 1u);
  std::uint64_t random = 4711;
  const auto next = [&random](std::uint64_t limit) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return (random >> 33) % limit;
  };
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::uint8_t> image = good;
    for (int change = 0; change < 20; ++change) {
      image[next(round % 2 == 0 ? 64 : image.size())] = static_cast<std::uint8_t>(next(256));
    }
    if (round % 3 == 0) image.resize(next(image.size()));
    const auto broken = ElfSymbols::FromImage(image);
    if (broken == nullptr) continue;
    for (std::uint64_t at = 0; at < image.size(); at += 61) broken->Find(at);
  }
}

TEST(Demangle, GivesNamesAsPeopleWriteThem) {
  EXPECT_EQ(Demangle("_ZN3foo3BarILi3EE3bazEv"), "foo::Bar::baz");
  EXPECT_EQ(Demangle("read@@GLIBC_2.2.5"), "read");
  EXPECT_EQ(Demangle("_Znothing"), "_Znothing");
  EXPECT_EQ(Demangle(""), "");
}

}  // namespace
}  // namespace hotspan::agent
