// Answers to OTLP requests: partial success, and google.rpc.Status for errors, as protobuf or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/pipeline.h"

namespace hotspan::serve {

enum class OtlpSignal { kTraces, kProfiles };

// Export…ServiceResponse; empty but for rejected spans or profiles, or a message.
std::string OtlpResponseProto(OtlpSignal signal, const ingest::Receipt& receipt);
std::string OtlpResponseJson(OtlpSignal signal, const ingest::Receipt& receipt);

std::string RpcStatusProto(int code, std::string_view message);
std::string RpcStatusJson(int code, std::string_view message);

// What an error of the pipeline means to a sender.
struct Refusal {
  int http_status = 500;
  int rpc_code = 13;
  int retry_after_seconds = 0;  // 0: don't retry
};
Refusal RefusalOf(const Error& error);

}  // namespace hotspan::serve
