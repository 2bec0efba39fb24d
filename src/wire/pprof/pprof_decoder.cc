#include "wire/pprof/pprof_decoder.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "wire/inflate/inflate.h"
#include "wire/protobuf.h"
#include "wire/sample_builder.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

// Times before this are no wall-clock times: a profiler without one sends zero or time since boot.
constexpr std::int64_t kFirstPlausibleNs = 366ll * 86'400 * 1'000'000'000;

tl::unexpected<Error> Bad(std::string message) {
  return Fail(Code::kInvalidArgument, "pprof: " + std::move(message));
}

// Rows by the ids of their messages. Ids are 1, 2, 3, ... nearly always; then it is an array.
class IdIndex {
 public:
  void Add(std::uint64_t id, std::uint32_t row) {
    if (id == dense_ + 1 && row == dense_) {
      ++dense_;
    } else {
      sparse_.try_emplace(id, row);
    }
  }
  // UINT32_MAX if there is no such id.
  std::uint32_t Find(std::uint64_t id) const {
    if (id - 1 < dense_) return static_cast<std::uint32_t>(id - 1);
    const auto it = sparse_.find(id);
    return it == sparse_.end() ? UINT32_MAX : it->second;
  }

 private:
  std::uint64_t dense_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

struct ValueType {
  std::int64_t type = 0;
  std::int64_t unit = 0;
};

ValueType ReadValueType(std::string_view bytes) {
  ValueType result;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        result.type = message.get_int64();
        break;
      case Varint(2):
        result.unit = message.get_int64();
        break;
      default:
        message.skip();
    }
  }
  return result;
}

class PprofReader {
 public:
  explicit PprofReader(const PprofOptions& options) : options_(options) {}
  Result<ProfileDecode> Read(std::string_view body);

 private:
  void Collect(std::string_view body);
  Status CheckTables();
  Status ReadFunctions();
  Status ReadMappings();
  Status ReadLocations();
  Status ReadLine(std::string_view message);
  Status NameTypes();
  Status ReadSample(std::string_view message);
  Status ReadLabel(std::string_view message);
  Status PushLocations(std::string_view message);
  std::uint32_t SeriesOf(std::size_t type);
  void AddResource();
  Result<std::string_view> StringAt(std::int64_t index, std::string_view what) const;
  Result<Slice> SliceOf(std::int64_t index, std::string_view what);

  const PprofOptions& options_;
  ProfileDecode result_;
  SampleBatch& batch_ = result_.batch;
  SampleBuilder builder_{batch_, result_.counts};
  std::vector<std::string_view> samples_, mappings_, locations_, functions_, strings_;
  std::vector<ValueType> types_;
  ValueType period_type_;
  std::int64_t period_ = 0, time_ = 0, duration_ = 0;
  std::vector<Slice> slices_;
  std::vector<SeriesType> series_types_;
  std::vector<std::uint32_t> series_of_type_;
  IdIndex function_ids_, mapping_ids_, location_ids_;
  SampleLabels labels_;
  std::vector<std::int64_t> values_;
  std::string scratch_, key_scratch_;
};

void PprofReader::Collect(std::string_view body) {
  for (Message message(body); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        types_.push_back(ReadValueType(View(message)));
        break;
      case Bytes(2):
        samples_.push_back(View(message));
        break;
      case Bytes(3):
        mappings_.push_back(View(message));
        break;
      case Bytes(4):
        locations_.push_back(View(message));
        break;
      case Bytes(5):
        functions_.push_back(View(message));
        break;
      case Bytes(6):
        strings_.push_back(View(message));
        break;
      case Varint(9):
        time_ = message.get_int64();
        break;
      case Varint(10):
        duration_ = message.get_int64();
        break;
      case Bytes(11):
        period_type_ = ReadValueType(View(message));
        break;
      case Varint(12):
        period_ = message.get_int64();
        break;
      default:
        message.skip();
    }
  }
}

Status PprofReader::CheckTables() {
  if (strings_.empty()) return Bad("there is no string table");
  if (!strings_[0].empty()) return Bad("the string table does not begin with the empty string");
  if (types_.empty() && !samples_.empty()) return Bad("there are samples but no sample type");
  const std::size_t sizes[] = {samples_.size(),   mappings_.size(), locations_.size(),
                               functions_.size(), strings_.size(),  types_.size()};
  if (*std::max_element(std::begin(sizes), std::end(sizes)) > limits::kProfileTableEntriesMax) {
    return Fail(Code::kResourceExhausted, "pprof: a table has more entries than the limit of " +
                                              std::to_string(limits::kProfileTableEntriesMax));
  }
  return {};
}

Result<ProfileDecode> PprofReader::Read(std::string_view body) {
  result_.layout = ProfileLayout::kPprof;
  Collect(body);
  TRY(CheckTables());
  slices_.assign(strings_.size(), Slice{UINT32_MAX, 0});
  TRY(ReadFunctions());
  TRY(ReadMappings());
  TRY(ReadLocations());
  TRY(NameTypes());
  result_.has_time = time_ >= kFirstPlausibleNs;
  if (!result_.has_time) time_ = options_.source.start.ns;
  if (duration_ <= 0) duration_ = options_.source.duration.ns;
  for (const std::string_view sample : samples_) TRY(ReadSample(sample));
  TRY(builder_.CheckSize());
  result_.profiles = 1;
  return std::move(result_);
}

Result<std::string_view> PprofReader::StringAt(std::int64_t index, std::string_view what) const {
  if (index < 0 || static_cast<std::size_t>(index) >= strings_.size()) {
    return Bad("string index " + std::to_string(index) + " of a " + std::string(what) +
               " is outside of the table of " + std::to_string(strings_.size()));
  }
  return strings_[static_cast<std::size_t>(index)];
}

Result<Slice> PprofReader::SliceOf(std::int64_t index, std::string_view what) {
  TRY_ASSIGN(const std::string_view text, StringAt(index, what));
  Slice& slice = slices_[static_cast<std::size_t>(index)];
  if (slice.offset == UINT32_MAX) {
    slice = batch_.Add(CleanText(text, limits::kNameBytesMax, scratch_, result_.counts));
  }
  return slice;
}

Status PprofReader::ReadFunctions() {
  for (const std::string_view bytes : functions_) {
    FunctionRow row;
    std::uint64_t id = 0;
    for (Message message(bytes); message.next();) {
      switch (message.tag_and_type()) {
        case Varint(1):
          id = message.get_uint64();
          break;
        case Varint(2): {
          TRY_ASSIGN(row.name, SliceOf(message.get_int64(), "function"));
          break;
        }
        case Varint(3): {
          TRY_ASSIGN(row.system_name, SliceOf(message.get_int64(), "function"));
          break;
        }
        case Varint(4): {
          TRY_ASSIGN(row.file, SliceOf(message.get_int64(), "function"));
          break;
        }
        case Varint(5):
          row.start_line = message.get_int64();
          break;
        default:
          message.skip();
      }
    }
    if (id == 0) return Bad("a function has the id 0");
    if (row.name.size == 0) row.name = row.system_name;
    function_ids_.Add(id, static_cast<std::uint32_t>(batch_.functions.size()));
    batch_.functions.push_back(row);
  }
  return {};
}

Status PprofReader::ReadMappings() {
  for (const std::string_view bytes : mappings_) {
    MappingRow row;
    std::uint64_t id = 0;
    for (Message message(bytes); message.next();) {
      switch (message.tag_and_type()) {
        case Varint(1):
          id = message.get_uint64();
          break;
        case Varint(2):
          row.start = message.get_uint64();
          break;
        case Varint(3):
          row.limit = message.get_uint64();
          break;
        case Varint(4):
          row.offset = message.get_uint64();
          break;
        case Varint(5): {
          TRY_ASSIGN(row.file, SliceOf(message.get_int64(), "mapping"));
          break;
        }
        case Varint(6): {
          TRY_ASSIGN(row.build_id, SliceOf(message.get_int64(), "mapping"));
          break;
        }
        default:
          message.skip();
      }
    }
    if (id == 0) return Bad("a mapping has the id 0");
    if (!IsHexBuildId(batch_.Text(row.build_id))) row.build_id = {};
    mapping_ids_.Add(id, static_cast<std::uint32_t>(batch_.mappings.size()));
    batch_.mappings.push_back(row);
  }
  return {};
}

Status PprofReader::ReadLine(std::string_view bytes) {
  std::uint64_t function = 0;
  std::int64_t number = 0;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        function = message.get_uint64();
        break;
      case Varint(2):
        number = message.get_int64();
        break;
      default:
        message.skip();
    }
  }
  if (function == 0) return {};
  LineRow row;
  row.function = function_ids_.Find(function);
  if (row.function == UINT32_MAX) {
    return Bad("a line names function " + std::to_string(function) + ", which is not there");
  }
  if (batch_.functions[row.function].name.size == 0) return {};
  if (number > 0 && number <= INT32_MAX) row.line = static_cast<std::int32_t>(number);
  batch_.lines.push_back(row);
  return {};
}

Status PprofReader::ReadLocations() {
  for (const std::string_view bytes : locations_) {
    LocationRow row;
    row.first_line = static_cast<std::uint32_t>(batch_.lines.size());
    std::uint64_t id = 0;
    for (Message message(bytes); message.next();) {
      switch (message.tag_and_type()) {
        case Varint(1):
          id = message.get_uint64();
          break;
        case Varint(2): {
          const std::uint64_t mapping = message.get_uint64();
          if (mapping == 0) break;
          row.mapping = mapping_ids_.Find(mapping);
          if (row.mapping == UINT32_MAX) {
            return Bad("a location names mapping " + std::to_string(mapping) +
                       ", which is not there");
          }
          break;
        }
        case Varint(3):
          row.address = message.get_uint64();
          break;
        case Bytes(4):
          TRY(ReadLine(View(message)));
          break;
        default:
          message.skip();
      }
    }
    if (id == 0) return Bad("a location has the id 0");
    row.line_count = static_cast<std::uint32_t>(batch_.lines.size()) - row.first_line;
    if (row.mapping != kNoMapping) {
      row.address = ToFileOffset(batch_.mappings[row.mapping], row.address);
    }
    location_ids_.Add(id, static_cast<std::uint32_t>(batch_.locations.size()));
    batch_.locations.push_back(row);
  }
  return builder_.CheckSize();
}

Status PprofReader::NameTypes() {
  TRY_ASSIGN(const std::string_view period_type, StringAt(period_type_.type, "period type"));
  TRY_ASSIGN(const std::string_view period_unit, StringAt(period_type_.unit, "period type"));
  bool has_cpu_time = false;
  for (const ValueType& type : types_) {
    TRY_ASSIGN(const std::string_view name, StringAt(type.type, "sample type"));
    has_cpu_time = has_cpu_time || name == "cpu";
  }
  for (const ValueType& type : types_) {
    TRY_ASSIGN(const std::string_view name, StringAt(type.type, "sample type"));
    TRY_ASSIGN(const std::string_view unit, StringAt(type.unit, "sample type"));
    series_types_.push_back(NameSeries({name, unit, period_type, period_unit}, period_,
                                       has_cpu_time, options_.contention_name));
  }
  series_of_type_.assign(types_.size(), UINT32_MAX);
  return {};
}

void PprofReader::AddResource() {
  const ProfileSource& source = options_.source;
  ResourceRow row;
  row.service_name = batch_.Add(source.service_name);
  row.attributes = batch_.Add(source.resource_attributes);
  batch_.resources.push_back(row);
}

std::uint32_t PprofReader::SeriesOf(std::size_t type) {
  if (series_of_type_[type] != UINT32_MAX) return series_of_type_[type];
  if (batch_.resources.empty()) AddResource();
  SeriesRow row;
  row.type = batch_.Add(
      CleanText(series_types_[type].text, limits::kNameBytesMax, scratch_, result_.counts));
  row.attributes = batch_.Add(options_.source.series_attributes);
  row.period = std::max<std::int64_t>(period_, 0);
  row.start = {time_};
  row.duration = {duration_};
  batch_.series.push_back(row);
  series_of_type_[type] = static_cast<std::uint32_t>(batch_.series.size() - 1);
  return series_of_type_[type];
}

Status PprofReader::ReadLabel(std::string_view bytes) {
  std::int64_t key = 0, text = 0, number = 0;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        key = message.get_int64();
        break;
      case Varint(2):
        text = message.get_int64();
        break;
      case Varint(3):
        number = message.get_int64();
        break;
      default:
        message.skip();
    }
  }
  TRY_ASSIGN(std::string_view name, StringAt(key, "label"));
  TRY_ASSIGN(const std::string_view value, StringAt(text, "label"));
  if (name.empty() || name.starts_with("pprof::")) return {};
  name = CleanText(name, limits::kAttributeKeyBytesMax, key_scratch_, result_.counts);
  if (text != 0) {
    labels_.AddText(name,
                    CleanText(value, limits::kAttributeValueBytesMax, scratch_, result_.counts));
  } else {
    labels_.AddInt(name, number);
  }
  return {};
}

Status PprofReader::PushLocations(std::string_view bytes) {
  std::uint64_t missing = 0;
  bool all_found = true;
  const auto push = [&](std::uint64_t id) {
    const std::uint32_t row = location_ids_.Find(id);
    if (row == UINT32_MAX) {
      all_found = false;
      missing = id;
    } else {
      builder_.PushLocation(row);
    }
  };
  builder_.BeginStack();
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
  if (all_found) return {};
  return Bad("a sample names location " + std::to_string(missing) + ", which is not there");
}

Status PprofReader::ReadSample(std::string_view bytes) {
  values_.clear();
  labels_.Clear();
  std::size_t labels = 0;
  const auto take = [&](std::uint64_t value) {
    values_.push_back(static_cast<std::int64_t>(value));
  };
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(2):
        take(message.get_uint64());
        break;
      case Bytes(2):
        ForEachPacked(View(message), take);
        break;
      case Bytes(3): {
        const std::string_view label = View(message);
        if (++labels <= limits::kAttributesPerSpanMax) {
          TRY(ReadLabel(label));
        } else {
          ++result_.counts.dropped;
        }
        break;
      }
      default:
        message.skip();
    }
  }
  if (values_.size() != types_.size()) {
    return Bad("a sample has " + std::to_string(values_.size()) + " values for " +
               std::to_string(types_.size()) + " sample types");
  }
  TRY(PushLocations(bytes));
  SampleRow row;
  row.stack = builder_.EndStack();
  row.link = builder_.Link(labels_.link());
  row.labels = builder_.Labels(labels_.packed());
  row.time = {time_};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    row.value = values_[i];
    if (row.value == 0) continue;
    if (series_types_[i].times_period && __builtin_mul_overflow(row.value, period_, &row.value)) {
      return Bad("a count times the period is more than 64 bits hold");
    }
    row.series = SeriesOf(i);
    TRY(builder_.AddSample(row));
  }
  if (batch_.stacks.size() % 1024 == 0) return builder_.CheckSize();
  return {};
}

bool IsLegacyText(std::string_view body) {
  for (const std::string_view start :
       {"heap profile:", "--- contention", "--- mutex", "--- Memory map",
        "goroutine profile:", "threadcreate profile:", "--- threadz", "--- growth", "--- heap"}) {
    if (body.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

bool LooksLikePprof(std::string_view body) {
  if (IsGzip(body)) return true;
  bool has_strings = false;
  try {
    for (Message message(body); message.next(); message.skip()) {
      if (message.tag() > 15) return false;
      has_strings = has_strings || message.tag_and_type() == Bytes(6);
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return has_strings;
}

Result<ProfileDecode> DecodePprof(std::string_view body, const PprofOptions& options) {
  if (IsLegacyText(body)) {
    return Bad("legacy text profiles are not supported; send the protobuf format");
  }
  std::string inflated;
  if (IsGzip(body)) {
    auto result = Inflate(body, "gzip", limits::kMessageBytesMax);
    if (!result) return Fail(std::move(result.error()).Within("pprof"));
    inflated = std::move(*result);
    body = inflated;
  }
  if (body.size() > limits::kMessageBytesMax) {
    return Fail(Code::kResourceExhausted, "pprof: profile is larger than the limit of " +
                                              std::to_string(limits::kMessageBytesMax) + " bytes");
  }
  try {
    return PprofReader(options).Read(body);
  } catch (const protozero::exception& error) {
    return Bad(std::string("malformed protobuf: ") + error.what());
  }
}

}  // namespace hotspan::wire
