// How to get from a program counter to its caller: rows compiled from .eh_frame, eight bytes each,
// in tables that never change once they are published.
//
// Threads: immutable; any thread and any signal handler may read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/raw/registers.h"

namespace hotspan::agent {

enum class CfaRule : std::uint8_t {
  kUnknown = 0,      // no call frame information: try the frame pointer
  kUnsupported = 1,  // information that rows cannot hold: the walk ends
  kOutermost = 2,    // no caller: the walk is complete
  kSp = 3,           // CFA = sp + offset
  kBp = 4,           // CFA = bp + offset
  kBpDeref = 5,      // CFA = word at (bp + offset), of realigned stacks
  kPlt = 6,          // CFA = sp + 8 + ((pc & 15) >= offset ? 8 : 0)
  kSignal = 7,       // the kernel's signal frame: registers lie in the ucontext at sp
};

enum BpRule : std::uint8_t {
  kBpSame = 0,
  // 1 to 125: saved at CFA - 8 * rule
  kBpAtBp = 126,  // saved at (bp)
  kBpLost = 127,
};

// From `offset` (bytes after the module's start) up to the next row.
struct CfiRow {
  std::uint32_t offset;
  std::uint32_t packed;  // rule: 3 bits, bp: 7, CFA offset: 22, signed

  static constexpr std::int32_t kOffsetMax = (1 << 21) - 1;
  static constexpr std::int32_t kOffsetMin = -(1 << 21);

  static constexpr std::uint32_t Pack(CfaRule rule, std::uint8_t bp, std::int32_t cfa_offset) {
    return static_cast<std::uint32_t>(rule) | (std::uint32_t{bp} << 3) |
           (static_cast<std::uint32_t>(cfa_offset) << 10);
  }
  CfaRule rule() const { return static_cast<CfaRule>(packed & 7); }
  std::uint8_t bp() const { return static_cast<std::uint8_t>((packed >> 3) & 127); }
  std::int32_t cfa_offset() const { return static_cast<std::int32_t>(packed) >> 10; }
};
static_assert(sizeof(CfiRow) == 8);

inline constexpr std::uint32_t kBucketShift = 8;  // one bucket for 256 bytes of code

struct CfiModule {
  std::uint64_t start = 0;  // code addresses [start, limit)
  std::uint64_t limit = 0;
  const CfiRow* rows = nullptr;  // sorted by offset
  std::uint32_t row_count = 0;
  // buckets[i]: index of the row that holds at offset i << kBucketShift; row_count if none does.
  // One more than the module has, for the end of the last.
  const std::uint32_t* buckets = nullptr;
  std::uint32_t bucket_count = 0;
};

struct CfiTable : raw::CodeTable {
  const CfiModule* modules = nullptr;  // sorted by start
  std::uint32_t module_count = 0;
};

}  // namespace hotspan::agent
