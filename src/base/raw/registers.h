// What an unwinder starts from: three registers, and the memory that holds the stack.
#pragma once

#include <cstdint>

namespace hotspan::raw {

struct Registers {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t bp = 0;
  bool bp_known = true;
};

// Stack addresses [low, high) may be read; the byte of address a lies at a + delta in this process,
// so that a copy of a stack is read like the stack itself.
struct StackView {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t delta = 0;

  bool Holds(std::uint64_t address, std::uint64_t size = 8) const {
    return address >= low && address < high && high - address >= size;
  }
  std::uint64_t Word(std::uint64_t address) const {
    std::uint64_t word;
    __builtin_memcpy(&word, reinterpret_cast<const void*>(address + delta), sizeof(word));
    return word;
  }
};

// The head of every unwind table; the rest is the unwinder's own.
struct CodeTable {
  std::uint64_t id = 0;
};

inline constexpr std::uint32_t kFramesMax = 128;

}  // namespace hotspan::raw
