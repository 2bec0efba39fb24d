// Every limit on input, queues, caches and recursion, with its reason. What exceeds one is refused
// or counted, never dropped in silence; /metrics shows the counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hotspan::limits {

// A message after inflating. Large enough for an SDK's biggest batch and a profile of a million
// samples; small enough that a handful in flight fit the memory budget.
inline constexpr std::size_t kMessageBytesMax = 64u << 20;
// One compressed message on the wire; more can't inflate to something we would take.
inline constexpr std::size_t kBodyBytesMax = 64u << 20;
// Samples of one message.
inline constexpr std::size_t kSamplesPerMessageMax = 1'000'000;
// Frames of a stack; deeper ones are cut at the root end and marked.
inline constexpr std::size_t kStackDepthMax = 1024;
// Bytes of one attribute's key and of one value. Longer values are cut and counted.
inline constexpr std::size_t kAttributeKeyBytesMax = 1024;
inline constexpr std::size_t kAttributeValueBytesMax = 64u << 10;
inline constexpr std::size_t kAttributesPerSpanMax = 1024;
inline constexpr std::size_t kEventsPerSpanMax = 1024;
inline constexpr std::size_t kLinksPerSpanMax = 1024;
// Nesting of arrays and maps in attribute values; protobuf's own default is 100.
inline constexpr int kValueDepthMax = 32;
// Length of a span's or function's name; what is longer is no name.
inline constexpr std::size_t kNameBytesMax = 16u << 10;
// Batch ids remembered against retries, and for how long.
inline constexpr std::size_t kBatchIdsMax = 1'000'000;
inline constexpr std::int64_t kBatchIdsKeptNs = 15ll * 60 * 1'000'000'000;
// Bytes of acknowledged data in memory before they are cut into blocks; writers wait at the second.
inline constexpr std::size_t kHeadBytesCut = 48u << 20;
inline constexpr std::size_t kHeadBytesMax = 192u << 20;
// Spans of one trace in an answer: a trace that never ends must not end the server.
inline constexpr std::size_t kTraceSpansMax = 200'000;
// Rows that one scan may return.
inline constexpr std::size_t kScanRowsMax = 200'000;
// Nodes of a flame graph in an answer unless the caller asks for fewer; the rest merges.
inline constexpr std::size_t kFlameNodesMax = 200'000;
// Length of a query text, as Tempo has it.
inline constexpr std::size_t kQueryBytesMax = 128u << 10;
// Nesting of parentheses in a query.
inline constexpr int kQueryDepthMax = 64;
// Open connections, and requests being decoded at once.
inline constexpr std::size_t kConnectionsMax = 1024;
inline constexpr std::size_t kIngestInFlightBytesMax = 256u << 20;

}  // namespace hotspan::limits
