// A stress of libhotspan's signal path: sampling signals at 10,000 a second and more into threads
// that load and unload libraries, throw, allocate, fork, and come and go. It ends by itself; a hang
// shows as a worker that made no progress, and ends it with an error.
//
//   hotspan_agent_stress [--seconds=120]
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "agent/hotspan.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignalsPerSecond = 12'000;

std::atomic<bool> stops{false};

// The real-time signal that the library has taken for its samples; 0 if there is none.
int SamplingSignal() {
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) != 0 &&
        action.sa_sigaction != nullptr) {
      return number;
    }
  }
  return 0;
}

// Threads of this process but the library's own, which block all signals.
std::vector<pid_t> OtherThreads() {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream comm(entry.path() / "comm");
    std::string name;
    std::getline(comm, name);
    const pid_t id = std::atoi(entry.path().filename().c_str());
    if (!name.starts_with("hotspan-") && id != gettid()) threads.push_back(id);
  }
  return threads;
}

std::uint64_t SendSignals(int signal) {
  std::uint64_t sent = 0;
  const auto begin = Clock::now();
  std::vector<pid_t> threads = OtherThreads();
  for (std::size_t turn = 0; !stops; ++turn) {
    if (turn % 200 == 0) threads = OtherThreads();
    for (const pid_t thread : threads) {
      siginfo_t info{};
      info.si_signo = signal;
      info.si_code = SI_QUEUE;
      info.si_pid = getpid();
      info.si_uid = getuid();
      info.si_value.sival_ptr = reinterpret_cast<void*>(std::uintptr_t{1000});
      if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &info) == 0) ++sent;
    }
    const auto due =
        begin + std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(static_cast<double>(sent) / kSignalsPerSecond));
    std::this_thread::sleep_until(due);
  }
  return sent;
}

void LoadAndUnload(std::size_t turn) {
  static constexpr std::array<const char*, 4> kLibraries = {"libsqlite3.so.0", "libbz2.so.1.0",
                                                            "liblzma.so.5", "libxxhash.so.0"};
  void* library = dlopen(kLibraries[turn % kLibraries.size()], RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
}

[[gnu::noinline]] int ThrowFrom(int depth) {
  if (depth == 0) throw std::runtime_error("thrown on purpose");
  return ThrowFrom(depth - 1) + 1;
}

void Throw(std::size_t) {
  try {
    ThrowFrom(20);
  } catch (const std::runtime_error&) {
  }
}

void Allocate(std::size_t turn) {
  std::map<std::string, std::vector<char>> blocks;
  for (std::size_t i = 0; i < 50; ++i) {
    blocks[std::to_string(turn * 31 + i)].resize(1 + (turn * 7919 + i * 131) % 5000);
  }
}

void Fork(std::size_t) {
  const pid_t child = fork();
  if (child == 0) {
    Allocate(1);
    Throw(1);
    _exit(0);
  }
  if (child > 0) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::abort();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void Churn(std::size_t turn) {
  std::array<std::thread, 4> threads;
  for (auto& thread : threads) thread = std::thread([turn] { Allocate(turn); });
  for (auto& thread : threads) thread.join();
}

void Trace(std::size_t turn) {
  hotspan::Span outer("outer");
  hotspan::Span inner("inner");
  inner.Set("turn", turn);
}

struct Worker {
  const char* name;
  void (*step)(std::size_t);
  std::atomic<std::size_t> steps{0};
  std::size_t seen = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int seconds = 120;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--seconds=", 10) == 0) seconds = std::atoi(argv[i] + 10);
  }
  hotspan::Agent agent({.service_name = "stress",
                        .service_version = {},
                        .endpoint = "http://127.0.0.1:9",
                        .cpu_hz = 1000,
                        .verbose = true});
  const int signal = SamplingSignal();
  if (!agent.started() || signal == 0) {
    std::fprintf(stderr, "stress: the sampler did not start\n");
    return 1;
  }
  std::array<Worker, 6> workers = {{{"dlopen", LoadAndUnload},
                                    {"throw", Throw},
                                    {"malloc", Allocate},
                                    {"fork", Fork},
                                    {"threads", Churn},
                                    {"spans", Trace}}};
  std::vector<std::thread> threads;
  for (Worker& worker : workers) {
    threads.emplace_back([&worker] {
      while (!stops) worker.step(worker.steps++);
    });
  }
  std::uint64_t sent = 0;
  threads.emplace_back([&] { sent = SendSignals(signal); });
  int hangs = 0;
  for (int second = 0; second < seconds && hangs == 0; second += 10) {
    std::this_thread::sleep_for(std::chrono::seconds(std::min(10, seconds - second)));
    for (Worker& worker : workers) {
      const std::size_t steps = worker.steps;
      if (steps == worker.seen) {
        std::fprintf(stderr, "stress: '%s' made no step in 10 s\n", worker.name);
        ++hangs;
      }
      worker.seen = steps;
    }
  }
  if (hangs > 0) std::_Exit(1);
  stops = true;
  for (std::thread& thread : threads) thread.join();
  hotspan_stats stats{};
  hotspan_get_stats(&stats);
  std::printf("%d s, %llu signals (%.0f a second), %llu samples taken, %llu dropped, sampler %s\n",
              seconds, static_cast<unsigned long long>(sent), static_cast<double>(sent) / seconds,
              static_cast<unsigned long long>(stats.samples_taken),
              static_cast<unsigned long long>(stats.samples_dropped), stats.sampler);
  for (const Worker& worker : workers) {
    std::printf("  %-8s %zu steps\n", worker.name, worker.steps.load());
  }
  return 0;
}
