#include "storage/source.h"

#include <algorithm>

namespace hotspan::storage {
namespace {

std::string_view FirstText(const AttributeList& resource, const AttributeList& labels,
                           std::initializer_list<std::string_view> keys) {
  for (const auto& list : {resource, labels}) {
    for (const std::string_view key : keys) {
      const std::string_view text = list.FindText(key);
      if (!text.empty()) return text;
    }
  }
  return {};
}

std::string LabelText(const AttributeList& resource, const AttributeList& labels,
                      std::string_view name) {
  auto value = resource.Find(name);
  if (!value) value = labels.Find(name);
  return value ? value->ToText() : std::string();
}

}  // namespace

SourceInfo SourceOf(const SampleBatch& batch, const SeriesRow& series) {
  const ResourceRow& row = batch.resources[series.resource];
  const AttributeList resource = batch.Attributes(row.attributes);
  const AttributeList labels = batch.Attributes(series.attributes);
  SourceInfo info;
  info.service = batch.Text(row.service_name);
  info.version = FirstText(resource, labels, {"service.version", "service_version", "version"});
  info.instance =
      FirstText(resource, labels, {"service.instance.id", "instance", "host.name", "hostname"});
  info.agent = FirstText(resource, labels, {"telemetry.distro.name", "telemetry.sdk.name"});
  const std::string_view version =
      FirstText(resource, labels, {"telemetry.distro.version", "telemetry.sdk.version"});
  if (!info.agent.empty() && !version.empty()) info.agent.append("/").append(version);
  return info;
}

bool MatchesLabels(const AttributeList& resource, const AttributeList& labels,
                   std::span<const LabelMatcher> matchers) {
  return std::ranges::all_of(matchers, [&](const LabelMatcher& matcher) {
    return (LabelText(resource, labels, matcher.name) == matcher.value) != matcher.negated;
  });
}

bool MatchesLabels(const SampleBatch& batch, const SeriesRow& series,
                   std::span<const LabelMatcher> matchers) {
  return MatchesLabels(batch.Attributes(batch.resources[series.resource].attributes),
                       batch.Attributes(series.attributes), matchers);
}

std::uint64_t ThreadOf(const AttributeList& labels) {
  const auto thread = labels.Find("thread.id");
  if (!thread || thread->kind() != ValueKind::kInt || thread->AsInt() < 0) return 0;
  return static_cast<std::uint64_t>(thread->AsInt());
}

void AppendFrames(const SampleBatch& batch, const LocationRow& location, std::vector<Frame>& out) {
  Frame frame;
  if (location.mapping != kNoMapping) {
    const MappingRow& mapping = batch.mappings[location.mapping];
    frame.module = batch.Text(mapping.file);
    frame.build_id = batch.Text(mapping.build_id);
  }
  if (HasAddress(batch, location)) frame.address = location.address;
  if (location.line_count == 0) {
    frame.symbolized = false;
    out.push_back(std::move(frame));
    return;
  }
  for (std::uint32_t i = 0; i < location.line_count; ++i) {
    const LineRow& line = batch.lines[location.first_line + i];
    const FunctionRow& function = batch.functions[line.function];
    frame.function = batch.Text(function.name);
    frame.file = batch.Text(function.file);
    frame.line = line.line;
    frame.inlined = i + 1 < location.line_count;
    out.push_back(frame);
  }
}

}  // namespace hotspan::storage
