#include "wire/otlp/profile_tables.h"

#include <algorithm>
#include <string>

#include "base/limits.h"
#include "wire/otlp/attribute_packer.h"
#include "wire/protobuf.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

constexpr std::string_view kBuildIdKey = "process.executable.build_id.gnu";

}  // namespace

Status ProfileTables::Collect(std::string_view dictionary) {
  for (Message message(dictionary); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        mappings_.push_back(View(message));
        break;
      case Bytes(2):
        locations_.push_back(View(message));
        break;
      case Bytes(3):
        functions_.push_back(View(message));
        break;
      case Bytes(4):
        links_.push_back(View(message));
        break;
      case Bytes(5):
        strings_.push_back(View(message));
        break;
      case Bytes(6):
        ReadAttribute(View(message));
        break;
      case Bytes(7):
        stacks_.push_back(View(message));
        break;
      default:
        message.skip();
    }
  }
  const std::size_t sizes[] = {mappings_.size(), locations_.size(), functions_.size(),
                               links_.size(),    strings_.size(),   attributes_.size(),
                               stacks_.size()};
  if (*std::max_element(std::begin(sizes), std::end(sizes)) > limits::kProfileTableEntriesMax) {
    return Fail(Code::kResourceExhausted, "a table has more entries than the limit of " +
                                              std::to_string(limits::kProfileTableEntriesMax));
  }
  return {};
}

void ProfileTables::ReadAttribute(std::string_view bytes) {
  Attribute attribute;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        attribute.key_index = message.get_uint64();
        break;
      case Bytes(1):
        spells_keys_ = true;
        message.skip();
        break;
      case Bytes(2):
        attribute.value = View(message);
        break;
      default:
        message.skip();
    }
  }
  attributes_.push_back(attribute);
}

Status ProfileTables::Build() {
  slices_.assign(strings_.size(), Slice{UINT32_MAX, 0});
  for (Attribute& attribute : attributes_) {
    attribute.key = StringAt(static_cast<std::int64_t>(attribute.key_index));
  }
  batch_.functions.reserve(functions_.size());
  batch_.locations.reserve(locations_.size());
  batch_.lines.reserve(locations_.size());
  batch_.stacks.reserve(stacks_.size());
  for (const std::string_view message : functions_) BuildFunction(message);
  for (const std::string_view message : mappings_) BuildMapping(message);
  for (const std::string_view message : locations_) BuildLocation(message);
  TRY(builder_.CheckSize());
  for (const std::string_view message : stacks_) {
    BuildStack(message);
    if (batch_.stack_locations.size() > limits::kStackLocationsPerMessageMax) break;
  }
  for (const std::string_view message : links_) BuildLink(message);
  return builder_.CheckSize();
}

Slice ProfileTables::SliceOf(std::int64_t index, bool& bad) {
  if (index < 0 || static_cast<std::size_t>(index) >= strings_.size()) {
    // Without any string at all, index 0 still says "none".
    bad = bad || index != 0;
    return {};
  }
  const auto at = static_cast<std::size_t>(index);
  if (slices_[at].offset == UINT32_MAX) {
    slices_[at] = batch_.Add(CleanText(strings_[at], limits::kNameBytesMax, scratch_, counts_));
  }
  return slices_[at];
}

void ProfileTables::BuildFunction(std::string_view bytes) {
  FunctionRow row;
  bool bad = false;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        row.name = SliceOf(message.get_int32(), bad);
        break;
      case Varint(2):
        row.system_name = SliceOf(message.get_int32(), bad);
        break;
      case Varint(3):
        row.file = SliceOf(message.get_int32(), bad);
        break;
      case Varint(4):
        row.start_line = message.get_int64();
        break;
      default:
        message.skip();
    }
  }
  if (row.name.size == 0) row.name = row.system_name;
  batch_.functions.push_back(row);
  function_is_bad_.push_back(bad ? 1 : 0);
}

Slice ProfileTables::FindBuildId(std::uint64_t index, bool& bad) {
  if (index >= attributes_.size()) {
    bad = true;
    return {};
  }
  const Attribute& attribute = attributes_[index];
  if (attribute.key != kBuildIdKey) return {};
  const std::string_view text = AttributePacker(counts_, &strings_).TextOf(attribute.value);
  return IsHexBuildId(text) ? batch_.Add(text) : Slice{};
}

void ProfileTables::BuildMapping(std::string_view bytes) {
  MappingRow row;
  bool bad = false;
  const auto take = [&](std::uint64_t index) {
    const Slice build_id = FindBuildId(index, bad);
    if (build_id.size > 0) row.build_id = build_id;
  };
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        row.start = message.get_uint64();
        break;
      case Varint(2):
        row.limit = message.get_uint64();
        break;
      case Varint(3):
        row.offset = message.get_uint64();
        break;
      case Varint(4):
        row.file = SliceOf(message.get_int32(), bad);
        break;
      case Varint(5):
        take(message.get_uint64());
        break;
      case Bytes(5):
        ForEachPacked(View(message), take);
        break;
      default:
        message.skip();
    }
  }
  batch_.mappings.push_back(row);
  mapping_is_bad_.push_back(bad ? 1 : 0);
}

// Appends a line; false if it names a function out of the table. Lines without function are left
// out.
bool ProfileTables::BuildLine(std::string_view bytes) {
  std::int64_t function = 0;
  std::int64_t number = 0;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        function = message.get_int32();
        break;
      case Varint(2):
        number = message.get_int64();
        break;
      default:
        message.skip();
    }
  }
  if (function < 0 || (function > 0 && static_cast<std::size_t>(function) >= functions_.size())) {
    return false;
  }
  const auto index = static_cast<std::uint32_t>(function);
  if (index == 0) return true;
  if (function_is_bad_[index] != 0) return false;
  if (batch_.functions[index].name.size == 0) return true;
  LineRow row;
  row.function = index;
  if (number > 0 && number <= INT32_MAX) row.line = static_cast<std::int32_t>(number);
  batch_.lines.push_back(row);
  return true;
}

void ProfileTables::BuildLocation(std::string_view bytes) {
  LocationRow row;
  row.first_line = static_cast<std::uint32_t>(batch_.lines.size());
  bool bad = false;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1): {
        const std::int64_t index = message.get_int32();
        if (index == 0) break;
        if (index < 0 || static_cast<std::size_t>(index) >= batch_.mappings.size()) {
          bad = true;
        } else {
          row.mapping = static_cast<std::uint32_t>(index);
          bad = bad || mapping_is_bad_[row.mapping] != 0;
        }
        break;
      }
      case Varint(2):
        row.address = message.get_uint64();
        break;
      case Bytes(3):
        bad = !BuildLine(View(message)) || bad;
        break;
      default:
        message.skip();
    }
  }
  row.line_count = static_cast<std::uint32_t>(batch_.lines.size()) - row.first_line;
  if (row.mapping != kNoMapping) {
    row.address = ToFileOffset(batch_.mappings[row.mapping], row.address);
  }
  batch_.locations.push_back(row);
  location_is_bad_.push_back(bad ? 1 : 0);
}

void ProfileTables::BuildStack(std::string_view bytes) {
  bool bad = false;
  builder_.BeginStack();
  const auto push = [&](std::uint64_t index) {
    if (index >= locations_.size() || location_is_bad_[index] != 0) {
      bad = true;
    } else {
      builder_.PushLocation(static_cast<std::uint32_t>(index));
    }
  };
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        push(message.get_uint64());
        break;
      case Bytes(1):
        ForEachPacked(View(message), push);
        break;
      default:
        message.skip();
    }
  }
  builder_.EndStack();
  stack_is_bad_.push_back(bad ? 1 : 0);
}

void ProfileTables::BuildLink(std::string_view bytes) {
  std::string_view trace_id, span_id;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        trace_id = View(message);
        break;
      case Bytes(2):
        span_id = View(message);
        break;
      default:
        message.skip();
    }
  }
  if ((!trace_id.empty() && trace_id.size() != 16) || (!span_id.empty() && span_id.size() != 8)) {
    link_rows_.push_back(kBadLink);
    return;
  }
  LinkRow row;
  if (!trace_id.empty()) row.trace_id = TraceId::FromBytes(trace_id);
  if (!span_id.empty()) row.span_id = SpanId::FromBytes(span_id);
  link_rows_.push_back(builder_.Link(row));
}

}  // namespace hotspan::wire
