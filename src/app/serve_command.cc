#include "app/serve_command.h"

#include <signal.h>

#include <iostream>
#include <memory>
#include <thread>

#include "app/config.h"
#include "app/wiring.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mutex.h"

namespace hotspan::app {
namespace {

constexpr std::chrono::hours kRetentionEvery{1};

// Applies retention at the start and then every hour, until destroyed.
class RetentionTimer {
 public:
  RetentionTimer(Core& core, const storage::RetentionPolicy& policy)
      : core_(core), policy_(policy), thread_([this] { Run(); }) {}
  ~RetentionTimer() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.NotifyAll();
    thread_.join();
  }
  RetentionTimer(const RetentionTimer&) = delete;
  RetentionTimer& operator=(const RetentionTimer&) = delete;

 private:
  void Run() EXCLUDES(mutex_) {
    for (;;) {
      const Status status = core_.engine().ApplyRetention(policy_, {core_.clock().NowNs()});
      if (!status) LogWarning("retention failed", {{"error", status.error().message()}});
      const std::int64_t due_ns = MonotonicNs() + std::chrono::nanoseconds(kRetentionEvery).count();
      const MutexLock lock(mutex_);
      while (!stopping_ && MonotonicNs() < due_ns) wake_.WaitFor(mutex_, kRetentionEvery);
      if (stopping_) return;
    }
  }

  Core& core_;
  const storage::RetentionPolicy policy_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

struct Addresses {
  std::string http;
  std::string otlp_grpc;
  std::string otlp_http;
};

Result<Addresses> ListenAll(serve::Server& server, const ServeConfig& config) {
  Addresses bound;
  const auto listen = [&](const std::string& address, serve::Port port,
                          std::string& target) -> Status {
    if (address.empty() || address == "off") return {};
    TRY_ASSIGN(target, server.Listen(address, port));
    return {};
  };
  TRY(listen(config.http_addr, serve::Port::kMain, bound.http));
  TRY(listen(config.otlp_grpc_addr, serve::Port::kOtlpGrpc, bound.otlp_grpc));
  TRY(listen(config.otlp_http_addr, serve::Port::kOtlpHttp, bound.otlp_http));
  return bound;
}

void PrintReady(const Addresses& bound) {
  JsonWriter json;
  json.BeginObject().Key("ready").Bool(true);
  if (!bound.http.empty()) json.Key("http").String(bound.http);
  if (!bound.otlp_grpc.empty()) json.Key("otlp_grpc").String(bound.otlp_grpc);
  if (!bound.otlp_http.empty()) json.Key("otlp_http").String(bound.otlp_http);
  json.EndObject();
  std::cout << json.text() << std::endl;
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

Status Serve(const ServeConfig& config, const sigset_t& signals) {
  TRY_ASSIGN(const std::unique_ptr<Core> core,
             Core::Open(config.storage, config.data_dir, config.retention));
  serve::Front front(serve::MakeRouter(core->api()), {.allowed_hosts = config.allowed_hosts});
  serve::GrpcServer grpc(serve::MakeGrpcHandler(core->api(), front.writers()));
  serve::ServerOptions options;
  options.tls_certificate = config.tls_cert;
  options.tls_key = config.tls_key;
  options.tls_only = config.tls_only;
  serve::Server server(
      options,
      [&front](serve::Request request, serve::Respond respond) {
        front.Handle(std::move(request), std::move(respond));
      },
      [&grpc](int descriptor) { grpc.Adopt(descriptor); });
  core->api().front = &front;
  core->api().server = &server;
  TRY_ASSIGN(const Addresses bound, ListenAll(server, config));
  TRY(grpc.Start());
  TRY(server.Start());
  {
    const RetentionTimer retention(*core, config.retention);
    PrintReady(bound);
    int signal = 0;
    sigwait(&signals, &signal);
    LogInfo("stopping", {{"signal", std::to_string(signal)}});
    server.Stop();
    grpc.Stop();
  }
  return core->engine().Flush();
}

}  // namespace

int ServeMain(const std::vector<std::string>& arguments) {
  const auto fail = [](const Error& error) {
    std::cerr << "hotspan serve: " << error.message() << std::endl;
    return 2;
  };
  const auto config = ParseServeConfig(arguments);
  if (!config) return fail(config.error());
  if (!config->help.empty()) {
    std::cout << config->help;
    return 0;
  }
  // Before any thread, so that all have the signals blocked and sigwait gets them.
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const Status status = Serve(*config, signals);
  if (!status) return fail(status.error());
  return 0;
}

}  // namespace hotspan::app
