// System calls that neither touch errno nor are cancellation points; a failure is a negative errno.
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace hotspan::raw {

#if !defined(__x86_64__)
#error "the agent knows x86-64 only"
#endif

inline long Syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                    long f = 0) {
  long result = number;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

template <typename T>
long Pointer(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

inline std::uint32_t GetTid() { return static_cast<std::uint32_t>(Syscall(SYS_gettid)); }
inline std::uint32_t GetPid() { return static_cast<std::uint32_t>(Syscall(SYS_getpid)); }

inline constexpr std::size_t kPageBytes = 4096;

// Copies memory of this process that may be gone: page by page, so that what is there arrives.
// Returns the number of bytes copied from the start.
inline std::size_t SafeCopy(void* to, std::uint64_t from, std::size_t size) {
  constexpr std::size_t kPagesPerCall = 16;
  std::size_t copied = 0;
  const long pid = static_cast<long>(GetPid());
  while (copied < size) {
    iovec remote[kPagesPerCall];
    std::size_t pages = 0;
    std::size_t batch = 0;
    while (pages < kPagesPerCall && copied + batch < size) {
      const std::uint64_t at = from + copied + batch;
      std::size_t piece = kPageBytes - (at % kPageBytes);
      if (piece > size - copied - batch) piece = size - copied - batch;
      remote[pages].iov_base = reinterpret_cast<void*>(at);
      remote[pages].iov_len = piece;
      batch += piece;
      ++pages;
    }
    iovec local{static_cast<char*>(to) + copied, batch};
    const long got = Syscall(SYS_process_vm_readv, pid, Pointer(&local), 1, Pointer(remote),
                             static_cast<long>(pages), 0);
    if (got <= 0) break;
    copied += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < batch) break;
  }
  return copied;
}

}  // namespace hotspan::raw
