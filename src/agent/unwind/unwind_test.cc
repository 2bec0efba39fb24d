#include "agent/unwind/unwind.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hotspan::agent {
namespace {

// One module of code at 0x1000, 0x400 bytes long, with rows as given.
class TestCode {
 public:
  explicit TestCode(std::vector<CfiRow> rows) : rows_(std::move(rows)) {
    module_.start = 0x1000;
    module_.limit = 0x1400;
    module_.rows = rows_.data();
    module_.row_count = static_cast<std::uint32_t>(rows_.size());
    for (std::uint32_t at = 0; at <= 0x500; at += 1u << kBucketShift) {
      std::uint32_t row = module_.row_count;
      for (std::uint32_t i = 0; i < module_.row_count; ++i) {
        if (rows_[i].offset <= at) row = i;
      }
      buckets_.push_back(row);
    }
    module_.buckets = buckets_.data();
    module_.bucket_count = static_cast<std::uint32_t>(buckets_.size());
    table_.modules = &module_;
    table_.module_count = 1;
  }
  const CfiTable& table() const { return table_; }

 private:
  std::vector<CfiRow> rows_;
  std::vector<std::uint32_t> buckets_;
  CfiModule module_;
  CfiTable table_;
};

// Words that pretend to lie at address 0x8000.
class TestStack {
 public:
  static constexpr std::uint64_t kBase = 0x8000;
  TestStack() {
    view_.low = kBase;
    view_.high = kBase + words_.size() * 8;
    view_.delta = reinterpret_cast<std::uint64_t>(words_.data()) - kBase;
  }
  std::uint64_t& operator[](std::size_t i) { return words_[i]; }
  const raw::StackView& view() const { return view_; }

 private:
  std::array<std::uint64_t, 64> words_{};
  raw::StackView view_;
};

raw::Registers At(std::uint64_t pc, std::uint64_t sp, std::uint64_t bp = 0) {
  raw::Registers registers;
  registers.pc = pc;
  registers.sp = sp;
  registers.bp = bp;
  return registers;
}

std::vector<std::uint64_t> Frames(const TestCode& code, const TestStack& stack,
                                  const raw::Registers& registers, WalkEnd* end,
                                  std::uint32_t max = 16, RecoverBp recover = nullptr) {
  std::vector<std::uint64_t> frames(max);
  const Walk walk = Unwind(code.table(), registers, stack.view(), frames.data(), max, recover);
  frames.resize(walk.frame_count);
  *end = walk.end;
  return frames;
}

constexpr std::uint32_t Sp(std::int32_t offset, std::uint8_t bp = kBpSame) {
  return CfiRow::Pack(CfaRule::kSp, bp, offset);
}
constexpr std::uint32_t kEnd = CfiRow::Pack(CfaRule::kOutermost, kBpSame, 0);

TEST(CfiRow, HoldsWhatWasPacked) {
  for (const std::int32_t offset : {0, 8, -8, CfiRow::kOffsetMax, CfiRow::kOffsetMin}) {
    const CfiRow row{0, CfiRow::Pack(CfaRule::kBpDeref, kBpAtBp, offset)};
    EXPECT_EQ(row.rule(), CfaRule::kBpDeref);
    EXPECT_EQ(row.bp(), kBpAtBp);
    EXPECT_EQ(row.cfa_offset(), offset);
  }
}

TEST(FindRow, TakesTheLastRowAtOrBeforeAnAddress) {
  const TestCode code({{0x10, Sp(8)}, {0x20, Sp(16)}, {0x150, Sp(24)}, {0x300, Sp(32)}});
  EXPECT_EQ(FindRow(code.table(), 0x0fff), nullptr);
  EXPECT_EQ(FindRow(code.table(), 0x100f), nullptr);
  EXPECT_EQ(FindRow(code.table(), 0x1010)->cfa_offset(), 8);
  EXPECT_EQ(FindRow(code.table(), 0x101f)->cfa_offset(), 8);
  EXPECT_EQ(FindRow(code.table(), 0x114f)->cfa_offset(), 16);
  EXPECT_EQ(FindRow(code.table(), 0x1150)->cfa_offset(), 24);
  EXPECT_EQ(FindRow(code.table(), 0x12ff)->cfa_offset(), 24);
  EXPECT_EQ(FindRow(code.table(), 0x1300)->cfa_offset(), 32);
  EXPECT_EQ(FindRow(code.table(), 0x13ff)->cfa_offset(), 32);
  EXPECT_EQ(FindRow(code.table(), 0x1400), nullptr);
}

TEST(Unwind, FollowsStackPointerRulesToTheOutermostFrame) {
  const TestCode code({{0x0, Sp(16)}, {0x100, Sp(32)}, {0x200, kEnd}});
  TestStack stack;
  stack[1] = 0x1150;  // return address of the leaf, whose CFA is sp + 16
  stack[5] = 0x1210;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1020, TestStack::kBase), &end),
            (std::vector<std::uint64_t>{0x1020, 0x114f, 0x120f}));
  EXPECT_EQ(end, WalkEnd::kComplete);
}

TEST(Unwind, LooksAReturnAddressUpInTheCallBeforeIt) {
  // The call is the last instruction of its function: what follows has other rules.
  const TestCode code({{0x0, Sp(8)}, {0x100, Sp(24)}, {0x200, Sp(8)}, {0x300, kEnd}});
  TestStack stack;
  stack[0] = 0x1200;
  stack[3] = 0x1301;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end),
            (std::vector<std::uint64_t>{0x1000, 0x11ff, 0x1300}));
}

TEST(Unwind, RestoresFramePointersOnTheWay) {
  // The leaf saved bp at CFA - 16; its caller hangs on bp.
  const TestCode code(
      {{0x0, Sp(24, 2)}, {0x100, CfiRow::Pack(CfaRule::kBp, 2, 16)}, {0x200, kEnd}});
  TestStack stack;
  stack[1] = TestStack::kBase + 8 * 10;  // saved bp
  stack[2] = 0x1110;
  stack[10] = 0;
  stack[11] = 0x1220;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end),
            (std::vector<std::uint64_t>{0x1000, 0x110f, 0x121f}));
}

TEST(Unwind, FollowsRealignedStacks) {
  const TestCode code({{0x0, CfiRow::Pack(CfaRule::kBpDeref, kBpAtBp, -8)}, {0x200, kEnd}});
  TestStack stack;
  const std::uint64_t bp = TestStack::kBase + 8 * 8;
  stack[7] = TestStack::kBase + 8 * 20;  // the CFA, stored at bp - 8
  stack[8] = 0x1234560;                  // caller's bp
  stack[19] = 0x1210;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase, bp), &end),
            (std::vector<std::uint64_t>{0x1000, 0x120f}));
  EXPECT_EQ(end, WalkEnd::kComplete);
}

TEST(Unwind, KnowsBothHalvesOfAPltEntry) {
  const TestCode code({{0x0, CfiRow::Pack(CfaRule::kPlt, kBpSame, 11)}, {0x200, kEnd}});
  TestStack stack;
  stack[0] = 0x1210;
  stack[1] = 0x1220;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x100a, TestStack::kBase), &end)[1], 0x120fu);
  EXPECT_EQ(Frames(code, stack, At(0x100b, TestStack::kBase), &end)[1], 0x121fu);
}

TEST(Unwind, GoesThroughASignalFrameToTheInterruptedInstruction) {
  const TestCode code(
      {{0x0, CfiRow::Pack(CfaRule::kSignal, kBpSame, 0)}, {0x100, Sp(8)}, {0x200, kEnd}});
  TestStack stack;
  stack[20] = TestStack::kBase + 8 * 40;  // rsp
  stack[21] = 0x1100;                     // rip: the first instruction of its function
  stack[40] = 0x1210;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end),
            (std::vector<std::uint64_t>{0x1000, 0x1100, 0x120f}));
}

TEST(Unwind, UsesFramePointersInUnknownCode) {
  const TestCode code({{0x200, kEnd}});
  TestStack stack;
  stack[4] = TestStack::kBase + 8 * 9;
  stack[5] = 0x99000;  // in no module
  stack[9] = 0;
  stack[10] = 0x1210;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x55000, TestStack::kBase, TestStack::kBase + 32), &end),
            (std::vector<std::uint64_t>{0x55000, 0x98fff, 0x120f}));
  EXPECT_EQ(end, WalkEnd::kComplete);
  EXPECT_EQ(Frames(code, stack, At(0x55000, TestStack::kBase, 0x123), &end).size(), 1u);
  EXPECT_EQ(end, WalkEnd::kNoFrame);
}

TEST(Unwind, NeverLeavesTheStackOrGoesBackwards) {
  const TestCode code({{0x0, Sp(8)}, {0x100, Sp(-8)}, {0x200, Sp(1 << 20)}});
  TestStack stack;
  WalkEnd end{};
  stack[0] = 0x1110;
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end).size(), 2u);
  EXPECT_EQ(end, WalkEnd::kOutOfStack);
  stack[0] = 0x1210;
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end).size(), 2u);
  EXPECT_EQ(end, WalkEnd::kOutOfStack);
  EXPECT_EQ(Frames(code, stack, At(0x1000, ~std::uint64_t{0} - 3), &end).size(), 1u);
  EXPECT_EQ(end, WalkEnd::kOutOfStack);
}

TEST(Unwind, StopsWhereRowsEndAndWhereRoomEnds) {
  const TestCode code({{0x0, CfiRow::Pack(CfaRule::kUnsupported, kBpSame, 0)}, {0x100, Sp(8)}});
  TestStack stack;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end).size(), 1u);
  EXPECT_EQ(end, WalkEnd::kUnsupported);
  for (std::size_t i = 0; i < 64; ++i) stack[i] = 0x1150;
  EXPECT_EQ(Frames(code, stack, At(0x1150, TestStack::kBase), &end, 5).size(), 5u);
  EXPECT_EQ(end, WalkEnd::kFull);
}

TEST(Unwind, TellsAReturnAddressOfZeroFromTheOutermostFrame) {
  const TestCode code({{0x0, Sp(8)}});
  TestStack stack;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, At(0x1000, TestStack::kBase), &end).size(), 1u);
  EXPECT_EQ(end, WalkEnd::kNoCaller);
}

TEST(Unwind, AsksForALostFramePointerOnlyWhereOneIsNeeded) {
  const TestCode code({{0x0, Sp(8)}, {0x100, CfiRow::Pack(CfaRule::kBp, 2, 16)}, {0x200, kEnd}});
  TestStack stack;
  stack[0] = 0x1110;
  stack[6] = 0;
  stack[7] = 0x1210;
  raw::Registers registers = At(0x1000, TestStack::kBase);
  registers.bp_known = false;
  WalkEnd end{};
  EXPECT_EQ(Frames(code, stack, registers, &end).size(), 2u);
  EXPECT_EQ(end, WalkEnd::kBpLost);
  const RecoverBp recover = [](const CfiTable&, const raw::StackView&, std::uint64_t sp) {
    return sp == TestStack::kBase + 8 ? TestStack::kBase + 48 : 0;
  };
  EXPECT_EQ(Frames(code, stack, registers, &end, 16, recover),
            (std::vector<std::uint64_t>{0x1000, 0x110f, 0x120f}));
}

}  // namespace
}  // namespace hotspan::agent
