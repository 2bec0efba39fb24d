// Gives spans that have ended their waits for locks, as events "lock.wait".
//
// Threads: belongs to the exporter's thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "agent/lock_wait.h"
#include "agent/span_record.h"

namespace hotspan::agent {

class LockEvents {
 public:
  // Takes in what was waited for since the last call and adds what is of these spans. The rest is
  // kept for spans that have not ended, the newest limits::kAgentLockWaitsHeldMax of it.
  void AddTo(std::span<const std::unique_ptr<SpanRecord>> spans);

 private:
  std::vector<LockWait> held_;
};

}  // namespace hotspan::agent
