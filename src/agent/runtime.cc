#include "agent/runtime.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/context_stack.h"
#include "agent/exporter.h"
#include "agent/lock_interpose.h"
#include "agent/log_line.h"
#include "agent/process_context.h"
#include "agent/profiler.h"
#include "base/limits.h"
#include "base/mutex.h"

namespace hotspan::agent {
namespace {

constexpr int kStopLimitMs = 2000;

// One start of the library. Spans point into it, so it is kept for good.
struct Runtime {
  Runtime(AgentConfig used, ExporterOptions options, AgentStats* stats)
      : config(std::move(used)),
        fork_generation(ForkGeneration()),
        queue(limits::kAgentSpanQueueMax, limits::kAgentSpansPerBatch),
        tracer(config.span_sampler, &queue, stats),
        exporter(std::move(options), &queue, stats) {}

  const AgentConfig config;
  const std::uint64_t fork_generation;
  SpanQueue queue;
  Tracer tracer;
  Exporter exporter;
};

struct Global {
  Mutex mutex;  // of starting and stopping
  std::vector<std::unique_ptr<Runtime>> all GUARDED_BY(mutex);
  AgentStats stats;
  const Global* before_fork = nullptr;  // of the parent; spans of it may still be open
};

std::atomic<Runtime*> g_running{nullptr};
// Never destroyed: threads may end spans while static objects are being destroyed.
std::atomic<Global*> g_global{nullptr};

Global& TheGlobal() {
  static const bool is_made = [] {
    g_global.store(std::make_unique<Global>().release());
    return true;
  }();
  static_cast<void>(is_made);
  return *g_global.load(std::memory_order_acquire);
}

// No lock is taken before a fork, so that it waits for nothing: the child gets a new Global, as a
// thread that it lacks may have been at work in the old one.
void AfterForkInChild() {
  CountFork();
  ForgetLockWaits();
  auto next = std::make_unique<Global>();
  next->before_fork = g_global.load();
  g_global.store(next.release());
}

void InstallHandlers() {
  static const int installed = [] {
    ::pthread_atfork(nullptr, nullptr, &AfterForkInChild);
    return std::atexit(&StopRuntime);
  }();
  static_cast<void>(installed);
}

std::string Describe(const AgentConfig& config, const std::string& profile_problem) {
  Profiler& profiler = Profiler::Instance();
  std::string text =
      "service " + config.service_name + ": spans by " + config.span_sampler.description() + ", ";
  if (config.cpu_hz == 0) {
    text += "no profile";
  } else if (!profile_problem.empty()) {
    text += "no profile (" + profile_problem + ")";
  } else {
    text += "CPU at " + std::to_string(config.cpu_hz) + " Hz by " + profiler.SamplerName() +
            (config.off_cpu ? ", waiting inside spans" : ", no waiting");
  }
  return text + ", to " + config.endpoint;
}

// Empty if it runs or is not wanted.
std::string StartProfiler(const AgentConfig& config) {
  if (config.cpu_hz == 0) return {};
  ProfilerOptions options;
  options.cpu_hz = config.cpu_hz;
  options.off_cpu = config.off_cpu;
  options.locks = config.locks;
  std::string why_not;
  if (Profiler::Instance().Start(options, &why_not)) return {};
  return why_not.empty() ? "cannot start" : why_not;
}

bool StartLocked(Global& global, const AgentConfig& config, bool tell) REQUIRES(global.mutex) {
  const auto traces = ParseHttpUrl(config.traces_url);
  const auto profiles = ParseHttpUrl(config.profiles_url);
  if (!traces || !profiles) {
    LogLine("does not start: " + (traces ? config.profiles_url : config.traces_url) +
            " is not an http:// URL");
    return false;
  }
  ExporterOptions options;
  options.traces_url = *traces;
  options.profiles_url = *profiles;
  options.headers = config.headers;
  options.gzip = config.gzip;
  options.timeout_ms = config.timeout_ms;
  const std::vector<ResourceAttribute> resource = ResourceOf(config);
  options.resource = EncodeResource(resource);
  // First of all, and left alone where it is not in use: it keeps its locks whole over a fork from
  // its first start on.
  const std::string profile_problem = StartProfiler(config);
  if (config.cpu_hz > 0 && profile_problem.empty()) {
    options.profiles = [] { return Profiler::Instance().Drain(); };
    options.on_thread_start = [] { Profiler::Instance().ExcludeThisThread(); };
  }
  auto runtime = std::make_unique<Runtime>(config, std::move(options), &global.stats);
  if (!runtime->exporter.Start()) {
    Profiler::Instance().Stop();
    LogLine("does not start: no thread to be had");
    return false;
  }
  MeasureLockWaits(LockUse::kEvents, config.locks && LocksAreInterposed());
  PublishProcessContext(EncodeResource(resource));
  if (tell) {
    for (const std::string& warning : config.warnings) LogLine(warning);
    if (config.verbose) LogLine(Describe(config, profile_problem));
    if (!config.verbose && !profile_problem.empty()) LogLine("no profile: " + profile_problem);
  }
  g_running.store(runtime.get(), std::memory_order_release);
  global.all.push_back(std::move(runtime));
  return true;
}

// The runtime of this process. A forked child has the parent's, whose threads it lacks, until it
// starts its own.
Runtime* Running() {
  Runtime* const running = g_running.load(std::memory_order_acquire);
  if (running == nullptr || running->fork_generation == ForkGeneration()) [[likely]] {
    return running;
  }
  Global& global = TheGlobal();
  const MutexLock lock(global.mutex);
  Runtime* const now = g_running.load(std::memory_order_acquire);
  if (now != running) return now;
  g_running.store(nullptr, std::memory_order_release);
  StartLocked(global, running->config, false);
  return g_running.load(std::memory_order_acquire);
}

}  // namespace

const Tracer* CurrentTracer() {
  const Runtime* const running = Running();
  return running == nullptr ? nullptr : &running->tracer;
}

void WakeExporter() {
  if (Runtime* const running = Running()) running->exporter.Wake();
}

bool StartRuntime(const AgentConfig& config) {
  if (config.disabled) return true;
  InstallHandlers();
  if (Running() != nullptr) return true;
  Global& global = TheGlobal();
  const MutexLock lock(global.mutex);
  if (g_running.load(std::memory_order_acquire) != nullptr) return true;
  return StartLocked(global, config, true);
}

void StopRuntime() {
  Global& global = TheGlobal();
  const MutexLock lock(global.mutex);
  Runtime* const running = g_running.exchange(nullptr, std::memory_order_acq_rel);
  if (running == nullptr || running->fork_generation != ForkGeneration()) return;
  MeasureLockWaits(LockUse::kEvents, false);
  Profiler::Instance().Stop();
  running->queue.Close();
  running->exporter.Stop(kStopLimitMs);
  // Spans that came in between are lost with it.
  global.stats.spans_dropped.fetch_add(running->queue.TakeAll().size());
}

bool FlushRuntime(int timeout_ms) {
  Runtime* const running = Running();
  return running != nullptr && running->exporter.Flush(std::max(timeout_ms, 0));
}

void ReadStats(hotspan_stats* stats) {
  const AgentStats& from = TheGlobal().stats;
  const Profiler& profiler = Profiler::Instance();
  stats->spans_ended = from.spans_ended.load();
  stats->spans_sent = from.spans_sent.load();
  stats->spans_dropped = from.spans_dropped.load();
  stats->samples_taken = from.samples_taken.load();
  stats->samples_sent = from.samples_sent.load();
  stats->samples_dropped = from.samples_dropped.load();
  stats->agent_cpu_ns = profiler.AgentCpuNs();
  stats->sampler = profiler.SamplerName();
}

}  // namespace hotspan::agent
