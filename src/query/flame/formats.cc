#include "query/flame/formats.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/utf8.h"
#include "query/flame/labels.h"

namespace hotspan::query::flame {
namespace {

// Numbers are the bulk of a graph: they are formatted here instead of one call of the writer each.
void AppendNumber(std::string& out, std::int64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

std::string LevelsJson(const FlameGraph& graph) {
  std::string out = "[";
  out.reserve(graph.nodes * 24 + graph.levels.size() * 3 + 2);
  for (const std::vector<std::int64_t>& level : graph.levels) {
    if (out.size() > 1) out += ',';
    out += '[';
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (i > 0) out += ',';
      AppendNumber(out, level[i]);
    }
    out += ']';
  }
  out += ']';
  return out;
}

// Separators of the format inside of a name become others.
std::string FoldedName(std::string_view name) {
  std::string out = ReplaceInvalidUtf8(name);
  for (char& c : out) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

std::string_view SpeedscopeUnit(std::string_view unit) {
  for (const std::string_view known :
       {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}) {
    if (unit == known) return known;
  }
  return "none";
}

// Frames by what speedscope shows of them, and the stacks as their numbers, root first.
struct SpeedscopeFrames {
  std::vector<const Frame*> shown;
  std::vector<std::uint32_t> number_of;  // of each frame of the table
};

SpeedscopeFrames NumberFrames(const FrameTable& frames) {
  SpeedscopeFrames out;
  std::map<std::tuple<std::string, std::string_view, std::int32_t>, std::uint32_t> numbers;
  out.number_of.reserve(frames.frames.size());
  for (const Frame& frame : frames.frames) {
    const auto [entry, is_new] = numbers.try_emplace({FrameLabel(frame), frame.file, frame.line},
                                                     static_cast<std::uint32_t>(out.shown.size()));
    if (is_new) out.shown.push_back(&frame);
    out.number_of.push_back(entry->second);
  }
  return out;
}

void WriteSpeedscopeProfile(JsonWriter& json, const FrameTable& frames,
                            const SpeedscopeFrames& numbered, std::span<const WeightedStack> stacks,
                            const RenderOptions& options) {
  JsonWriter samples;
  JsonWriter weights;
  samples.BeginArray();
  weights.BeginArray();
  std::int64_t total = 0;
  for (const WeightedStack& weighted : stacks) {
    const auto found = frames.stacks.find(weighted.stack);
    if (found == frames.stacks.end() || weighted.value <= 0) continue;
    samples.BeginArray();
    for (auto frame = found->second.rbegin(); frame != found->second.rend(); ++frame) {
      samples.Number(numbered.number_of[*frame]);
    }
    samples.EndArray();
    weights.Number(weighted.value);
    total = AddSaturating(total, weighted.value);
  }
  samples.EndArray();
  weights.EndArray();
  json.BeginObject().Key("type").String("sampled").Key("name").String(options.title);
  json.Key("unit").String(SpeedscopeUnit(options.unit));
  json.Key("startValue").Number(0).Key("endValue").Number(total);
  json.Key("samples").Raw(samples.text()).Key("weights").Raw(weights.text()).EndObject();
}

void AppendColumn(std::string& out, const std::string& column) { AppendSized(out, column); }

}  // namespace

void WriteFlame(JsonWriter& json, const FlameGraph& graph) {
  json.BeginObject().Key("names").BeginArray();
  for (const std::string& name : graph.names) json.String(name);
  json.EndArray().Key("levels").Raw(LevelsJson(graph));
  json.Key("total").Number(graph.total).Key("max_self").Number(graph.max_self).EndObject();
}

void WriteTopMembers(JsonWriter& json, const TopRow& row) {
  json.Key("function").String(row.function).Key("file").String(row.file);
  json.Key("line").Number(row.line).Key("self").Number(row.self);
  json.Key("total").Number(row.total).Key("samples").Number(row.self_samples);
  json.Key("total_samples").Number(row.total_samples).Key("lines").BeginArray();
  for (const LineCost& line : row.lines) {
    json.BeginObject().Key("line").Number(line.line).Key("self").Number(line.self);
    json.Key("total").Number(line.total).Key("samples").Number(line.samples).EndObject();
  }
  json.EndArray();
}

std::string FoldedText(const FrameTable& frames, std::span<const WeightedStack> stacks) {
  const LabelledStacks labelled = LabelStacks(frames, stacks);
  std::vector<std::string> names;
  names.reserve(labelled.labels.size());
  for (const std::string& label : labelled.labels) names.push_back(FoldedName(label));
  std::map<std::string, std::int64_t> sums;
  for (const LabelledStack& stack : labelled.stacks) {
    std::string line;
    for (std::uint32_t i = 0; i < stack.size; ++i) {
      if (i > 0) line += ';';
      line += names[labelled.tokens[stack.first + i]];
    }
    if (line.empty()) line = "[unknown]";
    std::int64_t& sum = sums[std::move(line)];
    sum = AddSaturating(sum, stack.value);
  }
  std::string out;
  for (const auto& [line, sum] : sums) {
    out += line;
    out += ' ';
    AppendNumber(out, sum);
    out += '\n';
  }
  return out;
}

std::string SpeedscopeJson(const FrameTable& frames, std::span<const WeightedStack> stacks,
                           const RenderOptions& options) {
  const SpeedscopeFrames numbered = NumberFrames(frames);
  JsonWriter json;
  json.BeginObject();
  json.Key("$schema").String("https://www.speedscope.app/file-format-schema.json");
  json.Key("exporter").String("hotspan").Key("name").String(options.title);
  json.Key("activeProfileIndex").Number(0);
  json.Key("shared").BeginObject().Key("frames").BeginArray();
  for (const Frame* frame : numbered.shown) {
    json.BeginObject().Key("name").String(FrameLabel(*frame));
    if (!frame->file.empty()) json.Key("file").String(frame->file);
    if (frame->line > 0) json.Key("line").Number(frame->line);
    json.EndObject();
  }
  json.EndArray().EndObject().Key("profiles").BeginArray();
  WriteSpeedscopeProfile(json, frames, numbered, stacks, options);
  json.EndArray().EndObject();
  return json.Take();
}

std::string FlameColumns(const FlameGraph& graph) {
  std::string out = "HSF1";
  AppendVarint(out, graph.names.size());
  for (const std::string& name : graph.names) AppendSized(out, ReplaceInvalidUtf8(name));
  AppendVarint(out, graph.levels.size());
  std::string offsets;
  std::string totals;
  std::string selfs;
  std::string names;
  std::int64_t last_total = 0;
  std::int64_t last_name = 0;
  for (const std::vector<std::int64_t>& level : graph.levels) {
    AppendVarint(out, level.size() / 4);
    for (std::size_t i = 0; i + 3 < level.size(); i += 4) {
      AppendVarint(offsets, static_cast<std::uint64_t>(level[i]));
      AppendVarint(totals, ZigZag(level[i + 1] - last_total));
      AppendVarint(selfs, static_cast<std::uint64_t>(level[i + 2]));
      AppendVarint(names, ZigZag(level[i + 3] - last_name));
      last_total = level[i + 1];
      last_name = level[i + 3];
    }
  }
  for (const std::string* column : {&offsets, &totals, &selfs, &names}) AppendColumn(out, *column);
  return out;
}

}  // namespace hotspan::query::flame
