#include "agent/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>

#include "agent/time_now.h"

namespace hotspan::agent {

void KernelRandom(void* out, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(out);
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::getrandom(bytes + filled, size - filled, GRND_NONBLOCK);
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    // A kernel without getrandom, or very early at boot: splitmix64 over clock and address.
    std::uint64_t mix = static_cast<std::uint64_t>(SteadyNs()) ^ std::bit_cast<std::uintptr_t>(out);
    for (; filled < size; ++filled) {
      mix += 0x9e3779b97f4a7c15u;
      std::uint64_t word = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9u;
      word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
      bytes[filled] = static_cast<unsigned char>(word >> 56);
    }
  }
}

void Random::Seed() {
  KernelRandom(state_.data(), sizeof(state_));
  state_[0] |= 1;  // the all-zero state has no successor
}

std::uint64_t Random::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

}  // namespace hotspan::agent
