// Samples what threads wait for while they are inside a span, without sending them signals: it
// reads where the kernel says they are blocked, and walks a copy of their stack.
//
// Threads: Start, Stop and Forget from one thread at a time; Tick is its own thread's, or a test's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/chunk_builder.h"
#include "agent/module_map.h"
#include "agent/proc_task.h"
#include "agent/signal/thread_slot.h"
#include "agent/thread_interpose.h"

namespace hotspan::agent {

// What /proc/self/task/TID/syscall says of a blocked thread.
struct BlockedCall {
  std::int64_t number = -1;  // of the system call; -1: blocked outside of one (a page fault)
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t sp = 0;
  std::uint64_t pc = 0;

  bool operator==(const BlockedCall&) const = default;
};
// False if the thread is running, or the text is not of that form.
bool ParseBlockedCall(std::string_view text, BlockedCall* call);

// The pseudo-frame of a wait: "[io] read /tmp/x", "[net] recvfrom 10.0.0.1:443", "[sleep]
// nanosleep".
std::string DescribeWait(const BlockedCall& call);

class WaitSampler {
 public:
  WaitSampler(const ModuleMap& modules, ChunkBuilder& builder);
  WaitSampler(const WaitSampler&) = delete;
  WaitSampler& operator=(const WaitSampler&) = delete;
  ~WaitSampler();

  // `at_start` is run first on its thread.
  bool Start(std::function<void()> at_start);
  void Stop();
  void Forget() { thread_.Forget(); }

  // One round over all threads that are inside a span; samples stand for `elapsed_ns`.
  void Tick(std::uint64_t now_ns, std::uint64_t elapsed_ns);

 private:
  // A thread as it was found last.
  struct Seen {
    std::uint32_t tid = 0;
    bool is_blocked = false;  // the fields below are of a wait
    std::uint64_t switches = 0;
    std::uint64_t run_delay_ns = 0;
    std::string leaf;
    std::vector<std::uint64_t> frames;
    TaskFile schedstat;
    TaskFile syscall;
  };
  struct Active {
    std::size_t slot;
    ThreadContextRecord context;
  };

  void Run();
  void FindActive();
  void Visit(const Active& active, std::uint64_t now_ns, std::uint64_t value_ns);
  bool Look(Seen& seen);
  void Emit(const Active& active, const Seen& seen, std::uint64_t now_ns, std::uint64_t value_ns,
            std::string_view leaf, std::span<const std::uint64_t> frames);

  const ModuleMap& modules_;
  ChunkBuilder& builder_;
  std::atomic<bool> stops_{false};
  std::uint64_t random_ = 0x9E3779B97F4A7C15;
  std::shared_ptr<const CodeSnapshot> snapshot_;
  std::vector<Seen> seen_;  // by slot
  std::vector<Active> active_;
  std::vector<std::uint64_t> stack_copy_;
  AgentThread thread_;
};

}  // namespace hotspan::agent
