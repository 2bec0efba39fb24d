// pthread_create of this library: new threads are sampled from their first instruction on.
//
// Threads: any.
#pragma once

#include <functional>
#include <string>

namespace hotspan::agent {

// Referring to it makes a static link take the interposed pthread_create; true if it is in force.
bool ThreadCreationIsInterposed();

// A thread of the library: blocks all signals and is never sampled. To be joined before
// destruction.
class AgentThread {
 public:
  AgentThread() = default;
  AgentThread(const AgentThread&) = delete;
  AgentThread& operator=(const AgentThread&) = delete;

  // False if the system has no room for a thread. `name` has at most 15 characters.
  bool Start(const char* name, std::function<void()> body);
  void Join();
  // In the child after a fork, where the thread does not exist.
  void Forget() { is_running_ = false; }
  bool is_running() const { return is_running_; }

 private:
  unsigned long handle_ = 0;
  bool is_running_ = false;
};

}  // namespace hotspan::agent
