#include "model/sample.h"

#include "base/bytes.h"
#include "base/limits.h"

namespace hotspan {
namespace {

bool Inside(Slice slice, std::size_t size) {
  return static_cast<std::size_t>(slice.offset) + slice.size <= size;
}

template <typename Row>
bool ResourcesInside(const std::vector<Row>& resources, std::size_t size) {
  for (const auto& row : resources) {
    if (!Inside(row.service_name, size) || !Inside(row.attributes, size) ||
        !Inside(row.schema_url, size)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool HasAddress(const SampleBatch& batch, const LocationRow& location) {
  return location.line_count == 0 ||
         (location.mapping != kNoMapping && batch.mappings[location.mapping].build_id.size > 0);
}

Hash128 LocationIdentity(const SampleBatch& batch, const LocationRow& location) {
  thread_local std::string text;
  text.clear();
  for (std::uint32_t i = 0; i < location.line_count; ++i) {
    const LineRow& line = batch.lines[location.first_line + i];
    const FunctionRow& function = batch.functions[line.function];
    AppendSized(text, batch.Text(function.name));
    AppendSized(text, batch.Text(function.file));
    AppendRaw(text, line.line);
  }
  if (location.mapping != kNoMapping) {
    const MappingRow& mapping = batch.mappings[location.mapping];
    text += '\xff';
    AppendSized(text, batch.Text(mapping.build_id));
    AppendSized(text, batch.Text(mapping.file));
  }
  if (HasAddress(batch, location)) {
    text += '\xfe';
    AppendRaw(text, location.address);
  }
  return Hash128Of(text);
}

Hash128 StackIdentity(const std::vector<Hash128>& location_identities, const SampleBatch& batch,
                      const StackRow& stack, std::vector<Hash128>& scratch) {
  scratch.resize(stack.location_count);
  for (std::uint32_t i = 0; i < stack.location_count; ++i) {
    scratch[i] = location_identities[batch.stack_locations[stack.first_location + i]];
  }
  return Hash128Of(BytesOfArray(scratch.data(), scratch.size()));
}

std::string_view FindDamage(const SampleBatch& batch) {
  const std::size_t arena = batch.arena.size();
  if (arena > UINT32_MAX) return "arena";
  if (!ResourcesInside(batch.resources, arena)) return "resource";
  for (const auto& row : batch.functions) {
    if (!Inside(row.name, arena) || !Inside(row.system_name, arena) || !Inside(row.file, arena)) {
      return "function";
    }
  }
  for (const auto& row : batch.mappings) {
    if (!Inside(row.file, arena) || !Inside(row.build_id, arena)) return "mapping";
  }
  for (const auto& row : batch.lines) {
    if (row.function >= batch.functions.size()) return "line";
  }
  for (const auto& row : batch.locations) {
    if (row.mapping != kNoMapping && row.mapping >= batch.mappings.size()) return "location";
    if (std::size_t{row.first_line} + row.line_count > batch.lines.size()) return "location";
  }
  for (const auto location : batch.stack_locations) {
    if (location >= batch.locations.size()) return "stack";
  }
  for (const auto& row : batch.stacks) {
    if (std::size_t{row.first_location} + row.location_count > batch.stack_locations.size() ||
        row.location_count > limits::kStackDepthMax) {
      return "stack";
    }
  }
  if (batch.links.empty() || batch.label_sets.empty()) return "link";
  for (const auto& slice : batch.label_sets) {
    if (!Inside(slice, arena)) return "labels";
  }
  for (const auto& row : batch.series) {
    if (row.resource >= batch.resources.size() || !Inside(row.type, arena) ||
        !Inside(row.attributes, arena)) {
      return "series";
    }
  }
  for (const auto& row : batch.samples) {
    if (row.series >= batch.series.size() || row.stack >= batch.stacks.size() ||
        row.link >= batch.links.size() || row.labels >= batch.label_sets.size()) {
      return "sample";
    }
  }
  return {};
}

std::string_view FindDamage(const SpanBatch& batch) {
  const std::size_t arena = batch.arena.size();
  if (arena > UINT32_MAX) return "arena";
  if (!ResourcesInside(batch.resources, arena)) return "resource";
  for (const auto& row : batch.scopes) {
    if (!Inside(row.name, arena) || !Inside(row.version, arena) || !Inside(row.attributes, arena) ||
        !Inside(row.schema_url, arena)) {
      return "scope";
    }
  }
  for (const auto& row : batch.spans) {
    if (row.resource >= batch.resources.size() || row.scope >= batch.scopes.size() ||
        !Inside(row.name, arena) || !Inside(row.attributes, arena) || !Inside(row.events, arena) ||
        !Inside(row.links, arena) || !Inside(row.trace_state, arena) ||
        !Inside(row.status_message, arena) || row.end < row.start) {
      return "span";
    }
  }
  return {};
}

}  // namespace hotspan
