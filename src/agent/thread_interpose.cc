#include "agent/thread_interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <utility>

#include "agent/hotspan.h"
#include "agent/thread_registry.h"

namespace hotspan::agent {
namespace {

using PthreadCreate = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

PthreadCreate RealPthreadCreate() {
#if defined(HOTSPAN_SANITIZED)
  return &pthread_create;
#else
  static std::atomic<void*> real{nullptr};
  void* found = real.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, "pthread_create");
    real.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<PthreadCreate>(found);
#endif
}

struct AgentStart {
  std::string name;
  std::function<void()> body;
};

void* RunAgentThread(void* argument) {
  const std::unique_ptr<AgentStart> start(static_cast<AgentStart*>(argument));
  pthread_setname_np(pthread_self(), start->name.c_str());
  start->body();
  return nullptr;
}

#if !defined(HOTSPAN_SANITIZED)

struct ThreadStart {
  void* (*function)(void*);
  void* argument;
};

pthread_key_t ExitKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void*) {
      if (ThreadRegistry* registry = g_thread_registry.load()) registry->UnregisterCurrent();
    });
    return made;
  }();
  return key;
}

void* RunThread(void* argument) {
  const ThreadStart start = *std::unique_ptr<ThreadStart>(static_cast<ThreadStart*>(argument));
  if (ThreadRegistry* registry = g_thread_registry.load()) {
    registry->RegisterCurrent();
    pthread_setspecific(ExitKey(), registry);
  }
  return start.function(start.argument);
}

int CreateThread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                 void* argument) {
  const PthreadCreate real = RealPthreadCreate();
  if (real == nullptr) return EAGAIN;
  if (g_thread_registry.load() == nullptr) return real(thread, attributes, function, argument);
  auto start = std::make_unique<ThreadStart>(ThreadStart{function, argument});
  const int error = real(thread, attributes, RunThread, start.get());
  if (error == 0) static_cast<void>(start.release());
  return error;
}

#endif

}  // namespace

bool ThreadCreationIsInterposed() {
#if defined(HOTSPAN_SANITIZED)
  return false;
#else
  return RealPthreadCreate() != nullptr;
#endif
}

bool AgentThread::Start(const char* name, std::function<void()> body) {
  const PthreadCreate real = RealPthreadCreate();
  if (real == nullptr) return false;
  auto start = std::make_unique<AgentStart>(AgentStart{name, std::move(body)});
  // Inherited by the thread: it never takes a signal that is meant for the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t handle{};
  is_running_ = real(&handle, nullptr, RunAgentThread, start.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  handle_ = handle;
  if (is_running_) static_cast<void>(start.release());
  return is_running_;
}

void AgentThread::Join() {
  if (is_running_) pthread_join(handle_, nullptr);
  is_running_ = false;
}

}  // namespace hotspan::agent

#if !defined(HOTSPAN_SANITIZED)
// Programs, and libraries loaded after this one, find this before the C library's.
extern "C" HOTSPAN_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                             void* (*function)(void*), void* argument) noexcept {
  return hotspan::agent::CreateThread(thread, attributes, function, argument);
}
#endif
