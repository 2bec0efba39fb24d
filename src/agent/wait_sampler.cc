#include "agent/wait_sampler.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "agent/syscall_names.h"
#include "agent/unwind/unwind.h"
#include "base/limits.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

// The mean of the period, which varies from half to one and a half of it.
constexpr std::uint64_t kPeriodNs = 5'000'000;
// CPU time that the sampler may take, as a share of one core: the period grows instead.
constexpr double kCpuShareMax = 0.01;
// Threads looked at in one round; of more a random choice stands for all.
constexpr std::size_t kVisitsMax = 8;
// Threads whose two files stay open between rounds.
constexpr std::size_t kOpenSlotsMax = 64;
constexpr std::size_t kStackCopyBytes = 32u << 10;
// Words above the stack pointer that are searched for a lost frame pointer.
constexpr std::size_t kRecoverWordsMax = 512;
// Places for a lost frame pointer that are tried.
constexpr std::size_t kCandidatesMax = 16;
constexpr std::size_t kNameBytesMax = 160;
// A round that comes later than this (the machine slept) stands for no more.
constexpr std::uint64_t kElapsedMaxNs = 250'000'000;

std::uint64_t ClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool TakeNumber(std::string_view& text, int base, std::uint64_t* value) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (base == 16 && text.rfind("0x", 0) == 0) text.remove_prefix(2);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  if (parsed.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return true;
}

std::string FileName(std::uint64_t fd) {
  char link[48] = "/proc/self/fd/";
  *std::to_chars(link + 14, link + 40, fd).ptr = 0;
  char target[kNameBytesMax];
  const ssize_t size = readlink(link, target, sizeof(target));
  if (size <= 0) return "";
  std::string name(target, static_cast<std::size_t>(size));
  // "pipe:[4711]" and "anon_inode:[eventfd]": the number says nothing to anyone.
  if (name.rfind("pipe:", 0) == 0 || name.rfind("socket:", 0) == 0) name.resize(name.find(':'));
  return name;
}

std::string PeerName(std::uint64_t fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(static_cast<int>(fd), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "";
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    return std::string(text) + ":" + std::to_string(ntohs(in.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(in.sin6_port));
  }
  if (address.ss_family == AF_UNIX) {
    const auto& in = reinterpret_cast<const sockaddr_un&>(address);
    const std::size_t room = std::min<std::size_t>(
        size > offsetof(sockaddr_un, sun_path) ? size - offsetof(sockaddr_un, sun_path) : 0,
        sizeof(in.sun_path));
    return "unix:" + std::string(in.sun_path, strnlen(in.sun_path, room));
  }
  return "";
}

// True if the bytes before an address are a call; code may be unloaded meanwhile.
bool FollowsCall(std::uint64_t pc) {
  std::uint8_t code[7];
  if (raw::SafeCopy(code, pc - sizeof(code), sizeof(code)) != sizeof(code)) return false;
  if (code[2] == 0xe8) return true;  // call rel32
  // ff /2 with a register, or a memory operand of one to six more bytes.
  for (std::size_t size = 2; size <= 7; ++size) {
    const std::uint8_t* call = code + sizeof(code) - size;
    if (call[0] == 0xff && (call[1] & 0x38) == 0x10) return true;
  }
  return false;
}

// Candidates for a lost frame pointer that the walk in progress leaves out: others were tried.
thread_local std::size_t t_candidates_skipped = 0;

// The kernel tells pc and sp of a blocked thread, but not its frame pointer. A function that has
// one stored its caller's on the stack, below its return address.
std::uint64_t RecoverFramePointer(const CfiTable& table, const raw::StackView& stack,
                                  std::uint64_t sp) {
  std::uint64_t at = (sp + 7) & ~std::uint64_t{7};
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < kRecoverWordsMax && stack.Holds(at, 16); ++i, at += 8) {
    const std::uint64_t saved = stack.Word(at);
    // The main function's caller has none; other saved ones point further up the stack.
    if (saved != 0 && (saved <= at || saved % 8 != 0 || !stack.Holds(saved))) continue;
    const std::uint64_t pc = stack.Word(at + 8);
    if (pc < raw::kPageBytes || FindRow(table, pc - 1) == nullptr) continue;
    if (FollowsCall(pc) && left_out++ == t_candidates_skipped) return at;
  }
  return 0;
}

}  // namespace

bool ParseBlockedCall(std::string_view text, BlockedCall* call) {
  if (text.rfind("-1", 0) == 0) {
    call->number = -1;
    call->arguments = {};
    text.remove_prefix(2);
  } else {
    std::uint64_t number = 0;
    if (!TakeNumber(text, 10, &number)) return false;
    call->number = static_cast<std::int64_t>(number);
    for (std::uint64_t& argument : call->arguments) {
      if (!TakeNumber(text, 16, &argument)) return false;
    }
  }
  return TakeNumber(text, 16, &call->sp) && TakeNumber(text, 16, &call->pc);
}

std::string DescribeWait(const BlockedCall& call) {
  if (call.number < 0) return "[io] page fault";
  const SyscallName known = NameOfSyscall(call.number);
  std::string text(LabelOf(known.kind));
  std::string subject;
  if (known.kind == WaitKind::kIo) {
    subject = FileName(call.arguments[0]);
    if (subject == "socket") {
      text = LabelOf(WaitKind::kNet);
      subject = PeerName(call.arguments[0]);
    }
  } else if (known.kind == WaitKind::kNet) {
    subject = PeerName(call.arguments[0]);
  }
  text += ' ';
  text += known.name.empty() ? "syscall " + std::to_string(call.number) : std::string(known.name);
  return subject.empty() ? text : text + " " + subject;
}

WaitSampler::WaitSampler(const ModuleMap& modules, ChunkBuilder& builder)
    : modules_(modules),
      builder_(builder),
      seen_(kSlotsMax),
      stack_copy_(kStackCopyBytes / sizeof(std::uint64_t)) {}

WaitSampler::~WaitSampler() = default;

bool WaitSampler::Start(std::function<void()> at_start) {
  stops_.store(false);
  return thread_.Start("hotspan-waits", [this, at_start = std::move(at_start)] {
    at_start();
    Run();
  });
}

void WaitSampler::Stop() {
  stops_.store(true);
  thread_.Join();
}

void WaitSampler::Run() {
  const std::uint64_t started = ClockNs(CLOCK_MONOTONIC);
  const std::uint64_t cpu_started = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  std::uint64_t before = started;
  std::uint64_t period = kPeriodNs;
  while (!stops_.load(std::memory_order_relaxed)) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    timespec pause{};
    pause.tv_nsec = static_cast<long>(period / 2 + random_ % period);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    const std::uint64_t now = ClockNs(CLOCK_MONOTONIC);
    Tick(now, std::min(now - before, kElapsedMaxNs));
    before = now;
    const double share = static_cast<double>(ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_started) /
                         static_cast<double>(now - started);
    const double scale = std::clamp(share / kCpuShareMax, 1.0, 20.0);
    period = static_cast<std::uint64_t>(static_cast<double>(kPeriodNs) * scale);
  }
}

void WaitSampler::FindActive() {
  active_.clear();
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (SlotTid(i) == 0) continue;
    const ThreadSlot& slot = SlotAt(i);
    const ThreadContextRecord* record = slot.context.load(std::memory_order_acquire);
    if (record == nullptr || slot.state.load() == SlotState::kExcluded) continue;
    // The thread may end, and its record with it, while we look.
    Active active{i, {}};
    const std::size_t size = sizeof(active.context);
    if (raw::SafeCopy(&active.context, reinterpret_cast<std::uint64_t>(record), size) != size) {
      continue;
    }
    if (active.context.valid == 1) active_.push_back(active);
  }
}

void WaitSampler::Tick(std::uint64_t now_ns, std::uint64_t elapsed_ns) {
  FindActive();
  if (active_.empty()) return;
  snapshot_ = modules_.Current();
  if (snapshot_ == nullptr) return;
  const std::size_t visits = std::min(active_.size(), kVisitsMax);
  const std::uint64_t value = elapsed_ns * active_.size() / visits;
  for (std::size_t i = 0; i < visits; ++i) {
    if (active_.size() > kVisitsMax) {
      random_ ^= random_ << 13;
      random_ ^= random_ >> 7;
      random_ ^= random_ << 17;
      std::swap(active_[i], active_[i + random_ % (active_.size() - i)]);
    }
    Visit(active_[i], now_ns, value);
  }
  snapshot_.reset();
}

void WaitSampler::Visit(const Active& active, std::uint64_t now_ns, std::uint64_t value_ns) {
  Seen& seen = seen_[active.slot];
  const std::uint32_t tid = SlotTid(active.slot);
  if (seen.tid != tid) {
    seen = Seen{};
    seen.tid = tid;
  }
  if (!seen.schedstat.is_open() && !seen.schedstat.Open(tid, "schedstat")) return;
  std::string_view text = seen.schedstat.Read();
  std::uint64_t cpu_ns = 0;
  std::uint64_t run_delay_ns = 0;
  std::uint64_t switches = 0;
  if (!TakeNumber(text, 10, &cpu_ns) || !TakeNumber(text, 10, &run_delay_ns) ||
      !TakeNumber(text, 10, &switches)) {
    return;
  }
  // Exact, but only since the last visit, and that may have been in another span long ago.
  if (seen.run_delay_ns != 0 && run_delay_ns > seen.run_delay_ns) {
    const std::uint64_t waited = std::min(run_delay_ns - seen.run_delay_ns, value_ns);
    Emit(active, seen, now_ns, waited, "[runnable]", {});
  }
  seen.run_delay_ns = std::max<std::uint64_t>(run_delay_ns, 1);
  // Not on a CPU since: still the same wait.
  if (!seen.is_blocked || seen.switches != switches) {
    seen.switches = switches;
    seen.is_blocked = Look(seen);
  }
  if (seen.is_blocked) Emit(active, seen, now_ns, value_ns, seen.leaf, seen.frames);
  if (active.slot % (kSlotsMax / kOpenSlotsMax) != 0 && active_.size() > kVisitsMax) {
    seen.schedstat.Close();
    seen.syscall.Close();
  }
}

// Finds out where a thread is blocked; false if it is not, or woke up meanwhile.
bool WaitSampler::Look(Seen& seen) {
  if (!seen.syscall.is_open() && !seen.syscall.Open(seen.tid, "syscall")) return false;
  BlockedCall call;
  if (!ParseBlockedCall(seen.syscall.Read(), &call)) return false;
  const std::uint64_t low = call.sp & ~std::uint64_t{7};
  const std::size_t size =
      raw::SafeCopy(stack_copy_.data(), low, kStackCopyBytes) & ~std::size_t{7};
  BlockedCall after;
  if (!ParseBlockedCall(seen.syscall.Read(), &after) || !(after == call)) return false;
  raw::Registers registers;
  registers.pc = call.pc;
  registers.sp = call.sp;
  registers.bp_known = false;
  raw::StackView stack;
  stack.low = low;
  stack.high = low + size;
  stack.delta = reinterpret_cast<std::uint64_t>(stack_copy_.data()) - low;
  seen.frames.resize(raw::kFramesMax);
  // A stack holds old return addresses as well: the right pair is one that leads to its end.
  Walk walk;
  for (std::size_t i = 0; i <= kCandidatesMax; ++i) {
    t_candidates_skipped = i < kCandidatesMax ? i : 0;  // none was right: then the first
    walk = Unwind(snapshot_->table, registers, stack, seen.frames.data(), raw::kFramesMax,
                  RecoverFramePointer);
    if (walk.end == WalkEnd::kComplete || walk.end == WalkEnd::kFull) break;
  }
  seen.frames.resize(walk.frame_count);
  seen.leaf = DescribeWait(call);
  return true;
}

void WaitSampler::Emit(const Active& active, const Seen& seen, std::uint64_t now_ns,
                       std::uint64_t value_ns, std::string_view leaf,
                       std::span<const std::uint64_t> frames) {
  WaitSample sample;
  sample.time_ns = now_ns;
  sample.value_ns = value_ns;
  sample.context = active.context;
  sample.thread_id = seen.tid;
  sample.leaf = leaf;
  sample.frames = frames;
  builder_.AddWaitSample(sample, *snapshot_);
}

}  // namespace hotspan::agent
