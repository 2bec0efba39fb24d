#include "agent/cfi_compiler.h"

#include <gtest/gtest.h>

#include <cstring>

#include "agent/unwind/unwind.h"

namespace hotspan::agent {
namespace {

constexpr std::uint64_t kCode = 0x10000;
constexpr std::uint64_t kCodeLimit = 0x20000;
constexpr std::uint64_t kHeader = 0x30000;
constexpr std::uint64_t kFrames = 0x40000;

using Bytes = std::vector<std::uint8_t>;

template <typename T>
void Append(Bytes& bytes, T value) {
  std::uint8_t raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

// Writes sections as linkers do.
class Sections {
 public:
  // cfa = sp + 8, return address at cfa - 8.
  Sections() : Sections("zR") {}
  explicit Sections(const char* augmentation) {
    Bytes cie;
    Append<std::uint32_t>(cie, 0);
    cie.push_back(1);
    cie.insert(cie.end(), augmentation, augmentation + std::strlen(augmentation) + 1);
    for (const int byte : {1, 0x78, 16, 1, 0x1b}) cie.push_back(static_cast<std::uint8_t>(byte));
    for (const int byte : {0x0c, 7, 8, 0x90, 1}) cie.push_back(static_cast<std::uint8_t>(byte));
    AppendEntry(cie);
  }
  void Function(std::uint64_t start, std::uint64_t size, const Bytes& program) {
    const std::uint64_t entry = kFrames + frames_.size();
    table_.emplace_back(start, entry);
    Bytes fde;
    Append<std::uint32_t>(fde, static_cast<std::uint32_t>(entry + 4 - kFrames));
    Append<std::int32_t>(fde, static_cast<std::int32_t>(start - (entry + 8)));
    Append<std::uint32_t>(fde, static_cast<std::uint32_t>(size));
    fde.push_back(0);
    fde.insert(fde.end(), program.begin(), program.end());
    AppendEntry(fde);
  }
  EhFrame Image() const {
    EhFrame image;
    image.frames = frames_;
    image.frames_address = kFrames;
    image.header_address = kHeader;
    image.header = {1, 0x1b, 3, 0x3b};
    Append<std::int32_t>(image.header, static_cast<std::int32_t>(kFrames - (kHeader + 4)));
    Append<std::uint32_t>(image.header, static_cast<std::uint32_t>(table_.size()));
    for (const auto& [start, entry] : table_) {
      Append<std::int32_t>(image.header,
                           static_cast<std::int32_t>(start) - static_cast<std::int32_t>(kHeader));
      Append<std::int32_t>(image.header, static_cast<std::int32_t>(entry - kHeader));
    }
    return image;
  }

 private:
  void AppendEntry(Bytes entry) {
    while (entry.size() % 4 != 0) entry.push_back(0);
    Append<std::uint32_t>(frames_, static_cast<std::uint32_t>(entry.size()));
    frames_.insert(frames_.end(), entry.begin(), entry.end());
  }
  Bytes frames_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> table_;
};

struct Compiled {
  explicit Compiled(const Sections& sections)
      : cfi(CompileCfi(sections.Image(), kCode, kCodeLimit)) {
    module = cfi.View();
    table.modules = &module;
    table.module_count = 1;
  }
  CfiRow At(std::uint64_t pc) const {
    const CfiRow* row = FindRow(table, pc);
    return row == nullptr ? CfiRow{0, 0} : *row;
  }
  CompiledCfi cfi;
  CfiModule module;
  CfiTable table;
};

// push bp; mov sp,bp; ...; leave: what every function with a frame pointer says.
const Bytes kFramePointerProgram = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x60, 0x0c, 7, 8};

TEST(CfiCompiler, FollowsAFunctionWithAFramePointer) {
  Sections sections;
  sections.Function(kCode + 0x100, 0x40, kFramePointerProgram);
  const Compiled compiled(sections);
  EXPECT_EQ(compiled.cfi.function_count, 1u);
  EXPECT_EQ(compiled.At(kCode + 0x100).rule(), CfaRule::kSp);
  EXPECT_EQ(compiled.At(kCode + 0x100).cfa_offset(), 8);
  EXPECT_EQ(compiled.At(kCode + 0x100).bp(), kBpSame);
  EXPECT_EQ(compiled.At(kCode + 0x101).cfa_offset(), 16);
  EXPECT_EQ(compiled.At(kCode + 0x101).bp(), 2);
  EXPECT_EQ(compiled.At(kCode + 0x104).rule(), CfaRule::kBp);
  EXPECT_EQ(compiled.At(kCode + 0x123).rule(), CfaRule::kBp);
  EXPECT_EQ(compiled.At(kCode + 0x124).rule(), CfaRule::kSp);
  EXPECT_EQ(compiled.At(kCode + 0x124).cfa_offset(), 8);
  EXPECT_EQ(compiled.At(kCode + 0x140).rule(), CfaRule::kUnknown);
  EXPECT_EQ(compiled.At(kCode + 0xff).rule(), CfaRule::kUnknown);
}

TEST(CfiCompiler, RemembersAndRestoresStates) {
  Sections sections;
  // advance 1, offset 16, remember, advance 4, offset 8, restore_state at advance 2
  sections.Function(kCode, 0x20, {0x41, 0x0e, 16, 0x0a, 0x44, 0x0e, 8, 0x42, 0x0b});
  const Compiled compiled(sections);
  EXPECT_EQ(compiled.At(kCode + 1).cfa_offset(), 16);
  EXPECT_EQ(compiled.At(kCode + 5).cfa_offset(), 8);
  EXPECT_EQ(compiled.At(kCode + 7).cfa_offset(), 16);
}

TEST(CfiCompiler, KnowsTheExpressionsOfLinkersAndCompilers) {
  Sections sections;
  sections.Function(kCode, 0x20,
                    {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  sections.Function(kCode + 0x20, 0x20, {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0});
  sections.Function(kCode + 0x40, 0x20, {0x0f, 2, 0x75, 8});  // by rbx: not in rows
  sections.Function(kCode + 0x60, 0x20, {0x07, 16});          // no return address
  const Compiled compiled(sections);
  EXPECT_EQ(compiled.At(kCode).rule(), CfaRule::kPlt);
  EXPECT_EQ(compiled.At(kCode).cfa_offset(), 11);
  EXPECT_EQ(compiled.At(kCode + 0x20).rule(), CfaRule::kBpDeref);
  EXPECT_EQ(compiled.At(kCode + 0x20).cfa_offset(), -8);
  EXPECT_EQ(compiled.At(kCode + 0x20).bp(), kBpAtBp);
  EXPECT_EQ(compiled.At(kCode + 0x40).rule(), CfaRule::kUnsupported);
  EXPECT_EQ(compiled.At(kCode + 0x60).rule(), CfaRule::kOutermost);
  EXPECT_EQ(compiled.cfi.unsupported_count, 1u);
}

TEST(CfiCompiler, MarksSignalFrames) {
  Sections sections("zRS");
  sections.Function(kCode, 0x10, {});
  EXPECT_EQ(Compiled(sections).At(kCode).rule(), CfaRule::kSignal);
}

TEST(CfiCompiler, MergesFillerButNotGapsBetweenFunctions) {
  Sections sections;
  sections.Function(kCode, 0x13, {});
  sections.Function(kCode + 0x20, 0x10, {});
  sections.Function(kCode + 0x80, 0x10, {});
  const Compiled compiled(sections);
  EXPECT_EQ(compiled.At(kCode + 0x18).rule(), CfaRule::kSp);
  EXPECT_EQ(compiled.At(kCode + 0x40).rule(), CfaRule::kUnknown);
  EXPECT_EQ(compiled.At(kCode + 0x80).rule(), CfaRule::kSp);
  EXPECT_EQ(compiled.cfi.rows.size(), 4u);
}

TEST(CfiCompiler, RefusesFunctionsOutsideOfTheCodeAndOtherHeaders) {
  Sections sections;
  sections.Function(kCode - 0x100, 0x10, {});
  sections.Function(kCodeLimit - 8, 0x10, {});
  EXPECT_EQ(Compiled(sections).cfi.function_count, 0u);
  EhFrame image = sections.Image();
  image.header[3] = 0x3a;
  EXPECT_EQ(ReadEhFrameHeader(image.header, image.header_address).frames_address, 0u);
}

TEST(CfiCompiler, TakesAnyBytes) {
  Sections sections;
  for (std::uint64_t i = 0; i < 8; ++i) {
    sections.Function(kCode + i * 0x100, 0x80, kFramePointerProgram);
  }
  const EhFrame good = sections.Image();
  std::uint64_t random = 4711;
  const auto next = [&random](std::uint64_t limit) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return (random >> 33) % limit;
  };
  for (int round = 0; round < 3000; ++round) {
    EhFrame image = good;
    for (int change = 0; change < 4; ++change) {
      image.frames[next(image.frames.size())] = static_cast<std::uint8_t>(next(256));
    }
    if (round % 3 == 0) image.header[next(image.header.size())] ^= 255;
    if (round % 5 == 0) image.frames.resize(next(image.frames.size()));
    const CompiledCfi compiled = CompileCfi(image, kCode, kCodeLimit);
    const CfiModule module = compiled.View();
    CfiTable table;
    table.modules = &module;
    table.module_count = 1;
    for (std::uint64_t pc = kCode; pc < kCodeLimit; pc += 97) FindRow(table, pc);
    for (std::size_t i = 1; i < compiled.rows.size(); ++i) {
      ASSERT_LT(compiled.rows[i - 1].offset, compiled.rows[i].offset);
    }
  }
}

}  // namespace
}  // namespace hotspan::agent
