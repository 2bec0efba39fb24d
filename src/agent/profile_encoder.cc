#include "agent/profile_encoder.h"

#include <algorithm>

#include "agent/otlp_fields.h"
#include "agent/random.h"
#include "agent/span_record.h"

namespace hotspan::agent {
namespace {

using protozero::pbf_writer;

void AddText(pbf_writer& writer, otlp::Tag tag, std::string_view text) {
  writer.add_string(tag, text.data(), text.size());
}

template <std::size_t kSize>
void AddBytes(pbf_writer& writer, otlp::Tag tag, const std::array<std::uint8_t, kSize>& bytes) {
  writer.add_bytes(tag, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void AddPacked(pbf_writer& writer, otlp::Tag tag, const std::vector<std::int32_t>& indices) {
  writer.add_packed_int32(tag, indices.begin(), indices.end());
}

// An element of a table, even an empty one, which a nested writer would leave out.
template <typename Fill>
void AddElement(pbf_writer& dictionary, otlp::Tag table, Fill&& fill) {
  std::string bytes;
  pbf_writer element(bytes);
  fill(element);
  dictionary.add_message(table, bytes);
}

void AddNone(pbf_writer& dictionary, otlp::Tag table) { dictionary.add_message(table, "", 0); }

}  // namespace

ProfileEncoder::ProfileEncoder(const ProfileChunk& chunk, const ThreadNames& thread_names)
    : chunk_(chunk), thread_names_(thread_names) {}

bool ProfileEncoder::IsKnownStack(std::uint32_t stack) const {
  return stack < chunk_.stacks.size() &&
         std::ranges::all_of(
             chunk_.stacks[stack],
             [&](std::uint32_t location) { return location < chunk_.locations.size(); });
}

std::map<ProfileEncoder::GroupKey, ProfileEncoder::Group> ProfileEncoder::GroupSamples(
    SampleKind kind) {
  std::map<GroupKey, Group> groups;
  for (const CollectedSample& sample : chunk_.samples) {
    if (sample.kind != kind || !IsKnownStack(sample.stack)) continue;
    Group& group = groups[{sample.stack, sample.thread_id, LinkIndex(sample)}];
    group.values.push_back(sample.value_ns);
    group.times.push_back(static_cast<std::uint64_t>(sample.time_ns));
  }
  return groups;
}

void ProfileEncoder::WriteProfiles(pbf_writer& scope_profiles, SampleKind kind) {
  const std::map<GroupKey, Group> groups = GroupSamples(kind);
  if (groups.empty()) return;
  switch (kind) {
    case SampleKind::kOnCpu:
      WriteProfile(scope_profiles, kind, groups, {"cpu", "nanoseconds"});
      break;
    case SampleKind::kOffCpu:
      WriteProfile(scope_profiles, kind, groups, {"off_cpu", "nanoseconds"});
      break;
    case SampleKind::kLock:
      WriteProfile(scope_profiles, kind, groups, {"contentions", "count", true});
      WriteProfile(scope_profiles, kind, groups, {"delay", "nanoseconds"});
      break;
  }
}

void ProfileEncoder::WriteProfile(pbf_writer& scope_profiles, SampleKind kind,
                                  const std::map<GroupKey, Group>& groups,
                                  const ValueType& value_type) {
  pbf_writer profile(scope_profiles, otlp::kPerScopeItems);
  const std::int32_t type = StringIndex(value_type.name);
  const std::int32_t unit = StringIndex(value_type.unit);
  {
    pbf_writer sample_type(profile, otlp::kProfileSampleType);
    sample_type.add_int32(otlp::kValueTypeType, type);
    sample_type.add_int32(otlp::kValueTypeUnit, unit);
  }
  auto start = static_cast<std::uint64_t>(chunk_.start_ns);
  auto end = static_cast<std::uint64_t>(std::max(chunk_.end_ns, chunk_.start_ns));
  for (const auto& [key, group] : groups) {
    WriteSample(profile, key, group, value_type.counts);
    // A sample may have been taken before the chunk began and drained after.
    const auto [oldest, newest] = std::ranges::minmax(group.times);
    start = std::min(start, oldest);
    end = std::max(end, newest + 1);
  }
  profile.add_fixed64(otlp::kProfileTime, start);
  profile.add_uint64(otlp::kProfileDuration, end - start);
  if (kind == SampleKind::kOnCpu && chunk_.period_ns > 0) {
    pbf_writer period_type(profile, otlp::kProfilePeriodType);
    period_type.add_int32(otlp::kValueTypeType, type);
    period_type.add_int32(otlp::kValueTypeUnit, unit);
    period_type.commit();
    profile.add_int64(otlp::kProfilePeriod, chunk_.period_ns);
  }
  std::array<std::uint8_t, 16> profile_id{};
  KernelRandom(profile_id.data(), profile_id.size());
  AddBytes(profile, otlp::kProfileId, profile_id);
  WriteProfileAttributes(profile, kind);
}

void ProfileEncoder::WriteSample(pbf_writer& profile, const GroupKey& key, const Group& group,
                                 bool counts) {
  const auto& [stack, thread_id, link] = key;
  pbf_writer sample(profile, otlp::kProfileSamples);
  sample.add_int32(otlp::kSampleStack, static_cast<std::int32_t>(stack) + 1);
  AddPacked(sample, otlp::kSampleAttributes, ThreadAttributes(thread_id));
  if (link != 0) sample.add_int32(otlp::kSampleLink, link);
  const std::vector<std::int64_t> ones(counts ? group.values.size() : 0, 1);
  const std::vector<std::int64_t>& values = counts ? ones : group.values;
  sample.add_packed_int64(otlp::kSampleValues, values.begin(), values.end());
  sample.add_packed_fixed64(otlp::kSampleTimestamps, group.times.begin(), group.times.end());
}

void ProfileEncoder::WriteProfileAttributes(pbf_writer& profile, SampleKind kind) {
  std::vector<std::int32_t> attributes;
  if (kind == SampleKind::kOnCpu && !chunk_.sampler.empty()) {
    attributes.push_back(TextAttribute("hotspan.sampler", chunk_.sampler));
  }
  if (chunk_.dropped > 0) {
    attributes.push_back(
        NumberAttribute("hotspan.dropped_samples", static_cast<std::int64_t>(chunk_.dropped)));
  }
  if (!attributes.empty()) AddPacked(profile, otlp::kProfileAttributes, attributes);
}

void ProfileEncoder::WriteDictionary(pbf_writer& dictionary) {
  WriteMappings(dictionary);
  WriteLocations(dictionary);
  for (const std::int32_t name : functions_) {
    AddElement(dictionary, otlp::kDictionaryFunctions, [&](pbf_writer& function) {
      if (name != 0) function.add_int32(otlp::kFunctionName, name);
    });
  }
  for (const CollectedSample* const sample : links_) {
    AddElement(dictionary, otlp::kDictionaryLinks, [&](pbf_writer& link) {
      if (sample == nullptr) return;
      AddBytes(link, otlp::kLinkTraceId, sample->trace_id);
      AddBytes(link, otlp::kLinkSpanId, sample->span_id);
    });
  }
  WriteAttributes(dictionary);
  WriteStacks(dictionary);
  // Last: the others add to it.
  for (const std::string& text : strings_) AddText(dictionary, otlp::kDictionaryStrings, text);
}

void ProfileEncoder::WriteMappings(pbf_writer& dictionary) {
  AddNone(dictionary, otlp::kDictionaryMappings);
  for (const Module& module : chunk_.modules) {
    pbf_writer mapping(dictionary, otlp::kDictionaryMappings);
    mapping.add_uint64(otlp::kMappingStart, module.start);
    mapping.add_uint64(otlp::kMappingLimit, module.limit);
    mapping.add_uint64(otlp::kMappingFileOffset, module.file_offset);
    mapping.add_int32(otlp::kMappingFilename, StringIndex(module.path));
    if (module.build_id.empty()) continue;
    AddPacked(mapping, otlp::kMappingAttributes,
              {TextAttribute("process.executable.build_id.gnu", module.build_id)});
  }
}

void ProfileEncoder::WriteLocations(pbf_writer& dictionary) {
  AddNone(dictionary, otlp::kDictionaryLocations);
  const std::vector<std::int32_t> native{TextAttribute("profile.frame.type", "native")};
  for (const CodeLocation& from : chunk_.locations) {
    AddElement(dictionary, otlp::kDictionaryLocations, [&](pbf_writer& location) {
      if (from.module < chunk_.modules.size()) {
        const Module& module = chunk_.modules[from.module];
        location.add_int32(otlp::kLocationMapping, static_cast<std::int32_t>(from.module) + 1);
        location.add_uint64(otlp::kLocationAddress,
                            from.file_offset - module.file_offset + module.start);
        AddPacked(location, otlp::kLocationAttributes, native);
      } else if (from.file_offset != 0) {
        location.add_uint64(otlp::kLocationAddress, from.file_offset);
      }
      if (from.function.empty()) return;
      pbf_writer line(location, otlp::kLocationLines);
      line.add_int32(otlp::kLineFunction, FunctionIndex(from.function));
    });
  }
}

void ProfileEncoder::WriteStacks(pbf_writer& dictionary) {
  AddNone(dictionary, otlp::kDictionaryStacks);
  std::vector<std::int32_t> locations;
  for (std::uint32_t i = 0; i < chunk_.stacks.size(); ++i) {
    locations.clear();
    // One that names no location of the chunk stays empty; no sample points to it.
    if (IsKnownStack(i)) {
      for (const std::uint32_t location : chunk_.stacks[i]) {
        locations.push_back(static_cast<std::int32_t>(location) + 1);
      }
    }
    AddElement(dictionary, otlp::kDictionaryStacks,
               [&](pbf_writer& stack) { AddPacked(stack, otlp::kStackLocations, locations); });
  }
}

void ProfileEncoder::WriteAttributes(pbf_writer& dictionary) {
  for (const Attribute& attribute : attributes_) {
    AddElement(dictionary, otlp::kDictionaryAttributes, [&](pbf_writer& out) {
      if (attribute.key == 0) return;
      out.add_int32(otlp::kAttributeKey, attribute.key);
      pbf_writer any(out, otlp::kAttributeValue);
      if (attribute.is_number) {
        any.add_int64(otlp::kAnyInt, attribute.number);
      } else {
        AddText(any, otlp::kAnyString, attribute.text);
      }
    });
  }
}

std::int32_t ProfileEncoder::StringIndex(std::string_view text) {
  std::string clean = CleanText(text);
  const auto [at, is_new] =
      string_index_.try_emplace(std::move(clean), static_cast<std::int32_t>(strings_.size()));
  if (is_new) strings_.push_back(at->first);
  return at->second;
}

std::int32_t ProfileEncoder::FunctionIndex(const std::string& name) {
  const auto [at, is_new] =
      function_index_.try_emplace(name, static_cast<std::int32_t>(functions_.size()));
  if (is_new) functions_.push_back(StringIndex(name));
  return at->second;
}

std::int32_t ProfileEncoder::LinkIndex(const CollectedSample& sample) {
  if (sample.trace_id == decltype(sample.trace_id){}) return 0;
  const auto [at, is_new] = link_index_.try_emplace(std::pair(sample.trace_id, sample.span_id),
                                                    static_cast<std::int32_t>(links_.size()));
  if (is_new) links_.push_back(&sample);
  return at->second;
}

std::int32_t ProfileEncoder::TextAttribute(std::string_view key, std::string_view text) {
  const std::int32_t key_index = StringIndex(key);
  const std::string clean = CleanText(text);
  const auto same = [&](const Attribute& a) {
    return a.key == key_index && !a.is_number && a.text == clean;
  };
  const auto at = std::ranges::find_if(attributes_, same);
  const auto index = static_cast<std::int32_t>(at - attributes_.begin());
  if (at == attributes_.end()) attributes_.push_back({key_index, clean, false, 0});
  return index;
}

std::int32_t ProfileEncoder::NumberAttribute(std::string_view key, std::int64_t number) {
  attributes_.push_back({StringIndex(key), {}, true, number});
  return static_cast<std::int32_t>(attributes_.size()) - 1;
}

const std::vector<std::int32_t>& ProfileEncoder::ThreadAttributes(std::uint32_t thread_id) {
  const auto [at, is_new] = thread_attributes_.try_emplace(thread_id);
  if (is_new) {
    at->second.push_back(NumberAttribute("thread.id", std::int64_t{thread_id}));
    const std::string name = thread_names_ ? thread_names_(thread_id) : std::string();
    if (!name.empty()) at->second.push_back(TextAttribute("thread.name", name));
  }
  return at->second;
}

}  // namespace hotspan::agent
