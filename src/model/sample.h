// Profile samples as decoders make them and engines take them: rows over dictionaries and an arena.
//
// A SampleBatch is self-contained: rows name series, stacks and links by index; stacks name
// locations, locations name lines, lines name functions. Index 0 of `links` and `label_sets` means
// none. Stacks are leaf first, as in pprof and OTLP.
//
// Threads: a value; const access from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/ids.h"
#include "model/span.h"
#include "model/time.h"

namespace hotspan {

struct FunctionRow {
  Slice name{};         // as shown: demangled where the sender did so
  Slice system_name{};  // as in the object file, or empty
  Slice file{};
  std::int64_t start_line = 0;
};

struct MappingRow {
  Slice file{};
  Slice build_id{};  // hex, or empty
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t offset = 0;
};

struct LineRow {
  std::uint32_t function = 0;
  std::int32_t line = 0;  // 0: not known
};

inline constexpr std::uint32_t kNoMapping = UINT32_MAX;

// Where a program counter is. With lines it is symbolic (inlined callees first, as in pprof);
// with a mapping that has a build id it is native too, and may be resolved further at read time.
struct LocationRow {
  std::uint64_t address = 0;  // file offset of the instruction for native frames, else as sent
  std::uint32_t mapping = kNoMapping;
  std::uint32_t first_line = 0;  // range in SampleBatch::lines
  std::uint32_t line_count = 0;
  std::uint32_t reserved = 0;
};

struct StackRow {
  std::uint32_t first_location = 0;  // range in SampleBatch::stack_locations, leaf first
  std::uint32_t location_count = 0;
};

// Who a sample was taken for.
// On disk: never renumber.
enum class LinkKind : std::uint8_t {
  kSpan = 0,       // the span that was active
  kLocalRoot = 1,  // the root span of that process's part of the trace
};

struct LinkRow {
  TraceId trace_id{};  // zero where the source gives span ids only
  SpanId span_id{};
  LinkKind kind = LinkKind::kSpan;
  std::uint8_t reserved[7] = {};
};

// One source of samples: a service instance's profile of one type over one interval.
struct SeriesRow {
  std::uint32_t resource = 0;  // index into SampleBatch::resources
  std::uint32_t reserved = 0;
  Slice type{};             // "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
  Slice attributes{};       // packed list: labels of the profile, "sampler", agent name, ...
  std::int64_t period = 0;  // in the period type's unit; 0: not known
  TimeNs start{};
  DurationNs duration{};
};

struct SampleRow {
  std::int64_t value = 0;  // in the type's unit
  TimeNs time{};           // its own time, or the series' start if it has none
  std::uint32_t series = 0;
  std::uint32_t stack = 0;
  std::uint32_t link = 0;    // 0: none
  std::uint32_t labels = 0;  // 0: none; else index into label_sets (thread.id, ...)
};

struct SampleBatch {
  std::string arena{};
  std::vector<ResourceRow> resources{};
  std::vector<FunctionRow> functions{};
  std::vector<MappingRow> mappings{};
  std::vector<LineRow> lines{};
  std::vector<LocationRow> locations{};
  std::vector<std::uint32_t> stack_locations{};
  std::vector<StackRow> stacks{};
  std::vector<LinkRow> links{};     // [0] is none
  std::vector<Slice> label_sets{};  // packed lists; [0] is none
  std::vector<SeriesRow> series{};
  std::vector<SampleRow> samples{};
  // Whether samples have times of their own; without them a repeated body can't be told from news.
  bool timed = false;

  SampleBatch() : links(1), label_sets(1) {}

  std::string_view Text(Slice slice) const {
    return std::string_view(arena).substr(slice.offset, slice.size);
  }
  AttributeList Attributes(Slice slice) const { return AttributeList(Text(slice)); }
  Slice Add(std::string_view text) {
    const auto offset = static_cast<std::uint32_t>(arena.size());
    arena.append(text);
    return {offset, static_cast<std::uint32_t>(text.size())};
  }
};

// Whether a location's address tells more than its lines do: it can be resolved by build id, or is
// all that is known.
bool HasAddress(const SampleBatch& batch, const LocationRow& location);

// The identity of a location: a hash of what it shows (functions, files, lines of its inline chain)
// its module, and the address where it has one. Equal over batches, processes and machines.
// Stored: never change what is hashed.
Hash128 LocationIdentity(const SampleBatch& batch, const LocationRow& location);

// The identity of a stack: a hash of its locations' identities, leaf first.
Hash128 StackIdentity(const std::vector<Hash128>& location_identities, const SampleBatch& batch,
                      const StackRow& stack, std::vector<Hash128>& scratch);

// Refuses a batch with an index out of its table, a slice outside the arena or a table that is too
// large; decoders call it last, engines may rely on it. The text names the table.
std::string_view FindDamage(const SampleBatch& batch);
std::string_view FindDamage(const SpanBatch& batch);

}  // namespace hotspan
