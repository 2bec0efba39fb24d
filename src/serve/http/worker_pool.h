// Threads that run handlers, which may wait for the disk, so that network threads never do.
//
// Threads: all methods may be called from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace hotspan::serve {

class WorkerPool {
 public:
  WorkerPool(std::size_t threads, std::size_t queue_max);
  // Runs what is queued, then ends.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False if the queue is full: the task was not taken.
  [[nodiscard]] bool Post(std::function<void()> task) EXCLUDES(mutex_);

 private:
  void Run() EXCLUDES(mutex_);

  const std::size_t queue_max_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> queue_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hotspan::serve
