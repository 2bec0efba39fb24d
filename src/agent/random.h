// Random numbers for ids and jitter: xoshiro256**, seeded by the kernel.
//
// Threads: a generator belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hotspan::agent {

// Bytes of the kernel's generator, or of the clock and an address where it is not to be had.
void KernelRandom(void* out, std::size_t size);

class Random {
 public:
  // Draws a new seed; also after a fork, or two processes would make the same ids.
  void Seed();
  std::uint64_t Next();
  // Fills `out` with random bytes that are not all zero, as ids must be.
  template <std::size_t kSize>
  void FillId(std::array<std::uint8_t, kSize>& out) {
    static_assert(kSize % sizeof(std::uint64_t) == 0);
    for (std::size_t at = 0; at < kSize; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = Next() | (at == 0 ? 1u : 0u);
      __builtin_memcpy(out.data() + at, &word, sizeof(word));
    }
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace hotspan::agent
