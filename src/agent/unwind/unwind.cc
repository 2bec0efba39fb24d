#include "agent/unwind/unwind.h"

namespace hotspan::agent {
namespace {

using raw::Registers;
using raw::StackView;

// Where the kernel keeps registers in the ucontext that lies at sp in __restore_rt.
constexpr std::uint64_t kUcontextBp = 120;
constexpr std::uint64_t kUcontextSp = 160;
constexpr std::uint64_t kUcontextPc = 168;

const CfiModule* FindModule(const CfiTable& table, std::uint64_t pc) {
  std::uint32_t low = 0;
  std::uint32_t high = table.module_count;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (table.modules[middle].limit <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == table.module_count || pc < table.modules[low].start) return nullptr;
  return &table.modules[low];
}

// The last row at or before `offset`. The bucket's first row holds at the bucket's start, so only
// rows up to the next bucket's first one come into question.
const CfiRow* FindRowIn(const CfiModule& module, std::uint64_t pc) {
  const std::uint32_t offset = static_cast<std::uint32_t>(pc - module.start);
  const std::uint32_t bucket = offset >> kBucketShift;
  if (bucket + 1 >= module.bucket_count) return nullptr;
  std::uint32_t low = module.buckets[bucket];
  std::uint32_t high = module.buckets[bucket + 1];
  if (high < module.row_count) ++high;
  if (low >= module.row_count) low = 0;
  // Invariant: rows before low are at or before offset, rows from high on are after it.
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (module.rows[middle].offset <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : &module.rows[low - 1];
}

struct Step {
  bool ok = false;
  bool exact_pc = false;  // the new pc was interrupted rather than returned to
  WalkEnd end = WalkEnd::kComplete;
};

Step Stop(WalkEnd end) { return Step{false, false, end}; }

Step StepByFramePointer(const StackView& stack, Registers& registers) {
  if (!registers.bp_known) return Stop(WalkEnd::kBpLost);
  const std::uint64_t bp = registers.bp;
  if (bp % 8 != 0 || bp < registers.sp || !stack.Holds(bp, 16)) return Stop(WalkEnd::kNoFrame);
  const std::uint64_t pc = stack.Word(bp + 8);
  if (pc == 0) return Stop(WalkEnd::kNoCaller);
  registers.bp = stack.Word(bp);
  registers.sp = bp + 16;
  registers.pc = pc;
  return Step{true, false, WalkEnd::kComplete};
}

Step StepOverSignal(const StackView& stack, Registers& registers) {
  const std::uint64_t sp = registers.sp;
  if (!stack.Holds(sp, kUcontextPc + 8)) return Stop(WalkEnd::kOutOfStack);
  registers.bp = stack.Word(sp + kUcontextBp);
  registers.bp_known = true;
  registers.pc = stack.Word(sp + kUcontextPc);
  registers.sp = stack.Word(sp + kUcontextSp);
  // From an alternate stack back to the thread's own would leave the given memory.
  if (!stack.Holds(registers.sp)) return Stop(WalkEnd::kOutOfStack);
  return Step{true, true, WalkEnd::kComplete};
}

// The canonical frame address by a row, or 0 with `end` set.
std::uint64_t Cfa(const CfiTable& table, const CfiRow& row, const StackView& stack,
                  Registers& registers, RecoverBp recover, WalkEnd* end) {
  const std::uint64_t offset = static_cast<std::uint64_t>(std::int64_t{row.cfa_offset()});
  switch (row.rule()) {
    case CfaRule::kSp:
      return registers.sp + offset;
    case CfaRule::kPlt:
      return registers.sp + 8 + ((registers.pc & 15) >= offset ? 8 : 0);
    case CfaRule::kBp:
    case CfaRule::kBpDeref: {
      if (!registers.bp_known) {
        if (recover != nullptr) registers.bp = recover(table, stack, registers.sp);
        if (recover == nullptr || registers.bp == 0) {
          *end = WalkEnd::kBpLost;
          return 0;
        }
        registers.bp_known = true;
      }
      const std::uint64_t address = registers.bp + offset;
      if (row.rule() == CfaRule::kBp) return address;
      if (address % 8 == 0 && stack.Holds(address)) return stack.Word(address);
      *end = WalkEnd::kOutOfStack;
      return 0;
    }
    default:
      *end = WalkEnd::kUnsupported;
      return 0;
  }
}

Step StepByRow(const CfiTable& table, const CfiRow& row, const StackView& stack,
               Registers& registers, RecoverBp recover) {
  WalkEnd end = WalkEnd::kOutOfStack;
  const std::uint64_t cfa = Cfa(table, row, stack, registers, recover, &end);
  if (cfa == 0) return Stop(end);
  // Stacks grow downwards: a caller's frame lies above, else the walk could go on for ever.
  if (cfa <= registers.sp || cfa % 8 != 0 || !stack.Holds(cfa - 8)) {
    return Stop(WalkEnd::kOutOfStack);
  }
  const std::uint64_t pc = stack.Word(cfa - 8);
  const std::uint8_t bp_rule = row.bp();
  if (bp_rule == kBpLost || (bp_rule == kBpAtBp && !registers.bp_known)) {
    registers.bp_known = false;
  } else if (bp_rule != kBpSame) {
    const std::uint64_t at = bp_rule == kBpAtBp ? registers.bp : cfa - std::uint64_t{bp_rule} * 8;
    if (!stack.Holds(at)) return Stop(WalkEnd::kOutOfStack);
    registers.bp = stack.Word(at);
    registers.bp_known = true;
  }
  registers.sp = cfa;
  registers.pc = pc;
  return pc == 0 ? Stop(WalkEnd::kNoCaller) : Step{true, false, WalkEnd::kComplete};
}

}  // namespace

const CfiRow* FindRow(const CfiTable& table, std::uint64_t pc) {
  const CfiModule* module = FindModule(table, pc);
  return module == nullptr ? nullptr : FindRowIn(*module, pc);
}

Walk Unwind(const CfiTable& table, Registers registers, const StackView& stack,
            std::uint64_t* frames, std::uint32_t frames_max, RecoverBp recover) {
  Walk walk;
  const CfiModule* module = nullptr;
  while (walk.frame_count < frames_max) {
    frames[walk.frame_count++] = registers.pc;
    // Neighbours on a stack are often of one module.
    if (module == nullptr || registers.pc < module->start || registers.pc >= module->limit) {
      module = FindModule(table, registers.pc);
    }
    const CfiRow* row = module == nullptr ? nullptr : FindRowIn(*module, registers.pc);
    const CfaRule rule = row == nullptr ? CfaRule::kUnknown : row->rule();
    if (rule == CfaRule::kOutermost) return walk;
    Step step;
    if (rule == CfaRule::kUnknown) {
      step = StepByFramePointer(stack, registers);
    } else if (rule == CfaRule::kSignal) {
      step = StepOverSignal(stack, registers);
    } else {
      step = StepByRow(table, *row, stack, registers, recover);
    }
    if (!step.ok) {
      walk.end = step.end;
      return walk;
    }
    // A return address may be the first byte of the next function, after a call that never returns.
    if (!step.exact_pc) --registers.pc;
  }
  walk.end = WalkEnd::kFull;
  return walk;
}

std::uint32_t WalkForHandler(const raw::CodeTable& table, const Registers& registers,
                             const StackView& stack, std::uint64_t* frames,
                             std::uint32_t frames_max, std::uint8_t* end) {
  const Walk walk =
      Unwind(static_cast<const CfiTable&>(table), registers, stack, frames, frames_max);
  *end = static_cast<std::uint8_t>(walk.end);
  return walk.frame_count;
}

}  // namespace hotspan::agent
