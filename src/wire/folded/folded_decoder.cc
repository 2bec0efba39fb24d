#include "wire/folded/folded_decoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "wire/sample_builder.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

constexpr int kLinesLookedAt = 8;

tl::unexpected<Error> Bad(std::string message) {
  return Fail(Code::kInvalidArgument, "folded stacks: " + std::move(message));
}

// Takes a line off the front, without its end.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

bool IsUtf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

// The count at the end of a line; some tools write decimals.
std::optional<std::int64_t> ParseCount(std::string_view token) {
  std::int64_t whole = 0;
  const char* const end = token.data() + token.size();
  if (const auto [at, error] = std::from_chars(token.data(), end, whole);
      error == std::errc{} && at == end) {
    return whole;
  }
  double number = 0;
  const auto [at, error] = std::from_chars(token.data(), end, number);
  if (error != std::errc{} || at != end || !(std::fabs(number) < 9e18)) return std::nullopt;
  return std::llround(number);
}

class FoldedReader {
 public:
  explicit FoldedReader(const FoldedOptions& options) : options_(options) {}
  Result<ProfileDecode> Read(std::string_view text);

 private:
  Status ReadLine(std::string_view line, std::size_t number);
  std::uint32_t LocationOf(std::string_view frame);
  void AddSeries();

  const FoldedOptions& options_;
  ProfileDecode result_;
  SampleBatch& batch_ = result_.batch;
  SampleBuilder builder_{batch_, result_.counts};
  std::unordered_map<std::string_view, std::uint32_t> locations_;
  std::vector<std::string_view> frames_;
  std::string scratch_;
};

void FoldedReader::AddSeries() {
  const ProfileSource& source = options_.source;
  ResourceRow resource;
  resource.service_name = batch_.Add(source.service_name);
  resource.attributes = batch_.Add(source.resource_attributes);
  batch_.resources.push_back(resource);
  SeriesRow series;
  series.type = batch_.Add(options_.type);
  series.attributes = batch_.Add(source.series_attributes);
  series.period = options_.period;
  series.start = source.start;
  series.duration = source.duration;
  batch_.series.push_back(series);
}

std::uint32_t FoldedReader::LocationOf(std::string_view frame) {
  const auto [it, added] =
      locations_.try_emplace(frame, static_cast<std::uint32_t>(batch_.locations.size()));
  if (!added) return it->second;
  FunctionRow function;
  function.name = batch_.Add(CleanText(frame, limits::kNameBytesMax, scratch_, result_.counts));
  batch_.functions.push_back(function);
  LineRow line;
  line.function = static_cast<std::uint32_t>(batch_.functions.size() - 1);
  batch_.lines.push_back(line);
  LocationRow location;
  location.first_line = static_cast<std::uint32_t>(batch_.lines.size() - 1);
  location.line_count = 1;
  batch_.locations.push_back(location);
  return it->second;
}

Status FoldedReader::ReadLine(std::string_view line, std::size_t number) {
  const std::size_t blank = line.find_last_of(" \t");
  if (line.empty() || line[0] == '#' || blank == std::string_view::npos) return {};
  const auto count = ParseCount(line.substr(blank + 1));
  if (!count) return Bad("line " + std::to_string(number) + " does not end with a count");
  frames_.clear();
  std::string_view stack = line.substr(0, blank);
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    std::string_view frame = stack.substr(0, end);
    while (!frame.empty() && frame.front() == ' ') frame.remove_prefix(1);
    if (!frame.empty()) frames_.push_back(frame);
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  SampleRow row;
  if (__builtin_mul_overflow(*count, options_.scale, &row.value)) {
    return Bad("the count of line " + std::to_string(number) + " is more than 64 bits hold");
  }
  builder_.BeginStack();
  for (std::size_t i = frames_.size(); i-- > 0;) {
    builder_.PushLocation(LocationOf(frames_[i]));
  }
  row.stack = builder_.EndStack();
  row.time = options_.source.start;
  TRY(builder_.AddSample(row));
  if (batch_.stacks.size() % 1024 == 0) return builder_.CheckSize();
  return {};
}

Result<ProfileDecode> FoldedReader::Read(std::string_view text) {
  result_.layout = ProfileLayout::kFolded;
  AddSeries();
  for (std::size_t number = 1; !text.empty(); ++number) {
    TRY(ReadLine(TakeLine(text), number));
  }
  TRY(builder_.CheckSize());
  if (batch_.stacks.empty()) return Bad("there is no line of a stack and a count");
  result_.profiles = 1;
  return std::move(result_);
}

}  // namespace

bool LooksLikeFolded(std::string_view text) {
  text = WithoutByteOrderMark(text);
  bool found = false;
  for (int lines = 0; lines < kLinesLookedAt && !text.empty();) {
    const std::string_view line = TakeLine(text);
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t') return false;
    }
    if (line.empty() || line[0] == '#') continue;
    ++lines;
    const std::size_t blank = line.find_last_of(" \t");
    found = found || (blank != std::string_view::npos && ParseCount(line.substr(blank + 1)));
  }
  return found;
}

Result<ProfileDecode> DecodeFolded(std::string_view body, const FoldedOptions& options) {
  if (body.size() > limits::kMessageBytesMax) {
    return Fail(Code::kResourceExhausted, "folded stacks: body is larger than the limit of " +
                                              std::to_string(limits::kMessageBytesMax) + " bytes");
  }
  if (IsUtf16(body)) return Bad("text is utf-16; send utf-8");
  return FoldedReader(options).Read(WithoutByteOrderMark(body));
}

}  // namespace hotspan::wire
