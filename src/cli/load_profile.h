// One profile message of bench-load: OTLP's current layout with dictionaries.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/ids.h"

namespace hotspan::cli {

class LoadRandom;

struct LoadLink {
  TraceId trace_id;
  SpanId span_id;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 1;
};

class LoadProfile {
 public:
  // Stacks are those of one of the services, about 2,000 of them in a message.
  LoadProfile(std::size_t service, std::int64_t now_ns);

  // Without a link the sample lies in the ten seconds before now.
  void AddSample(LoadRandom& random, const LoadLink* link);
  // The whole request.
  std::string Finish(const std::string& service_name);

 private:
  std::uint32_t StackFor(std::uint64_t number);
  std::uint32_t LinkFor(const LoadLink& link);

  const std::size_t service_;
  const std::int64_t now_ns_;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks_;
  std::string stack_table_;
  std::string link_table_;
  SpanId last_link_;
  std::uint32_t links_ = 0;
  std::string samples_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

// ResourceSpans' or ResourceProfiles' field 1 with the service's name.
std::string EncodeLoadResource(const std::string& service_name);

}  // namespace hotspan::cli
