#include "agent/thread_registry.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "agent/perf_timer.h"
#include "agent/signal/handler.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {

std::atomic<ThreadRegistry*> g_thread_registry{nullptr};

namespace {

// Rings kept for threads to come; more are given back to the system.
constexpr std::size_t kFreeRingsMax = 16;

struct StackBounds {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

StackBounds OwnStack() {
  StackBounds bounds;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return bounds;
  void* address = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
    bounds.low = reinterpret_cast<std::uint64_t>(address);
    bounds.high = bounds.low + size;
  }
  pthread_attr_destroy(&attributes);
  return bounds;
}

std::vector<std::uint32_t> LiveThreads() {
  std::vector<std::uint32_t> tids;
  DIR* directory = opendir("/proc/self/task");
  if (directory == nullptr) return tids;
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name(entry->d_name);
    std::uint32_t tid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), tid);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) tids.push_back(tid);
  }
  closedir(directory);
  std::sort(tids.begin(), tids.end());
  return tids;
}

std::vector<StackBounds> WritableMappings() {
  std::vector<StackBounds> mappings;
  std::FILE* file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) return mappings;
  char line[512];
  bool at_start = true;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    const bool ends = std::strchr(line, '\n') != nullptr;
    const std::string_view text(line);
    const std::size_t dash = text.find('-');
    const std::size_t space = text.find(' ');
    if (at_start && dash < space && text.substr(space).rfind(" rw", 0) == 0) {
      StackBounds mapping;
      std::from_chars(line, line + dash, mapping.low, 16);
      std::from_chars(line + dash + 1, line + space, mapping.high, 16);
      mappings.push_back(mapping);
    }
    at_start = ends;
  }
  std::fclose(file);
  return mappings;
}

// Waits until a handler that runs on the slot's thread now has ended.
void AwaitHandler(const ThreadSlot& slot) {
  const std::uint64_t count = slot.handler_count.load();
  if (count % 2 == 0) return;
  while (slot.handler_count.load() == count) sched_yield();
}

}  // namespace

SampleRing* ThreadRegistry::TakeRing() {
  if (!free_rings_.empty()) {
    SampleRing* ring = free_rings_.back();
    free_rings_.pop_back();
    return ring;
  }
  void* memory = mmap(nullptr, sizeof(SampleRing), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SampleRing*>(memory);
}

void ThreadRegistry::GiveRing(SampleRing* ring) {
  if (free_rings_.size() < kFreeRingsMax) {
    free_rings_.push_back(ring);
  } else {
    munmap(ring, sizeof(SampleRing));
  }
}

void ThreadRegistry::Start(TimerKind kind, int signal) {
  MutexLock lock(mutex_);
  kind_ = kind;
  signal_ = signal;
  is_sampling_ = true;
}

void ThreadRegistry::Stop() {
  MutexLock lock(mutex_);
  is_sampling_ = false;
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) == 0) continue;
    ThreadSlot& slot = SlotAt(i);
    SlotState sampled = SlotState::kSampled;
    slot.state.compare_exchange_strong(sampled, SlotState::kKnown);
  }
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) == 0) continue;
    AwaitHandler(SlotAt(i));
    CloseTimer(&SlotAt(i));
  }
}

// Gives a slot of a thread its ring and timer.
void ThreadRegistry::Adopt(ThreadSlot* slot) {
  const std::uint32_t tid = slot->tid.load();
  if (slot->ring.load() == nullptr) slot->ring.store(TakeRing());
  bool ok = slot->ring.load() != nullptr;
  slot->random = 0x9E3779B97F4A7C15 * (tid + 1);
  slot->cpu_ns = ThreadCpuNs(tid);
  slot->weight_by_clock.store(false);
  if (ok && kind_ == TimerKind::kPerf) {
    // Where one more event is too many (open files), the thread still gets a timer.
    ok = OpenPerfTimer(tid, signal_, slot, nullptr) || OpenCpuTimer(tid, signal_, slot);
  } else if (ok && kind_ == TimerKind::kCpuTimer) {
    ok = OpenCpuTimer(tid, signal_, slot);
  }
  if (!ok) {
    // No loss if it has ended meanwhile.
    if (ThreadCpuNs(tid) != 0) missed_.fetch_add(1);
    slot->state.store(SlotState::kKnown);
    return;
  }
  slot->state.store(SlotState::kSampled);
  ArmTimer(slot);
}

void ThreadRegistry::RegisterCurrent() {
  const StackBounds bounds = OwnStack();
  MutexLock lock(mutex_);
  if (!is_sampling_) return;
  bool is_new = false;
  ThreadSlot* slot = ClaimSlot(raw::GetTid(), &is_new);
  if (slot == nullptr) {
    missed_.fetch_add(1);
    return;
  }
  if (slot->state.load() == SlotState::kExcluded) return;
  slot->stack_low.store(bounds.low);
  slot->stack_high.store(bounds.high);
  SetCurrentSlot(slot);
  if (otel_thread_ctx_v1 != nullptr) slot->context.store(otel_thread_ctx_v1);
  if (slot->state.load() != SlotState::kSampled) Adopt(slot);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void ThreadRegistry::UnregisterCurrent() {
  MutexLock lock(mutex_);
  ThreadSlot* slot = FindSlot(raw::GetTid());
  SetCurrentSlot(nullptr);
  if (slot == nullptr) return;
  if (slot->state.load() == SlotState::kExcluded) {
    agent_cpu_ns_[slot->tid.load()] = ThreadCpuNs(slot->tid.load());
    return;
  }
  slot->state.store(SlotState::kExited);
  slot->context.store(nullptr);
  CloseTimer(slot);
}

void ThreadRegistry::ExcludeCurrent() {
  const std::uint32_t tid = raw::GetTid();
  MutexLock lock(mutex_);
  agent_cpu_ns_[tid] = ThreadCpuNs(tid);
  bool is_new = false;
  ThreadSlot* slot = ClaimSlot(tid, &is_new);
  if (slot == nullptr) return;
  slot->state.store(SlotState::kExcluded);
  slot->context.store(nullptr);
  CloseTimer(slot);
}

void ThreadRegistry::Scan() {
  const std::vector<std::uint32_t> live = LiveThreads();
  if (live.empty()) return;  // /proc is hidden: threads come by pthread_create alone
  MutexLock lock(mutex_);
  for (auto& [tid, cpu_ns] : agent_cpu_ns_) cpu_ns = std::max(cpu_ns, ThreadCpuNs(tid));
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    const std::uint32_t tid = SlotTid(i);
    if (tid == 0 || std::binary_search(live.begin(), live.end(), tid)) continue;
    SlotAt(i).state.store(SlotState::kExited);
    SlotAt(i).context.store(nullptr);
    CloseTimer(&SlotAt(i));
  }
  if (!is_sampling_) return;
  for (const std::uint32_t tid : live) {
    bool is_new = false;
    ThreadSlot* slot = ClaimSlot(tid, &is_new);
    if (slot == nullptr) {
      missed_.fetch_add(1);
    } else if (slot->tid.load() == tid && slot->state.load() == SlotState::kKnown) {
      Adopt(slot);
    }
  }
  ResolveStacks();
}

void ThreadRegistry::ResolveStacks() {
  std::vector<StackBounds> mappings;
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) == 0) continue;
    ThreadSlot& slot = SlotAt(i);
    const std::uint64_t sp = slot.foreign_sp.exchange(0);
    // Known bounds and a stack pointer elsewhere: a fiber, whose stack may go at any time.
    if (sp == 0 || slot.stack_high.load() != 0) continue;
    if (mappings.empty()) mappings = WritableMappings();
    for (const StackBounds& mapping : mappings) {
      if (sp < mapping.low || sp >= mapping.high) continue;
      slot.stack_low.store(mapping.low);
      slot.stack_high.store(mapping.high);
    }
  }
}

void ThreadRegistry::Release(ThreadSlot* slot) {
  gone_dropped_ += slot->dropped.load();
  gone_taken_ += slot->taken.load();
  const auto own = agent_cpu_ns_.find(slot->tid.load());
  if (own != agent_cpu_ns_.end()) {
    gone_agent_cpu_ns_ += own->second;
    agent_cpu_ns_.erase(own);
  }
  if (SampleRing* ring = slot->ring.load()) GiveRing(ring);
  ReleaseSlot(slot);
}

void ThreadRegistry::Drain(Sink& sink) {
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) == 0) continue;
    ThreadSlot& slot = SlotAt(i);
    const bool is_gone = slot.state.load() == SlotState::kExited;
    std::size_t words = 0;
    if (SampleRing* ring = slot.ring.load()) {
      while (const std::uint64_t* record = ring->Front(&words)) {
        sink.OnSample(*reinterpret_cast<const RingSample*>(record), record + kRingSampleWords);
        ring->Pop();
      }
    }
    // A thread that ends keeps its slot until it is really gone, or a late signal would find none.
    if (!is_gone || ThreadCpuNs(slot.tid.load()) != 0) continue;
    MutexLock lock(mutex_);
    Release(&slot);
  }
}

std::uint64_t ThreadRegistry::AgentCpuNs() const {
  MutexLock lock(mutex_);
  std::uint64_t total = gone_agent_cpu_ns_;
  for (auto& [tid, cpu_ns] : agent_cpu_ns_) {
    cpu_ns = std::max(cpu_ns, ThreadCpuNs(tid));
    total += cpu_ns;
  }
  return total;
}

std::uint64_t ThreadRegistry::dropped() const {
  MutexLock lock(mutex_);
  std::uint64_t total = gone_dropped_;
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) != 0) total += SlotAt(i).dropped.load();
  }
  return total;
}

std::uint64_t ThreadRegistry::taken() const {
  MutexLock lock(mutex_);
  std::uint64_t total = gone_taken_;
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) != 0) total += SlotAt(i).taken.load();
  }
  return total;
}

void ThreadRegistry::AfterForkInChild() {
  is_sampling_ = false;
  agent_cpu_ns_.clear();
  gone_agent_cpu_ns_ = gone_dropped_ = gone_taken_ = 0;
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) == 0) continue;
    ThreadSlot& slot = SlotAt(i);
    // The events are the parent's; here only their file descriptors are closed.
    if (slot.timer_kind.load() == TimerKind::kPerf) CloseTimer(&slot);
    // What the ring holds is the parent's to send: unmapped rather than reused.
    if (SampleRing* ring = slot.ring.load()) munmap(ring, sizeof(SampleRing));
  }
  ReleaseAllSlots();
  // The record of this thread may be in use; it announces itself again.
  if (otel_thread_ctx_v1 != nullptr) AnnounceContext();
  mutex_.Unlock();
}

}  // namespace hotspan::agent
