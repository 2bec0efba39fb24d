#include "storage/embedded/span_block.h"

#include <algorithm>
#include <unordered_map>

#include "base/bytes.h"

namespace hotspan::storage::embedded {
namespace {

// On disk: never renumber; a new layout gets the next number.
constexpr std::uint32_t kHotVersion = 0x31505348;   // "HSP1"
constexpr std::uint32_t kWideVersion = 0x31575348;  // "HSW1"

// Numbers distinct texts in the order they come.
class Dictionary {
 public:
  std::int64_t NumberOf(std::string_view text) {
    return numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(numbers_.size()))
        .first->second;
  }
  std::vector<std::string_view> InOrder() const {
    std::vector<std::string_view> texts(numbers_.size());
    for (const auto& [text, number] : numbers_) texts[static_cast<std::size_t>(number)] = text;
    return texts;
  }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
};

void AppendTexts(std::string& out, const std::vector<std::string_view>& texts) {
  AppendVarint(out, texts.size());
  for (const auto text : texts) AppendSized(out, text);
}

bool ReadTexts(ByteReader& reader, std::vector<std::string_view>& texts) {
  const std::uint64_t count = reader.Varint();
  if (count > reader.remaining()) return false;
  texts.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) texts.push_back(reader.Sized());
  return !reader.failed();
}

std::string ResourceBytes(const SpanBatch& batch, const ResourceRow& row) {
  std::string bytes;
  AppendSized(bytes, batch.Text(row.service_name));
  AppendSized(bytes, batch.Text(row.attributes));
  AppendSized(bytes, batch.Text(row.schema_url));
  AppendVarint(bytes, row.dropped_attributes);
  return bytes;
}

std::string ScopeBytes(const SpanBatch& batch, const ScopeRow& row) {
  std::string bytes;
  AppendSized(bytes, batch.Text(row.name));
  AppendSized(bytes, batch.Text(row.version));
  AppendSized(bytes, batch.Text(row.attributes));
  AppendSized(bytes, batch.Text(row.schema_url));
  AppendVarint(bytes, row.dropped_attributes);
  return bytes;
}

// Numbers resources and scopes by content, looking at each row of a batch only once.
class Sources {
 public:
  std::int64_t Resource(const SpanRef& span) {
    return Number(resources_, known_resources_, span.batch, span.row->resource, [&] {
      return ResourceBytes(*span.batch, span.batch->resources[span.row->resource]);
    });
  }
  std::int64_t Scope(const SpanRef& span) {
    return Number(scopes_, known_scopes_, span.batch, span.row->scope,
                  [&] { return ScopeBytes(*span.batch, span.batch->scopes[span.row->scope]); });
  }
  void AppendTo(std::string& out) const {
    AppendTexts(out, resources_.InOrder());
    AppendTexts(out, scopes_.InOrder());
  }
  std::vector<std::string_view> Services() const {
    std::vector<std::string_view> services;
    for (const auto bytes : resources_.InOrder()) services.push_back(ByteReader(bytes).Sized());
    return services;
  }

 private:
  struct RowKey {
    const SpanBatch* batch;
    std::uint32_t row;
    bool operator==(const RowKey&) const = default;
  };
  struct RowKeyHasher {
    std::size_t operator()(const RowKey& key) const {
      return std::hash<const void*>()(key.batch) * 31 + key.row;
    }
  };
  using Known = std::unordered_map<RowKey, std::int64_t, RowKeyHasher>;

  template <typename Bytes>
  static std::int64_t Number(Dictionary& dictionary, Known& known, const SpanBatch* batch,
                             std::uint32_t row, Bytes bytes) {
    const auto [at, fresh] = known.try_emplace(RowKey{batch, row}, 0);
    if (fresh) at->second = dictionary.NumberOf(bytes());
    return at->second;
  }

  Dictionary resources_, scopes_;
  Known known_resources_, known_scopes_;
};

void AppendWideRow(std::string& out, const SpanRef& span) {
  const SpanRow& row = *span.row;
  for (const Slice slice :
       {row.attributes, row.events, row.links, row.trace_state, row.status_message}) {
    AppendSized(out, span.batch->Text(slice));
  }
  for (const std::uint32_t number :
       {row.flags, row.dropped_attributes, row.dropped_events, row.dropped_links}) {
    AppendVarint(out, number);
  }
}

std::vector<std::string> EncodeWide(const std::vector<SpanRef>& spans) {
  std::vector<std::string> parts;
  std::string rows;
  std::vector<std::int64_t> ends;
  const auto close = [&] {
    std::string part;
    AppendRaw(part, kWideVersion);
    AppendColumn(part, ends);
    part += rows;
    parts.push_back(std::move(part));
    rows.clear();
    ends.clear();
  };
  for (const SpanRef& span : spans) {
    AppendWideRow(rows, span);
    ends.push_back(static_cast<std::int64_t>(rows.size()));
    if (ends.size() == kSpansPerWidePart) close();
  }
  if (!ends.empty()) close();
  return parts;
}

}  // namespace

EncodedSpanChunk EncodeSpanChunk(const std::vector<SpanRef>& spans) {
  Sources sources;
  Dictionary names;
  std::vector<std::int64_t> starts, durations, name_numbers, resources, scopes;
  std::string trace_ids, span_ids, parents, kinds, statuses;
  for (const SpanRef& span : spans) {
    starts.push_back(span.row->start.ns);
    durations.push_back(span.row->duration().ns);
    name_numbers.push_back(names.NumberOf(span.batch->Text(span.row->name)));
    resources.push_back(sources.Resource(span));
    scopes.push_back(sources.Scope(span));
    trace_ids.append(span.row->trace_id.AsBytes());
    span_ids.append(span.row->span_id.AsBytes());
    parents.append(span.row->parent_span_id.AsBytes());
    kinds += static_cast<char>(span.row->kind);
    statuses += static_cast<char>(span.row->status);
  }
  EncodedSpanChunk chunk;
  std::string& out = chunk.hot;
  AppendRaw(out, kHotVersion);
  AppendRaw(out, static_cast<std::uint32_t>(spans.size()));
  const auto [min_start, max_start] = std::ranges::minmax(starts);
  AppendRaw(out, min_start);
  AppendRaw(out, max_start);
  AppendRaw(out, std::ranges::max(durations));
  AppendTexts(out, names.InOrder());
  AppendTexts(out, sources.Services());
  for (const auto* column : {&starts, &durations, &name_numbers, &resources, &scopes}) {
    AppendColumn(out, *column);
  }
  out += kinds;
  out += statuses;
  out += parents;
  out += span_ids;
  out += trace_ids;
  sources.AppendTo(out);
  chunk.wide = EncodeWide(spans);
  return chunk;
}

Result<HotSpans> HotSpans::Open(std::string_view bytes) {
  ByteReader reader(bytes);
  HotSpans spans;
  if (reader.Raw<std::uint32_t>() != kHotVersion) {
    return Fail(Code::kDataLoss, "span chunk of unknown version");
  }
  spans.rows_ = reader.Raw<std::uint32_t>();
  spans.min_start_ = {reader.Raw<std::int64_t>()};
  spans.max_start_ = {reader.Raw<std::int64_t>()};
  spans.max_duration_ = {reader.Raw<std::int64_t>()};
  bool good = ReadTexts(reader, spans.names_) && ReadTexts(reader, spans.services_);
  for (ColumnView* column :
       {&spans.start_, &spans.duration_, &spans.name_, &spans.resource_, &spans.scope_}) {
    *column = ColumnView(reader);
    good = good && column->size() == spans.rows_;
  }
  spans.kinds_ = reader.Bytes(spans.rows_);
  spans.statuses_ = reader.Bytes(spans.rows_);
  spans.parents_ = reader.Bytes(std::size_t{spans.rows_} * 8);
  spans.span_ids_ = reader.Bytes(std::size_t{spans.rows_} * 8);
  spans.trace_ids_ = reader.Bytes(std::size_t{spans.rows_} * 16);
  spans.sources_ = reader.Bytes(reader.remaining());
  if (!good || reader.failed()) return Fail(Code::kDataLoss, "damaged span chunk");
  if (spans.rows_ > 0 &&
      (spans.name_.min() < 0 || spans.name_.max() >= std::ssize(spans.names_) ||
       spans.resource_.min() < 0 || spans.resource_.max() >= std::ssize(spans.services_))) {
    return Fail(Code::kDataLoss, "damaged span chunk");
  }
  return spans;
}

SpanRow HotSpans::Row(std::uint32_t row) const {
  SpanRow span;
  span.trace_id = TraceId::FromBytes(trace_ids_.substr(std::size_t{row} * 16, 16));
  span.span_id = SpanId::FromBytes(span_ids_.substr(std::size_t{row} * 8, 8));
  span.parent_span_id = SpanId::FromBytes(parents_.substr(std::size_t{row} * 8, 8));
  span.start = {start_[row]};
  span.end = span.start + DurationNs{duration_[row]};
  span.kind = static_cast<SpanKind>(kinds_[row]);
  span.status = static_cast<SpanStatus>(statuses_[row]);
  return span;
}

HotSpans::Appender::Appender(const HotSpans& chunk, SpanBatch& out) : chunk_(chunk), out_(out) {}

Status HotSpans::Appender::LoadSources() {
  if (loaded_) return {};
  ByteReader reader(chunk_.sources_);
  for (auto* sources : {&resources_, &scopes_}) {
    std::vector<std::string_view> texts;
    if (!ReadTexts(reader, texts)) return Fail(Code::kDataLoss, "damaged span chunk");
    for (const auto text : texts) sources->push_back({text, UINT32_MAX});
  }
  loaded_ = true;
  return {};
}

Status HotSpans::Appender::Append(std::uint32_t row, std::string_view wide_part) {
  TRY(LoadSources());
  SpanRow span = chunk_.Row(row);
  const std::uint32_t resource = chunk_.resource(row);
  const auto scope = static_cast<std::uint32_t>(chunk_.scope_[row]);
  if (resource >= resources_.size() || scope >= scopes_.size()) {
    return Fail(Code::kDataLoss, "damaged span chunk");
  }
  if (resources_[resource].index == UINT32_MAX) {
    ByteReader reader(resources_[resource].bytes);
    ResourceRow copy;
    copy.service_name = out_.Add(reader.Sized());
    copy.attributes = out_.Add(reader.Sized());
    copy.schema_url = out_.Add(reader.Sized());
    copy.dropped_attributes = static_cast<std::uint32_t>(reader.Varint());
    resources_[resource].index = static_cast<std::uint32_t>(out_.resources.size());
    out_.resources.push_back(copy);
  }
  if (scopes_[scope].index == UINT32_MAX) {
    ByteReader reader(scopes_[scope].bytes);
    ScopeRow copy;
    copy.name = out_.Add(reader.Sized());
    copy.version = out_.Add(reader.Sized());
    copy.attributes = out_.Add(reader.Sized());
    copy.schema_url = out_.Add(reader.Sized());
    copy.dropped_attributes = static_cast<std::uint32_t>(reader.Varint());
    scopes_[scope].index = static_cast<std::uint32_t>(out_.scopes.size());
    out_.scopes.push_back(copy);
  }
  span.resource = resources_[resource].index;
  span.scope = scopes_[scope].index;
  span.name = out_.Add(chunk_.names_[chunk_.name(row)]);
  if (!wide_part.empty()) {
    ByteReader reader(wide_part);
    const bool known = reader.Raw<std::uint32_t>() == kWideVersion;
    const ColumnView ends(reader);
    const std::uint32_t index = row % kSpansPerWidePart;
    if (!known || reader.failed() || index >= ends.size()) {
      return Fail(Code::kDataLoss, "damaged wide part of a span chunk");
    }
    reader.Bytes(index == 0 ? 0 : static_cast<std::size_t>(ends[index - 1]));
    for (Slice* slice :
         {&span.attributes, &span.events, &span.links, &span.trace_state, &span.status_message}) {
      *slice = out_.Add(reader.Sized());
    }
    for (std::uint32_t* number :
         {&span.flags, &span.dropped_attributes, &span.dropped_events, &span.dropped_links}) {
      *number = static_cast<std::uint32_t>(reader.Varint());
    }
    if (reader.failed()) return Fail(Code::kDataLoss, "damaged wide part of a span chunk");
  }
  out_.spans.push_back(span);
  return {};
}

}  // namespace hotspan::storage::embedded
