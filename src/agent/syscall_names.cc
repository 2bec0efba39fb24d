#include "agent/syscall_names.h"

#include <sys/syscall.h>

namespace hotspan::agent {
namespace {

struct Entry {
  std::int64_t number;
  SyscallName name;
};

constexpr Entry kEntries[] = {
    {SYS_futex, {"futex", WaitKind::kLock}},
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, {"futex_waitv", WaitKind::kLock}},
#endif
    {SYS_flock, {"flock", WaitKind::kLock}},
    {SYS_fcntl, {"fcntl", WaitKind::kLock}},
    {SYS_read, {"read", WaitKind::kIo}},
    {SYS_write, {"write", WaitKind::kIo}},
    {SYS_pread64, {"pread64", WaitKind::kIo}},
    {SYS_pwrite64, {"pwrite64", WaitKind::kIo}},
    {SYS_readv, {"readv", WaitKind::kIo}},
    {SYS_writev, {"writev", WaitKind::kIo}},
    {SYS_preadv, {"preadv", WaitKind::kIo}},
    {SYS_pwritev, {"pwritev", WaitKind::kIo}},
    {SYS_preadv2, {"preadv2", WaitKind::kIo}},
    {SYS_pwritev2, {"pwritev2", WaitKind::kIo}},
    {SYS_fsync, {"fsync", WaitKind::kIo}},
    {SYS_fdatasync, {"fdatasync", WaitKind::kIo}},
    {SYS_sync_file_range, {"sync_file_range", WaitKind::kIo}},
    {SYS_fallocate, {"fallocate", WaitKind::kIo}},
    {SYS_ftruncate, {"ftruncate", WaitKind::kIo}},
    {SYS_getdents64, {"getdents64", WaitKind::kIo}},
    {SYS_ioctl, {"ioctl", WaitKind::kIo}},
    {SYS_close, {"close", WaitKind::kIo}},
    {SYS_splice, {"splice", WaitKind::kIo}},
    {SYS_copy_file_range, {"copy_file_range", WaitKind::kIo}},
    {SYS_sendfile, {"sendfile", WaitKind::kNet}},
    {SYS_connect, {"connect", WaitKind::kNet}},
    {SYS_accept, {"accept", WaitKind::kNet}},
    {SYS_accept4, {"accept4", WaitKind::kNet}},
    {SYS_recvfrom, {"recvfrom", WaitKind::kNet}},
    {SYS_recvmsg, {"recvmsg", WaitKind::kNet}},
    {SYS_recvmmsg, {"recvmmsg", WaitKind::kNet}},
    {SYS_sendto, {"sendto", WaitKind::kNet}},
    {SYS_sendmsg, {"sendmsg", WaitKind::kNet}},
    {SYS_sendmmsg, {"sendmmsg", WaitKind::kNet}},
    {SYS_nanosleep, {"nanosleep", WaitKind::kSleep}},
    {SYS_clock_nanosleep, {"clock_nanosleep", WaitKind::kSleep}},
    {SYS_pause, {"pause", WaitKind::kSleep}},
    {SYS_epoll_wait, {"epoll_wait", WaitKind::kWait}},
    {SYS_epoll_pwait, {"epoll_pwait", WaitKind::kWait}},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, {"epoll_pwait2", WaitKind::kWait}},
#endif
    {SYS_poll, {"poll", WaitKind::kWait}},
    {SYS_ppoll, {"ppoll", WaitKind::kWait}},
    {SYS_select, {"select", WaitKind::kWait}},
    {SYS_pselect6, {"pselect6", WaitKind::kWait}},
    {SYS_wait4, {"wait4", WaitKind::kWait}},
    {SYS_waitid, {"waitid", WaitKind::kWait}},
    {SYS_rt_sigtimedwait, {"rt_sigtimedwait", WaitKind::kWait}},
    {SYS_rt_sigsuspend, {"rt_sigsuspend", WaitKind::kWait}},
    {SYS_io_getevents, {"io_getevents", WaitKind::kWait}},
    {SYS_io_uring_enter, {"io_uring_enter", WaitKind::kWait}},
    {SYS_semop, {"semop", WaitKind::kWait}},
    {SYS_semtimedop, {"semtimedop", WaitKind::kWait}},
    {SYS_msgrcv, {"msgrcv", WaitKind::kWait}},
    {SYS_msgsnd, {"msgsnd", WaitKind::kWait}},
    {SYS_mq_timedreceive, {"mq_timedreceive", WaitKind::kWait}},
    {SYS_mq_timedsend, {"mq_timedsend", WaitKind::kWait}},
    {SYS_open, {"open", WaitKind::kOther}},
    {SYS_openat, {"openat", WaitKind::kOther}},
    {SYS_stat, {"stat", WaitKind::kOther}},
    {SYS_newfstatat, {"newfstatat", WaitKind::kOther}},
    {SYS_unlink, {"unlink", WaitKind::kOther}},
    {SYS_rename, {"rename", WaitKind::kOther}},
    {SYS_mkdir, {"mkdir", WaitKind::kOther}},
    {SYS_mmap, {"mmap", WaitKind::kOther}},
    {SYS_munmap, {"munmap", WaitKind::kOther}},
    {SYS_mprotect, {"mprotect", WaitKind::kOther}},
    {SYS_madvise, {"madvise", WaitKind::kOther}},
    {SYS_msync, {"msync", WaitKind::kOther}},
    {SYS_membarrier, {"membarrier", WaitKind::kOther}},
    {SYS_clone, {"clone", WaitKind::kOther}},
    {SYS_vfork, {"vfork", WaitKind::kOther}},
    {SYS_execve, {"execve", WaitKind::kOther}},
};

}  // namespace

SyscallName NameOfSyscall(std::int64_t number) {
  for (const Entry& entry : kEntries) {
    if (entry.number == number) return entry.name;
  }
  return SyscallName{};
}

std::string_view LabelOf(WaitKind kind) {
  switch (kind) {
    case WaitKind::kLock:
      return "[lock]";
    case WaitKind::kIo:
      return "[io]";
    case WaitKind::kNet:
      return "[net]";
    case WaitKind::kSleep:
      return "[sleep]";
    case WaitKind::kWait:
      return "[wait]";
    case WaitKind::kOther:
      break;
  }
  return "[syscall]";
}

}  // namespace hotspan::agent
