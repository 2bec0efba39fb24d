#include "serve/api/otlp_answer.h"

#include "base/bytes.h"
#include "base/json_writer.h"

namespace hotspan::serve {
namespace {

constexpr int kRetryAfterSeconds = 1;

void AppendNumber(std::string& out, unsigned field, std::uint64_t value) {
  AppendVarint(out, field << 3);
  AppendVarint(out, value);
}
void AppendText(std::string& out, unsigned field, std::string_view text) {
  AppendVarint(out, field << 3 | 2);
  AppendSized(out, text);
}

bool IsPartial(const ingest::Receipt& receipt) {
  return receipt.rejected > 0 || !receipt.message.empty();
}

}  // namespace

std::string OtlpResponseProto(OtlpSignal, const ingest::Receipt& receipt) {
  std::string out;
  if (!IsPartial(receipt)) return out;
  std::string partial;
  if (receipt.rejected > 0) AppendNumber(partial, 1, receipt.rejected);
  if (!receipt.message.empty()) AppendText(partial, 2, receipt.message);
  AppendText(out, 1, partial);
  return out;
}

std::string OtlpResponseJson(OtlpSignal signal, const ingest::Receipt& receipt) {
  JsonWriter json;
  json.BeginObject();
  if (IsPartial(receipt)) {
    json.Key("partialSuccess").BeginObject();
    json.Key(signal == OtlpSignal::kTraces ? "rejectedSpans" : "rejectedProfiles");
    json.DecimalString(static_cast<std::int64_t>(receipt.rejected));
    json.Key("errorMessage").String(receipt.message).EndObject();
  }
  json.EndObject();
  return json.Take();
}

std::string RpcStatusProto(int code, std::string_view message) {
  std::string out;
  AppendNumber(out, 1, static_cast<std::uint64_t>(code));
  AppendText(out, 2, message);
  return out;
}

std::string RpcStatusJson(int code, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Key("code").Number(code).Key("message").String(message).EndObject();
  return json.Take();
}

Refusal RefusalOf(const Error& error) {
  const int code = static_cast<int>(error.code());
  if (error.field() == "content-type" || error.field() == "content-encoding") {
    return {415, code, 0};
  }
  switch (error.code()) {
    case Code::kResourceExhausted:
      if (error.field() == "in-flight") return {429, code, kRetryAfterSeconds};
      return {413, code, 0};
    case Code::kInvalidArgument:
      return {400, code, 0};
    case Code::kOutOfRange:
      return {400, static_cast<int>(Code::kInvalidArgument), 0};
    case Code::kUnimplemented:
      return {404, code, 0};
    case Code::kUnauthenticated:
      return {401, code, 0};
    case Code::kPermissionDenied:
      return {403, code, 0};
    case Code::kCancelled:
    case Code::kDeadlineExceeded:
    case Code::kAborted:
    case Code::kUnavailable:
      return {503, code, kRetryAfterSeconds};
    default:
      return {500, static_cast<int>(Code::kInternal), 0};
  }
}

}  // namespace hotspan::serve
