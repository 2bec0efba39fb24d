// Walks a stack by a CFI table, from three registers, reading nothing but the stack it is given.
//
// Threads: any, and signal handlers: no locks, no allocation, bounded time.
#pragma once

#include <cstdint>

#include "agent/unwind/cfi_table.h"
#include "base/raw/registers.h"

namespace hotspan::agent {

enum class WalkEnd : std::uint8_t {
  kComplete,     // reached the start of the thread
  kNoCaller,     // a return address of zero: as good as complete, or a stack that is none
  kFull,         // more frames than room
  kOutOfStack,   // a frame that lies outside of the given stack
  kUnsupported,  // a row that rows cannot hold
  kNoFrame,      // unknown code without a usable frame pointer
  kBpLost,       // the frame hangs on a frame pointer that is not known
};

// Finds the frame pointer of a function whose caller it hangs on, where it is not known: the
// address of a (saved frame pointer, return address) pair at or above `sp`; 0 if there is none.
using RecoverBp = std::uint64_t (*)(const CfiTable& table, const raw::StackView& stack,
                                    std::uint64_t sp);

struct Walk {
  std::uint32_t frame_count = 0;
  WalkEnd end = WalkEnd::kComplete;
};

// The row that holds at a program counter, or null where no module has one.
const CfiRow* FindRow(const CfiTable& table, std::uint64_t pc);

// Writes at most `frames_max` addresses to `frames`, leaf first. They are for looking code up: the
// leaf and interrupted frames as they are, return addresses less one, so that they lie in the call.
Walk Unwind(const CfiTable& table, raw::Registers registers, const raw::StackView& stack,
            std::uint64_t* frames, std::uint32_t frames_max, RecoverBp recover = nullptr);

// The same in the form that the signal handler calls.
std::uint32_t WalkForHandler(const raw::CodeTable& table, const raw::Registers& registers,
                             const raw::StackView& stack, std::uint64_t* frames,
                             std::uint32_t frames_max, std::uint8_t* end);

}  // namespace hotspan::agent
