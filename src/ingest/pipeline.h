// From the body of a request to acknowledged data: inflate, decode, refuse what breaks a limit,
// write.
//
// A Receipt is given once the engine has the data durable. Errors whose field is "content-type" are
// about the media type (HTTP 415), kResourceExhausted with the field "in-flight" asks for a retry.
// Threads: all methods may be called from any thread at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "ingest/stats.h"
#include "model/ids.h"
#include "storage/engine.h"
#include "wire/decode.h"

namespace hotspan::ingest {

struct Body {
  TenantId tenant = TenantId::kDefault;
  std::string_view path;
  std::string_view query;  // as in the URL, without '?'
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view bytes;
};

struct Receipt {
  std::uint64_t accepted = 0;  // spans, or profiles
  std::uint64_t rejected = 0;
  std::string message;     // why something was rejected, for the partial success
  bool duplicate = false;  // the same request was acknowledged before
};

class Pipeline {
 public:
  Pipeline(storage::Engine& engine, const Clock& clock) : engine_(engine), clock_(clock) {}

  // OTLP, protobuf or JSON by content type.
  Result<Receipt> Traces(const Body& body);
  Result<Receipt> Profiles(const Body& body);
  // Pyroscope's /ingest: pprof (raw or multipart) or folded stacks, told apart by content.
  Result<Receipt> Pyroscope(const Body& body);

  IngestStats Stats() const;

 private:
  struct Request;  // a body on its way through

  Result<Receipt> Run(Signal signal, const Body& body,
                      Result<Receipt> (Pipeline::*take)(Request& request));
  Result<Receipt> TakeTraces(Request& request);
  Result<Receipt> TakeProfiles(Request& request);
  Result<Receipt> TakePyroscope(Request& request);
  Result<std::string> InflateBody(Request& request);
  Result<Receipt> StoreSamples(Request& request, wire::ProfileDecode decoded, std::string_view body,
                               bool is_dated);
  Result<Receipt> Store(Request& request, storage::WriteBatch batch, Receipt receipt);
  // Takes bytes into account while they are in memory, or asks for a retry.
  Status Reserve(Request& request, std::size_t bytes);
  void Finish(const Request& request, const Result<Receipt>& result);

  storage::Engine& engine_;
  const Clock& clock_;
  mutable Mutex mutex_;
  IngestStats stats_ GUARDED_BY(mutex_);
};

}  // namespace hotspan::ingest
