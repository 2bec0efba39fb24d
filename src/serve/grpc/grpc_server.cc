#include "serve/grpc/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace hotspan::serve {
namespace {

using grpc::experimental::ExternalConnectionAcceptor;

// The slices of a message lie scattered: one copy makes them contiguous for the decoders.
std::string Contiguous(grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// The flag that a message is compressed does not reach generic services, but no protobuf message of
// ours begins like this: as tags the bytes would be a wire type that doesn't exist (gzip), or field
// 15 of messages with two fields (zlib).
std::string_view CompressionOf(std::string_view message) {
  if (message.size() < 2) return {};
  const auto first = static_cast<unsigned char>(message[0]);
  const auto second = static_cast<unsigned char>(message[1]);
  if (first == 0x1f && second == 0x8b) return "gzip";
  if (first == 0x78 && (first * 256u + second) % 31 == 0) return "deflate";
  return {};
}

void AppendField(std::string& out, unsigned field, std::string_view bytes) {
  AppendVarint(out, field << 3 | 2);
  AppendSized(out, bytes);
}

// google.rpc.Status with a RetryInfo, for the trailer that retrying clients read.
std::string RetryDetails(const GrpcAnswer& answer) {
  std::string delay;
  AppendVarint(delay, 1 << 3);
  AppendVarint(delay, static_cast<std::uint64_t>(answer.retry_after_seconds));
  std::string info;
  AppendField(info, 1, delay);
  std::string any;
  AppendField(any, 1, "type.googleapis.com/google.rpc.RetryInfo");
  AppendField(any, 2, info);
  std::string status;
  AppendVarint(status, 1 << 3);
  AppendVarint(status, static_cast<std::uint64_t>(answer.code));
  AppendField(status, 2, answer.error);
  AppendField(status, 3, any);
  return status;
}

class Reactor final : public grpc::ServerGenericBidiReactor {
 public:
  Reactor(std::string method, const GrpcHandler& handler)
      : method_(std::move(method)), handler_(handler) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"));
      return;
    }
    GrpcCall call;
    call.method = std::move(method_);
    call.message = Contiguous(request_);
    request_.Clear();
    call.encoding = CompressionOf(call.message);
    handler_(std::move(call), [this](GrpcAnswer answer) { Answer(std::move(answer)); });
  }

  // gRPC's protocol: the reactor owns itself until here.
  void OnDone() override { delete this; }

 private:
  void Answer(GrpcAnswer answer) {
    if (answer.code != 0) {
      const std::string details =
          answer.retry_after_seconds > 0 ? RetryDetails(answer) : std::string();
      Finish(grpc::Status(static_cast<grpc::StatusCode>(answer.code), answer.error, details));
      return;
    }
    const grpc::Slice slice(answer.message);
    response_ = grpc::ByteBuffer(&slice, 1);
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  }

  std::string method_;
  const GrpcHandler& handler_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(GrpcHandler handler) : handler_(std::move(handler)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Reactor(context->method(), handler_);
  }

 private:
  const GrpcHandler handler_;
};

}  // namespace

struct GrpcServer::State {
  State(GrpcHandler handler, std::size_t max)
      : service(std::move(handler)), message_bytes_max(max) {}

  Service service;
  const std::size_t message_bytes_max;
  std::unique_ptr<ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(GrpcHandler handler, std::size_t message_bytes_max)
    : state_(std::make_unique<State>(std::move(handler), message_bytes_max)) {}

GrpcServer::~GrpcServer() { Stop(); }

Status GrpcServer::Start() {
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&state_->service);
  builder.SetMaxReceiveMessageSize(static_cast<int>(state_->message_bytes_max));
  // grpc-core would inflate without looking at the limit first; the pipeline inflates within ours.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 64);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 600'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.SetResourceQuota(grpc::ResourceQuota("hotspan").Resize(limits::kIngestInFlightBytesMax));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  state_->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, grpc::InsecureServerCredentials());
  state_->server = builder.BuildAndStart();
  if (state_->server == nullptr) return Fail(Code::kInternal, "the gRPC server did not start");
  return {};
}

void GrpcServer::Adopt(int descriptor) {
  if (state_->acceptor == nullptr) {
    ::close(descriptor);
    return;
  }
  ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.fd = descriptor;
  state_->acceptor->HandleNewConnection(&parameters);
}

void GrpcServer::Stop() {
  if (state_->server == nullptr) return;
  state_->server->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_seconds(5, GPR_TIMESPAN)));
  state_->server->Wait();
  state_->server.reset();
}

}  // namespace hotspan::serve
