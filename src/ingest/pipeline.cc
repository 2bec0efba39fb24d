#include "ingest/pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "ingest/pyroscope.h"
#include "wire/inflate/inflate.h"
#include "wire/otlp/profile_decoder.h"
#include "wire/otlp/trace_decoder.h"

namespace hotspan::ingest {

struct Pipeline::Request {
  Signal signal = Signal::kTraces;
  const Body& body;
  TimeNs received;
  std::size_t reserved = 0;
  std::size_t inflated = 0;
  std::uint64_t samples = 0;
  wire::DecodeCounts counts = {};
  wire::ProfileLayout layout = wire::ProfileLayout::kNone;
  bool storage_failed = false;
};

namespace {

constexpr std::string_view kContentTypeField = "content-type";
constexpr std::string_view kInFlightField = "in-flight";

// The media type without parameters, in lower case.
std::string MediaType(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  for (char& c : type) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return type;
}

Result<wire::Encoding> EncodingOf(std::string_view content_type) {
  const std::string type = MediaType(content_type);
  if (type == "application/x-protobuf" || type == "application/protobuf" ||
      type == "application/grpc" || type == "application/grpc+proto") {
    return wire::Encoding::kProtobuf;
  }
  if (type == "application/json") return wire::Encoding::kJson;
  return Fail(Error(Code::kInvalidArgument,
                    "content type is not supported; send application/x-protobuf or "
                    "application/json")
                  .Field(std::string(kContentTypeField)));
}

Refusal RefusalOf(const Error& error, bool storage_failed) {
  if (storage_failed) return Refusal::kStorage;
  if (error.field() == kContentTypeField || error.field() == "content-encoding") {
    return Refusal::kContentType;
  }
  if (error.field() == kInFlightField) return Refusal::kOverload;
  if (error.code() == Code::kResourceExhausted) return Refusal::kTooLarge;
  return Refusal::kMalformed;
}

// Equal requests have equal ids; the inflated body counts, so that a retry may be compressed anew.
Hash128 BatchId(const Body& body, std::string_view inflated) {
  std::string key;
  AppendRaw(key, body.tenant);
  AppendSized(key, body.path);
  AppendSized(key, body.query);
  AppendSized(key, MediaType(body.content_type));
  const Hash128 content = Hash128Of(inflated);
  AppendRaw(key, content.low);
  AppendRaw(key, content.high);
  return Hash128Of(key);
}

}  // namespace

Result<Receipt> Pipeline::Traces(const Body& body) {
  return Run(Signal::kTraces, body, &Pipeline::TakeTraces);
}
Result<Receipt> Pipeline::Profiles(const Body& body) {
  return Run(Signal::kProfiles, body, &Pipeline::TakeProfiles);
}
Result<Receipt> Pipeline::Pyroscope(const Body& body) {
  return Run(Signal::kPyroscope, body, &Pipeline::TakePyroscope);
}

IngestStats Pipeline::Stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

Result<Receipt> Pipeline::Run(Signal signal, const Body& body,
                              Result<Receipt> (Pipeline::*take)(Request& request)) {
  Request request{.signal = signal, .body = body, .received = {clock_.NowNs()}};
  const auto admitted = Reserve(request, body.bytes.size());
  Result<Receipt> result = admitted ? (this->*take)(request) : Fail(admitted.error());
  Finish(request, result);
  return result;
}

Status Pipeline::Reserve(Request& request, std::size_t bytes) {
  const MutexLock lock(mutex_);
  if (stats_.in_flight_bytes + bytes > limits::kIngestInFlightBytesMax) {
    return Fail(
        Error(Code::kResourceExhausted, "requests being decoded hold the limit of " +
                                            std::to_string(limits::kIngestInFlightBytesMax) +
                                            " bytes; retry in a second")
            .Field(std::string(kInFlightField)));
  }
  stats_.in_flight_bytes += bytes;
  stats_.in_flight_bytes_max = std::max(stats_.in_flight_bytes_max, stats_.in_flight_bytes);
  request.reserved += bytes;
  return {};
}

void Pipeline::Finish(const Request& request, const Result<Receipt>& result) {
  const MutexLock lock(mutex_);
  stats_.in_flight_bytes -= request.reserved;
  SignalStats& stats = stats_.signals[static_cast<std::size_t>(request.signal)];
  ++stats.requests;
  stats.wire_bytes += request.body.bytes.size();
  stats.inflated_bytes += request.inflated;
  if (!result) {
    const Refusal refusal = RefusalOf(result.error(), request.storage_failed);
    ++stats.refused[static_cast<std::size_t>(refusal)];
    return;
  }
  if (result->duplicate) {
    ++stats.duplicates;
    return;
  }
  stats.accepted += result->accepted;
  stats.rejected += result->rejected;
  stats.samples += request.samples;
  stats.truncated_values += request.counts.truncated;
  stats.invalid_utf8 += request.counts.invalid_utf8;
  stats.dropped_values += request.counts.dropped;
  if (request.signal != Signal::kTraces) {
    ++stats_.layouts[static_cast<std::size_t>(request.layout)];
  }
}

Result<std::string> Pipeline::InflateBody(Request& request) {
  const Body& body = request.body;
  if (body.bytes.size() > limits::kBodyBytesMax) {
    return Fail(Code::kResourceExhausted, "body is larger than the limit of " +
                                              std::to_string(limits::kBodyBytesMax) + " bytes");
  }
  TRY_ASSIGN(std::string inflated,
             wire::Inflate(body.bytes, body.content_encoding, limits::kMessageBytesMax));
  request.inflated = inflated.size();
  TRY(Reserve(request, inflated.size()));
  return inflated;
}

Result<Receipt> Pipeline::TakeTraces(Request& request) {
  TRY_ASSIGN(const wire::Encoding encoding, EncodingOf(request.body.content_type));
  TRY_ASSIGN(const std::string body, InflateBody(request));
  TRY_ASSIGN(wire::TraceDecode decoded, wire::DecodeTraces(body, encoding));
  request.counts = decoded.counts;
  Receipt receipt{.accepted = decoded.batch.spans.size(),
                  .rejected = decoded.rejected,
                  .message = std::move(decoded.message)};
  if (decoded.batch.spans.empty()) return receipt;
  storage::WriteBatch batch;
  batch.batch_id = BatchId(request.body, body);
  batch.spans = std::make_shared<const SpanBatch>(std::move(decoded.batch));
  return Store(request, std::move(batch), std::move(receipt));
}

Result<Receipt> Pipeline::TakeProfiles(Request& request) {
  if (request.body.path.find("v1experimental") != std::string_view::npos) {
    return Fail(Code::kInvalidArgument,
                "profiles of v1experimental are not supported; send OTLP 1.9 or newer");
  }
  TRY_ASSIGN(const wire::Encoding encoding, EncodingOf(request.body.content_type));
  TRY_ASSIGN(const std::string body, InflateBody(request));
  TRY_ASSIGN(wire::ProfileDecode decoded, wire::DecodeProfiles(body, encoding, request.received));
  return StoreSamples(request, std::move(decoded), body, false);
}

Result<Receipt> Pipeline::TakePyroscope(Request& request) {
  TRY_ASSIGN(const IngestQuery query, ParseIngestQuery(request.body.query, request.received));
  TRY_ASSIGN(const std::string body, InflateBody(request));
  TRY_ASSIGN(wire::ProfileDecode decoded,
             DecodeIngestBody(query, request.body.content_type, body, request.received));
  return StoreSamples(request, std::move(decoded), body, query.from.has_value());
}

Result<Receipt> Pipeline::StoreSamples(Request& request, wire::ProfileDecode decoded,
                                       std::string_view body, bool is_dated) {
  request.counts = decoded.counts;
  request.layout = decoded.layout;
  request.samples = decoded.batch.samples.size();
  Receipt receipt{.accepted = decoded.profiles,
                  .rejected = decoded.rejected,
                  .message = std::move(decoded.message)};
  if (decoded.batch.samples.empty()) return receipt;
  storage::WriteBatch batch;
  // Equal bodies that don't say when they were taken may well be two profiles.
  if (is_dated || decoded.has_time || decoded.batch.timed) {
    batch.batch_id = BatchId(request.body, body);
  }
  batch.samples = std::make_shared<const SampleBatch>(std::move(decoded.batch));
  return Store(request, std::move(batch), std::move(receipt));
}

Result<Receipt> Pipeline::Store(Request& request, storage::WriteBatch batch, Receipt receipt) {
  batch.tenant = request.body.tenant;
  batch.received = request.received;
  auto written = engine_.Write(std::move(batch));
  if (!written) {
    request.storage_failed = true;
    return Fail(std::move(written.error()));
  }
  receipt.duplicate = written->duplicate;
  return receipt;
}

}  // namespace hotspan::ingest
