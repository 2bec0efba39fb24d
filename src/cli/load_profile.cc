#include "cli/load_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "cli/load_data.h"

namespace hotspan::cli {
namespace {

constexpr std::int64_t kPeriodNs = 10'309'278;  // 97 Hz
constexpr std::uint64_t kFunctions = 800;
constexpr std::uint64_t kStacksPerService = 20'000;
constexpr std::uint64_t kStacksPerMessage = 2'000;
constexpr std::uint64_t kDepth = 25;

// The same function at the same depth of the same stack, always.
std::uint64_t FunctionAt(std::uint64_t stack, std::uint64_t depth) {
  // Stacks share their roots: the nearer to the leaf, the more of the number counts.
  const std::uint64_t part = depth < 8 ? 0 : depth < 16 ? stack / 100 : stack;
  LoadRandom random(part * 1000 + depth + 1);
  return random.Below(kFunctions);
}

// String table: "", names of types, then per function its name; one file for each ten.
std::string StringTable(std::size_t service) {
  std::string table;
  protozero::pbf_writer writer(table);
  for (const char* text : {"", "cpu", "nanoseconds"}) writer.add_string(5, text);
  for (std::uint64_t f = 0; f < kFunctions; ++f) {
    writer.add_string(5, fmt::format("shop::service{}::Function{}", service, f));
  }
  for (std::uint64_t f = 0; f < kFunctions / 10; ++f) {
    writer.add_string(5, fmt::format("src/service{}/file{}.cc", service, f));
  }
  return table;
}

std::string CodeTables() {
  std::string tables;
  protozero::pbf_writer writer(tables);
  writer.add_message(1, std::string());
  writer.add_message(2, std::string());
  writer.add_message(3, std::string());
  for (std::uint64_t f = 0; f < kFunctions; ++f) {
    std::string line;
    protozero::pbf_writer line_writer(line);
    line_writer.add_int32(1, static_cast<std::int32_t>(f + 1));
    line_writer.add_int64(2, static_cast<std::int64_t>(f % 10 * 50 + 7));
    std::string location;
    protozero::pbf_writer(location).add_message(3, line);
    writer.add_message(2, location);
    std::string function;
    protozero::pbf_writer function_writer(function);
    function_writer.add_int32(1, static_cast<std::int32_t>(3 + f));
    function_writer.add_int32(3, static_cast<std::int32_t>(3 + kFunctions + f / 10));
    function_writer.add_int64(4, static_cast<std::int64_t>(f % 10 * 50 + 1));
    writer.add_message(3, function);
  }
  return tables;
}

}  // namespace

std::string EncodeLoadResource(const std::string& service_name) {
  std::string value;
  protozero::pbf_writer(value).add_string(1, service_name);
  std::string pair;
  protozero::pbf_writer pair_writer(pair);
  pair_writer.add_string(1, "service.name");
  pair_writer.add_message(2, value);
  std::string resource;
  protozero::pbf_writer(resource).add_message(1, pair);
  std::string out;
  protozero::pbf_writer(out).add_message(1, resource);
  return out;
}

LoadProfile::LoadProfile(std::size_t service, std::int64_t now_ns)
    : service_(service), now_ns_(now_ns), first_ns_(INT64_MAX), last_ns_(INT64_MIN) {}

std::uint32_t LoadProfile::StackFor(std::uint64_t number) {
  const auto [entry, added] =
      stacks_.try_emplace(number, static_cast<std::uint32_t>(stacks_.size() + 1));
  if (!added) return entry->second;
  std::vector<std::int32_t> locations;
  const std::uint64_t depth = kDepth - 5 + number % 11;
  for (std::uint64_t at = depth; at > 0; --at) {
    locations.push_back(static_cast<std::int32_t>(FunctionAt(number, at - 1) + 1));
  }
  std::string stack;
  protozero::pbf_writer(stack).add_packed_int32(1, locations.begin(), locations.end());
  protozero::pbf_writer(stack_table_).add_message(7, stack);
  return entry->second;
}

std::uint32_t LoadProfile::LinkFor(const LoadLink& link) {
  if (links_ > 0 && last_link_ == link.span_id) return links_;
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_bytes(1, link.trace_id.AsBytes().data(), 16);
  writer.add_bytes(2, link.span_id.AsBytes().data(), 8);
  protozero::pbf_writer(link_table_).add_message(4, bytes);
  last_link_ = link.span_id;
  return ++links_;
}

void LoadProfile::AddSample(LoadRandom& random, const LoadLink* link) {
  // A few stacks are hot: the product of two draws leans to small numbers.
  const std::uint64_t base = static_cast<std::uint64_t>(now_ns_ / 1'000'000'000) * 7;
  const std::uint64_t lean =
      random.Below(kStacksPerMessage) * random.Below(kStacksPerMessage) / kStacksPerMessage;
  const std::uint64_t number = (random.Below(4) == 0 ? base + lean : lean) % kStacksPerService;
  const std::int64_t within = link != nullptr ? link->duration_ns : 10'000'000'000;
  const std::int64_t begin = link != nullptr ? link->start_ns : now_ns_ - within;
  const std::int64_t time =
      begin + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(within)));
  first_ns_ = std::min(first_ns_, time);
  last_ns_ = std::max(last_ns_, time);
  std::string sample;
  protozero::pbf_writer writer(sample);
  writer.add_int32(1, static_cast<std::int32_t>(StackFor(number)));
  if (link != nullptr) writer.add_int32(3, static_cast<std::int32_t>(LinkFor(*link)));
  const std::int64_t values[] = {kPeriodNs};
  writer.add_packed_int64(4, std::begin(values), std::end(values));
  const std::uint64_t times[] = {static_cast<std::uint64_t>(time)};
  writer.add_packed_fixed64(5, std::begin(times), std::end(times));
  protozero::pbf_writer(samples_).add_message(2, sample);
}

std::string LoadProfile::Finish(const std::string& service_name) {
  std::string cpu;
  protozero::pbf_writer type_writer(cpu);
  type_writer.add_int32(1, 1);
  type_writer.add_int32(2, 2);
  std::string profile;
  protozero::pbf_writer(profile).add_message(1, cpu);
  profile += samples_;
  {
    protozero::pbf_writer writer(profile);
    writer.add_fixed64(3, static_cast<std::uint64_t>(first_ns_));
    writer.add_uint64(4, static_cast<std::uint64_t>(last_ns_ - first_ns_ + 1));
    writer.add_message(5, cpu);
    writer.add_int64(6, kPeriodNs);
  }
  std::string scope_profiles;
  protozero::pbf_writer(scope_profiles).add_message(2, profile);
  std::string resource_profiles = EncodeLoadResource(service_name);
  protozero::pbf_writer(resource_profiles).add_message(2, scope_profiles);

  std::string dictionary = CodeTables();
  protozero::pbf_writer(dictionary).add_message(4, std::string());
  dictionary += link_table_ + StringTable(service_);
  protozero::pbf_writer(dictionary).add_message(6, std::string());
  protozero::pbf_writer(dictionary).add_message(7, std::string());
  dictionary += stack_table_;
  std::string request;
  protozero::pbf_writer writer(request);
  writer.add_message(1, resource_profiles);
  writer.add_message(2, dictionary);
  return request;
}

}  // namespace hotspan::cli
