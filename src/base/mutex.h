// Mutex, MutexLock and CondVar: std's, with the annotations that clang's -Wthread-safety checks.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HOTSPAN_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define HOTSPAN_THREAD_ANNOTATION(x)
#endif

#define GUARDED_BY(x) HOTSPAN_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) HOTSPAN_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) HOTSPAN_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace hotspan {

class HOTSPAN_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void Lock() HOTSPAN_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void Unlock() HOTSPAN_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class HOTSPAN_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HOTSPAN_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() HOTSPAN_THREAD_ANNOTATION(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // The mutex must be held; it is released while waiting. Wakes spuriously: wait in a loop.
  void Wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  template <typename Rep, typename Period>
  void WaitFor(Mutex& mutex, std::chrono::duration<Rep, Period> timeout) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, timeout);
    lock.release();
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace hotspan
