// Names and kinds of the system calls that threads wait in.
//
// Threads: constant tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace hotspan::agent {

enum class WaitKind : std::uint8_t {
  kLock,
  kIo,   // named by the file of the first argument
  kNet,  // named by the peer of the first argument
  kSleep,
  kWait,
  kOther,
};

struct SyscallName {
  std::string_view name;  // "" for calls that are not in the table
  WaitKind kind = WaitKind::kOther;
};

SyscallName NameOfSyscall(std::int64_t number);
// "[lock]", "[io]", ...
std::string_view LabelOf(WaitKind kind);

}  // namespace hotspan::agent
