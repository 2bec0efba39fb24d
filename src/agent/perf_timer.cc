#include "agent/perf_timer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/signal/handler.h"

// Older headers keep it to the kernel.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace hotspan::agent {
namespace {

// The kernel's number of another thread's CPU clock.
clockid_t CpuClockOf(std::uint32_t tid) {
  constexpr unsigned kPerThreadScheduler = 6;
  return static_cast<clockid_t>((~tid << 3) | kPerThreadScheduler);
}

int OpenEvent(std::uint32_t tid, bool exclude_kernel) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = g_period_ns.load(std::memory_order_relaxed);
  attributes.wakeup_events = 1;
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = exclude_kernel ? 1 : 0;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, static_cast<pid_t>(tid), -1, -1,
                                  PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

bool OpenPerfTimer(std::uint32_t tid, int signal, ThreadSlot* slot, std::string* why_not) {
  bool exclude_kernel = false;
  int event = OpenEvent(tid, exclude_kernel);
  if (event < 0 && (errno == EACCES || errno == EPERM)) {
    exclude_kernel = true;
    event = OpenEvent(tid, exclude_kernel);
  }
  if (event < 0) {
    if (why_not != nullptr) *why_not = std::string("perf_event_open: ") + strerror(errno);
    return false;
  }
  f_owner_ex owner{};
  owner.type = F_OWNER_TID;
  owner.pid = static_cast<pid_t>(tid);
  if (fcntl(event, F_SETFL, O_ASYNC | O_NONBLOCK) != 0 || fcntl(event, F_SETSIG, signal) != 0 ||
      fcntl(event, F_SETOWN_EX, &owner) != 0) {
    if (why_not != nullptr) *why_not = std::string("perf event signal: ") + strerror(errno);
    close(event);
    return false;
  }
  slot->timer.store(event);
  slot->weight_by_clock.store(exclude_kernel);
  slot->timer_kind.store(TimerKind::kPerf);
  return true;
}

bool OpenCpuTimer(std::uint32_t tid, int signal, ThreadSlot* slot) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_notify_thread_id = static_cast<pid_t>(tid);
  int id = 0;  // the kernel's: the handler sets it without the C library
  if (syscall(SYS_timer_create, CpuClockOf(tid), &event, &id) != 0) return false;
  slot->timer.store(id);
  slot->weight_by_clock.store(true);
  slot->timer_kind.store(TimerKind::kCpuTimer);
  return true;
}

void CloseTimer(ThreadSlot* slot) {
  const TimerKind kind = slot->timer_kind.exchange(TimerKind::kNone);
  if (kind == TimerKind::kPerf) close(slot->timer.load());
  if (kind == TimerKind::kCpuTimer) syscall(SYS_timer_delete, slot->timer.load());
}

std::uint64_t ThreadCpuNs(std::uint32_t tid) {
  timespec time{};
  if (clock_gettime(CpuClockOf(tid), &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace hotspan::agent
