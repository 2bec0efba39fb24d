#include "storage/embedded/batch_codec.h"

namespace hotspan::storage::embedded {
namespace {

// On disk: never renumber; a new layout gets the next number.
constexpr std::uint32_t kRecordVersion = 1;
constexpr std::uint32_t kHasSpans = 1, kHasSamples = 2, kTimed = 4;

// Rows are written as they are: their layout is part of the format.
static_assert(sizeof(SpanRow) == 128 && sizeof(ResourceRow) == 28 && sizeof(ScopeRow) == 36);
static_assert(sizeof(SampleRow) == 32 && sizeof(SeriesRow) == 48 && sizeof(LinkRow) == 32);
static_assert(sizeof(LocationRow) == 24 && sizeof(LineRow) == 8 && sizeof(FunctionRow) == 32);
static_assert(sizeof(MappingRow) == 40 && sizeof(StackRow) == 8 && sizeof(Slice) == 8);

template <typename T>
void AppendRows(std::string& out, const std::vector<T>& rows) {
  AppendRaw(out, std::uint64_t{rows.size()});
  out.append(BytesOfArray(rows.data(), rows.size()));
}

template <typename T>
void ReadRows(ByteReader& reader, std::vector<T>& rows) {
  const auto count = reader.Raw<std::uint64_t>();
  if (count > reader.remaining() / sizeof(T)) {
    reader.Bytes(reader.remaining() + 1);  // marks the reader failed
    return;
  }
  const std::string_view bytes = reader.Bytes(count * sizeof(T));
  rows.resize(count);
  if (count > 0) std::memcpy(static_cast<void*>(rows.data()), bytes.data(), bytes.size());
}

void AppendText(std::string& out, const std::string& text) {
  AppendRaw(out, std::uint64_t{text.size()});
  out.append(text);
}

std::string ReadText(ByteReader& reader) {
  const auto size = reader.Raw<std::uint64_t>();
  return std::string(reader.Bytes(size > reader.remaining() ? reader.remaining() + 1 : size));
}

}  // namespace

void AppendBatch(std::string& out, const WriteBatch& batch) {
  AppendRaw(out, kRecordVersion);
  AppendRaw(out, static_cast<std::uint32_t>(batch.tenant));
  AppendRaw(out, batch.batch_id);
  AppendRaw(out, batch.received.ns);
  AppendRaw(out, (batch.spans ? kHasSpans : 0) | (batch.samples ? kHasSamples : 0) |
                     (batch.samples && batch.samples->timed ? kTimed : 0));
  if (batch.spans) {
    AppendRows(out, batch.spans->resources);
    AppendRows(out, batch.spans->scopes);
    AppendRows(out, batch.spans->spans);
    AppendText(out, batch.spans->arena);
  }
  if (batch.samples) {
    const SampleBatch& samples = *batch.samples;
    AppendRows(out, samples.resources);
    AppendRows(out, samples.functions);
    AppendRows(out, samples.mappings);
    AppendRows(out, samples.lines);
    AppendRows(out, samples.locations);
    AppendRows(out, samples.stack_locations);
    AppendRows(out, samples.stacks);
    AppendRows(out, samples.links);
    AppendRows(out, samples.label_sets);
    AppendRows(out, samples.series);
    AppendRows(out, samples.samples);
    AppendText(out, samples.arena);
  }
}

Result<WriteBatch> ReadBatch(std::string_view bytes) {
  ByteReader reader(bytes);
  WriteBatch batch;
  const auto version = reader.Raw<std::uint32_t>();
  if (version != kRecordVersion) return Fail(Code::kDataLoss, "log record of unknown version");
  batch.tenant = TenantId{reader.Raw<std::uint32_t>()};
  batch.batch_id = reader.Raw<Hash128>();
  batch.received = {reader.Raw<std::int64_t>()};
  const auto flags = reader.Raw<std::uint32_t>();
  if ((flags & kHasSpans) != 0) {
    auto spans = std::make_shared<SpanBatch>();
    ReadRows(reader, spans->resources);
    ReadRows(reader, spans->scopes);
    ReadRows(reader, spans->spans);
    spans->arena = ReadText(reader);
    if (reader.failed() || !FindDamage(*spans).empty()) {
      return Fail(Code::kDataLoss, "log record with damaged spans");
    }
    batch.spans = std::move(spans);
  }
  if ((flags & kHasSamples) != 0) {
    auto samples = std::make_shared<SampleBatch>();
    samples->timed = (flags & kTimed) != 0;
    ReadRows(reader, samples->resources);
    ReadRows(reader, samples->functions);
    ReadRows(reader, samples->mappings);
    ReadRows(reader, samples->lines);
    ReadRows(reader, samples->locations);
    ReadRows(reader, samples->stack_locations);
    ReadRows(reader, samples->stacks);
    ReadRows(reader, samples->links);
    ReadRows(reader, samples->label_sets);
    ReadRows(reader, samples->series);
    ReadRows(reader, samples->samples);
    samples->arena = ReadText(reader);
    if (reader.failed() || !FindDamage(*samples).empty()) {
      return Fail(Code::kDataLoss, "log record with damaged samples");
    }
    batch.samples = std::move(samples);
  }
  if (reader.failed() || !reader.AtEnd()) return Fail(Code::kDataLoss, "log record cut short");
  return batch;
}

}  // namespace hotspan::storage::embedded
