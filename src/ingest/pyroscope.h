// Requests to Pyroscope's /ingest: whose profile it is and when it was taken, from the query; what
// it is, from its content.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/time.h"
#include "wire/decode.h"

namespace hotspan::ingest {

struct IngestQuery {
  std::string service;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<TimeNs> from;
  std::optional<TimeNs> until;
  std::int64_t sample_rate = 100;
  std::string spy;
};

// `query` is the URL's, without '?'. Errors name the parameter at fault in their field.
Result<IngestQuery> ParseIngestQuery(std::string_view query, TimeNs now);

// Decodes a body (inflated as to its Content-Encoding) as pprof or folded stacks.
Result<wire::ProfileDecode> DecodeIngestBody(const IngestQuery& query,
                                             std::string_view content_type, std::string_view body,
                                             TimeNs now);

// %XX and '+' undone.
std::string UnescapeUrl(std::string_view text);

}  // namespace hotspan::ingest
