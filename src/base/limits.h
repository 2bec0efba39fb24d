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
// Entries of one table of a profile's dictionary, and of all its stacks together: a byte or two of
// input must not become a row of memory without end.
inline constexpr std::size_t kProfileTableEntriesMax = 2'000'000;
inline constexpr std::size_t kStackLocationsPerMessageMax = 16'000'000;
// Text and attributes of one decoded profile message; indices into shared strings can multiply
// them.
inline constexpr std::size_t kProfileArenaBytesMax = 256u << 20;
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
inline constexpr std::size_t kHeadBytesMax = 128u << 20;
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

// libhotspan lives in other people's processes, so its limits are small.
// Spans that ended and wait to be encoded; a burst of a second at 16 000 spans a second.
inline constexpr std::size_t kAgentSpanQueueMax = 16'384;
// Spans of one request, as OpenTelemetry's batch processor has it.
inline constexpr std::size_t kAgentSpansPerBatch = 512;
// Encoded batches of one signal that wait for the server, and their bytes; the oldest goes first.
inline constexpr std::size_t kAgentPendingBatchesMax = 128;
inline constexpr std::size_t kAgentPendingBytesMax = 4u << 20;
// Attributes and events of one span, OpenTelemetry's defaults, and the length of its texts.
inline constexpr std::size_t kAgentAttributesPerSpanMax = 128;
inline constexpr std::size_t kAgentEventsPerSpanMax = 128;
inline constexpr std::size_t kAgentTextBytesMax = 16u << 10;
// Waits for locks between two rounds of the exporter, and those kept until their spans have ended;
// more are left out.
inline constexpr std::size_t kAgentLockWaitsMax = 4096;
inline constexpr std::size_t kAgentLockWaitsHeldMax = 16'384;
// Lock waits with their stacks between two ticks of the profiler; more are counted as dropped.
inline constexpr std::size_t kAgentLockSamplesMax = 64;
// Contexts attached on one thread at once; deeper ones are counted, not tracked.
inline constexpr std::size_t kAgentContextDepthMax = 4096;
// A tracestate header: 32 members by the W3C recommendation, and what they may sum up to.
inline constexpr std::size_t kAgentTracestateMembersMax = 32;
inline constexpr std::size_t kAgentTracestateBytesMax = 4096;
// An answer's head and body, of which only the partial success is read.
inline constexpr std::size_t kAgentResponseHeadBytesMax = 32u << 10;
inline constexpr std::size_t kAgentResponseBodyBytesMax = 1u << 20;
// Pairs in OTEL_RESOURCE_ATTRIBUTES or OTEL_EXPORTER_OTLP_HEADERS.
inline constexpr std::size_t kAgentConfigPairsMax = 128;
// Native addresses whose resolved inline chains are kept: some 100 bytes each.
inline constexpr std::size_t kResolvedAddressesMax = 200'000;
// Spans whose samples one pooled profile adds up, and how many one read of samples names.
inline constexpr std::size_t kPooledSpansMax = 100'000;
inline constexpr std::size_t kSpansPerSampleReadMax = 10'000;
// Newest spans that percentiles of operations are taken from.
inline constexpr std::size_t kPercentileSpansMax = 20'000;
// Operations that need a scan of their own for percentiles, being rarer than that.
inline constexpr std::size_t kRareOperationsMax = 50;
// Traces that one search reads as a whole, and traces of one answer.
inline constexpr std::size_t kSearchTracesReadMax = 5'000;
inline constexpr std::size_t kSearchTracesMax = 10'000;

// Rows of call frame information in the agent's table, 8 bytes each; modules beyond are walked by
// frame pointer.
inline constexpr std::size_t kAgentCfiRowsMax = 8u << 20;
// Samples, and distinct locations, that the agent holds for its exporter; more are dropped and
// counted.
inline constexpr std::size_t kAgentSamplesMax = 200'000;
inline constexpr std::size_t kAgentLocationsMax = 200'000;
// Function names that the agent remembers; when there are more it starts anew.
inline constexpr std::size_t kAgentNamesMax = 200'000;

}  // namespace hotspan::limits
