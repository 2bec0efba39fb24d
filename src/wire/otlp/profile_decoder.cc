#include "wire/otlp/profile_decoder.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "wire/otlp/attribute_packer.h"
#include "wire/otlp/json_transcoder.h"
#include "wire/otlp/profile_tables.h"
#include "wire/protobuf.h"
#include "wire/sample_builder.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

// The varints of one field, and whether they came packed.
struct Numbers {
  std::vector<std::uint64_t> values;
  bool packed = false;

  void Clear() {
    values.clear();
    packed = false;
  }
  void TakePacked(std::string_view bytes) {
    packed = true;
    ForEachPacked(bytes, [this](std::uint64_t value) { values.push_back(value); });
  }
};

// A sample as on the wire; what its fields 2, 3 and 4 mean depends on the layout.
struct RawSample {
  std::uint64_t stack = 0;
  std::array<Numbers, 3> fields;
  std::vector<std::uint64_t> times;
};

struct SampleView {
  const std::vector<std::uint64_t>& attributes;
  const Numbers& link;
  const std::vector<std::uint64_t>& values;
};

SampleView Interpret(const RawSample& raw, ProfileLayout layout) {
  const auto& [second, third, fourth] = raw.fields;
  if (layout == ProfileLayout::kOtlp9) return {third.values, fourth, second.values};
  return {second.values, third, fourth.values};
}

// A profile's own fields; its samples are read afterwards.
struct ProfileHeader {
  std::int64_t type = 0, unit = 0, period_type = 0, period_unit = 0;
  std::int64_t period = 0;
  std::uint64_t time = 0, duration = 0;
  Numbers attributes;
};

constexpr std::string_view kOldLayout =
    "profiles layout before OTLP 1.9 is not supported; send OTLP 1.9 or newer";

class ProfileReader {
 public:
  ProfileReader(TimeNs received, bool is_json) : received_(received), is_json_(is_json) {}
  Result<ProfileDecode> Read(std::string_view body);

 private:
  // Attributes of samples with the same indices become the same labels and link.
  struct LabelsAndLink {
    std::uint32_t labels = 0;
    std::uint32_t link = 0;
  };

  Status RefuseOldLayouts(const std::vector<std::string_view>& resources);
  static bool HasOldFields(std::string_view profile);
  std::uint64_t CountFaults(const std::vector<std::string_view>& resources, ProfileLayout layout);
  Status ReadResourceProfiles(std::string_view message);
  Status ReadScopeProfiles(std::string_view message);
  Status ReadProfile(std::string_view message);
  Status ReadSamples(std::string_view message, const SeriesType& type, std::int64_t period,
                     std::string& fault);
  Status AddSamples(const SeriesType& type, std::int64_t period, std::string& fault);
  ProfileHeader ReadHeader(std::string_view message) const;
  void ReadRawSample(std::string_view message);
  std::string_view FindFault(const RawSample& raw, ProfileLayout layout) const;
  bool RepeatsKey(const std::vector<std::uint64_t>& attributes);
  LabelsAndLink Attributes(const std::vector<std::uint64_t>& indices);
  Status AddSeries(const ProfileHeader& header, const SeriesType& type);
  void AddResource();

  TimeNs received_;
  bool is_json_;
  ProfileDecode result_;
  SampleBatch& batch_ = result_.batch;
  DecodeCounts& counts_ = result_.counts;
  SampleBuilder builder_{batch_, counts_};
  ProfileTables tables_{batch_, counts_, builder_};
  AttributePacker packer_{counts_, &tables_.strings()};
  Rejections rejections_;
  RawSample raw_;
  SampleLabels labels_;
  std::vector<std::uint64_t> keys_;
  std::unordered_map<std::string, LabelsAndLink> known_attributes_;
  std::string scratch_, packed_;
  std::string_view resource_, resource_schema_, scope_;
  bool resource_stored_ = false;
};

template <typename Function>
void ForEachProfile(std::string_view resource_profiles, Function function) {
  for (Message resource(resource_profiles); resource.next();) {
    if (resource.tag_and_type() != Bytes(2)) {
      resource.skip();
      continue;
    }
    for (Message scope(View(resource)); scope.next();) {
      if (scope.tag_and_type() == Bytes(2)) {
        function(View(scope));
      } else {
        scope.skip();
      }
    }
  }
}

Result<ProfileDecode> ProfileReader::Read(std::string_view body) {
  std::vector<std::string_view> resources;
  for (Message message(body); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        resources.push_back(View(message));
        break;
      case Bytes(2):
        TRY(tables_.Collect(View(message)));
        break;
      default:
        message.skip();
    }
  }
  if (resources.empty()) return std::move(result_);
  TRY(RefuseOldLayouts(resources));
  TRY(tables_.Build());
  result_.layout = ProfileLayout::kOtlp10;
  result_.has_time = true;
  if (!is_json_) {
    const std::uint64_t faults = CountFaults(resources, ProfileLayout::kOtlp10);
    if (faults > 0 && CountFaults(resources, ProfileLayout::kOtlp9) < faults) {
      result_.layout = ProfileLayout::kOtlp9;
    }
  }
  for (const std::string_view resource : resources) TRY(ReadResourceProfiles(resource));
  TRY(builder_.CheckSize());
  result_.rejected = rejections_.count();
  result_.message = rejections_.Message("profile");
  return std::move(result_);
}

Status ProfileReader::RefuseOldLayouts(const std::vector<std::string_view>& resources) {
  bool old = tables_.spells_keys();
  for (const std::string_view resource : resources) {
    ForEachProfile(resource, [&](std::string_view profile) { old = old || HasOldFields(profile); });
  }
  if (old) return Fail(Code::kInvalidArgument, std::string(kOldLayout));
  return {};
}

bool ProfileReader::HasOldFields(std::string_view profile) {
  int sample_types = 0;
  for (Message message(profile); message.next(); message.skip()) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        ++sample_types;
        break;
      // 1.3: the container's start time. 1.4 to 1.7: tables, or packed indices. 1.8: the profile
      // id, the count of dropped attributes, or indices of attributes.
      case Fixed64(2):
      case Bytes(3):
      case Bytes(4):
      case Bytes(6):
      case Bytes(8):
      case Varint(9):
      case Varint(12):
      case Bytes(12):
        return true;
      default:
        break;
    }
  }
  return sample_types > 1;
}

void ProfileReader::ReadRawSample(std::string_view bytes) {
  raw_.stack = 0;
  for (Numbers& field : raw_.fields) field.Clear();
  raw_.times.clear();
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Varint(1):
        raw_.stack = message.get_uint64();
        break;
      case Varint(2):
        raw_.fields[0].values.push_back(message.get_uint64());
        break;
      case Bytes(2):
        raw_.fields[0].TakePacked(View(message));
        break;
      case Varint(3):
        raw_.fields[1].values.push_back(message.get_uint64());
        break;
      case Bytes(3):
        raw_.fields[1].TakePacked(View(message));
        break;
      case Varint(4):
        raw_.fields[2].values.push_back(message.get_uint64());
        break;
      case Bytes(4):
        raw_.fields[2].TakePacked(View(message));
        break;
      case Fixed64(5):
        raw_.times.push_back(message.get_fixed64());
        break;
      case Bytes(5):
        for (const std::uint64_t time : message.get_packed_fixed64()) raw_.times.push_back(time);
        break;
      default:
        message.skip();
    }
  }
}

std::string_view ProfileReader::FindFault(const RawSample& raw, ProfileLayout layout) const {
  const SampleView sample = Interpret(raw, layout);
  if (raw.stack >= tables_.stack_count()) return "a stack index is outside of the table";
  if (tables_.IsBadStack(raw.stack)) return "a stack refers outside of the tables";
  for (const std::uint64_t index : sample.attributes) {
    if (index >= tables_.attributes().size()) return "an attribute index is outside of the table";
  }
  if (sample.link.packed || sample.link.values.size() > 1) return "a link index is a list";
  if (!sample.link.values.empty() && sample.link.values[0] != 0) {
    const std::uint64_t index = sample.link.values[0];
    if (index >= tables_.link_count()) return "a link index is outside of the table";
    if (tables_.LinkRowOf(index) == ProfileTables::kBadLink) return "a link has ids of wrong size";
  }
  if (sample.values.empty() && raw.times.empty()) return "a sample has neither value nor time";
  if (!sample.values.empty() && !raw.times.empty() && sample.values.size() != raw.times.size()) {
    return "a sample has unequal numbers of values and times";
  }
  return {};
}

bool ProfileReader::RepeatsKey(const std::vector<std::uint64_t>& attributes) {
  keys_.clear();
  for (const std::uint64_t index : attributes) {
    if (index < tables_.attributes().size()) {
      keys_.push_back(tables_.attributes()[index].key_index);
    }
  }
  std::sort(keys_.begin(), keys_.end());
  return std::adjacent_find(keys_.begin(), keys_.end()) != keys_.end();
}

std::uint64_t ProfileReader::CountFaults(const std::vector<std::string_view>& resources,
                                         ProfileLayout layout) {
  std::uint64_t faults = 0;
  for (const std::string_view resource : resources) {
    ForEachProfile(resource, [&](std::string_view profile) {
      for (Message message(profile); message.next();) {
        if (message.tag_and_type() != Bytes(2)) {
          message.skip();
          continue;
        }
        ReadRawSample(View(message));
        if (!FindFault(raw_, layout).empty() || RepeatsKey(Interpret(raw_, layout).attributes)) {
          ++faults;
        }
      }
    });
  }
  return faults;
}

Status ProfileReader::ReadResourceProfiles(std::string_view bytes) {
  resource_ = {};
  resource_schema_ = {};
  resource_stored_ = false;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        resource_ = View(message);
        break;
      case Bytes(3):
        resource_schema_ = View(message);
        break;
      default:
        message.skip();
    }
  }
  for (Message message(bytes); message.next();) {
    if (message.tag_and_type() == Bytes(2)) {
      TRY(ReadScopeProfiles(View(message)));
    } else {
      message.skip();
    }
  }
  return {};
}

Status ProfileReader::ReadScopeProfiles(std::string_view bytes) {
  scope_ = {};
  for (Message message(bytes); message.next();) {
    if (message.tag_and_type() == Bytes(1)) {
      scope_ = View(message);
    } else {
      message.skip();
    }
  }
  for (Message message(bytes); message.next();) {
    if (message.tag_and_type() == Bytes(2)) {
      TRY(ReadProfile(View(message)));
    } else {
      message.skip();
    }
  }
  return {};
}

ProfileHeader ProfileReader::ReadHeader(std::string_view bytes) const {
  ProfileHeader header;
  const auto value_type = [](std::string_view type_bytes, std::int64_t& type, std::int64_t& unit) {
    for (Message message(type_bytes); message.next();) {
      switch (message.tag_and_type()) {
        case Varint(1):
          type = message.get_int32();
          break;
        case Varint(2):
          unit = message.get_int32();
          break;
        default:
          message.skip();
      }
    }
  };
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        value_type(View(message), header.type, header.unit);
        break;
      case Fixed64(3):
        header.time = message.get_fixed64();
        break;
      case Varint(4):
        header.duration = message.get_uint64();
        break;
      case Bytes(5):
        value_type(View(message), header.period_type, header.period_unit);
        break;
      case Varint(6):
        header.period = message.get_int64();
        break;
      case Varint(11):
        header.attributes.values.push_back(message.get_uint64());
        break;
      case Bytes(11):
        header.attributes.TakePacked(View(message));
        break;
      default:
        message.skip();
    }
  }
  return header;
}

Status ProfileReader::ReadProfile(std::string_view bytes) {
  const ProfileHeader header = ReadHeader(bytes);
  std::string fault;
  for (const std::uint64_t index : header.attributes.values) {
    if (index >= tables_.attributes().size()) fault = "an attribute index is outside of the table";
  }
  for (const std::int64_t index :
       {header.type, header.unit, header.period_type, header.period_unit}) {
    if (index != 0 && tables_.StringAt(index).data() == nullptr) {
      fault = "a type's string index is outside of the table";
    }
  }
  if (header.time > INT64_MAX || header.duration > INT64_MAX) fault = "time is after the year 2262";
  const SeriesType type =
      NameSeries({tables_.StringAt(header.type), tables_.StringAt(header.unit),
                  tables_.StringAt(header.period_type), tables_.StringAt(header.period_unit)},
                 header.period, false, "mutex");
  const std::size_t samples_before = batch_.samples.size();
  if (fault.empty()) TRY(ReadSamples(bytes, type, header.period, fault));
  if (!fault.empty()) {
    batch_.samples.resize(samples_before);
    rejections_.Add("profile \"" + Quotable(type.text) + "\": " + fault);
    return {};
  }
  ++result_.profiles;
  if (batch_.samples.size() == samples_before) return {};
  TRY(AddSeries(header, type));
  // Samples without a time of their own carry the profile's, which is known only now.
  const TimeNs start = batch_.series.back().start;
  for (std::size_t i = samples_before; i < batch_.samples.size(); ++i) {
    if (batch_.samples[i].time.ns == INT64_MIN) batch_.samples[i].time = start;
  }
  return builder_.CheckSize();
}

Status ProfileReader::ReadSamples(std::string_view bytes, const SeriesType& type,
                                  std::int64_t period, std::string& fault) {
  for (Message message(bytes); message.next();) {
    if (message.tag_and_type() != Bytes(2)) {
      message.skip();
      continue;
    }
    ReadRawSample(View(message));
    fault = FindFault(raw_, result_.layout);
    if (fault.empty()) TRY(AddSamples(type, period, fault));
    if (!fault.empty()) return {};
  }
  return {};
}

Status ProfileReader::AddSamples(const SeriesType& type, std::int64_t period, std::string& fault) {
  const SampleView sample = Interpret(raw_, result_.layout);
  const LabelsAndLink known = Attributes(sample.attributes);
  SampleRow row;
  row.series = static_cast<std::uint32_t>(batch_.series.size());
  row.stack = static_cast<std::uint32_t>(raw_.stack);
  row.labels = known.labels;
  row.link = known.link;
  if (!sample.link.values.empty() && sample.link.values[0] != 0) {
    row.link = tables_.LinkRowOf(sample.link.values[0]);
  }
  const std::size_t count = std::max(sample.values.size(), raw_.times.size());
  for (std::size_t i = 0; i < count; ++i) {
    row.value = sample.values.empty() ? 1 : static_cast<std::int64_t>(sample.values[i]);
    if (type.times_period && __builtin_mul_overflow(row.value, period, &row.value)) {
      fault = "a count times the period is more than 64 bits hold";
      return {};
    }
    row.time = {INT64_MIN};
    if (!raw_.times.empty()) {
      if (raw_.times[i] > INT64_MAX) {
        fault = "a sample's time is after the year 2262";
        return {};
      }
      row.time = {static_cast<std::int64_t>(raw_.times[i])};
      batch_.timed = true;
    }
    TRY(builder_.AddSample(row));
  }
  return {};
}

ProfileReader::LabelsAndLink ProfileReader::Attributes(const std::vector<std::uint64_t>& indices) {
  if (indices.empty()) return {};
  scratch_.assign(BytesOfArray(indices.data(), indices.size()));
  const auto [it, added] = known_attributes_.try_emplace(scratch_);
  if (!added) return it->second;
  labels_.Clear();
  std::size_t count = 0;
  for (const std::uint64_t index : indices) {
    if (++count > limits::kAttributesPerSpanMax) {
      ++counts_.dropped;
      continue;
    }
    const ProfileTables::Attribute& attribute = tables_.attributes()[index];
    if (attribute.key.empty()) continue;
    packed_.clear();
    packer_.Append(packed_, attribute.key, attribute.value);
    const AttributeList one(packed_);
    const auto [key, value] = *one.begin();
    if (value.kind() == ValueKind::kString) {
      labels_.AddText(key, value.text());
    } else {
      labels_.packed() += packed_;
    }
  }
  it->second = {builder_.Labels(labels_.packed()), builder_.Link(labels_.link())};
  return it->second;
}

Status ProfileReader::AddSeries(const ProfileHeader& header, const SeriesType& type) {
  if (!resource_stored_) {
    AddResource();
    TRY(builder_.CheckSize());
  }
  SeriesRow row;
  row.resource = static_cast<std::uint32_t>(batch_.resources.size() - 1);
  row.type = batch_.Add(CleanText(type.text, limits::kNameBytesMax, scratch_, counts_));
  packed_.clear();
  for (const std::uint64_t index : header.attributes.values) {
    const ProfileTables::Attribute& attribute = tables_.attributes()[index];
    if (!attribute.key.empty()) packer_.Append(packed_, attribute.key, attribute.value);
    if (packed_.size() > limits::kAttributeValueBytesMax) break;
  }
  for (Message message(scope_); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
      case Bytes(2): {
        const bool is_name = message.tag() == 1;
        const std::string_view text =
            CleanText(View(message), limits::kAttributeKeyBytesMax, scratch_, counts_);
        if (text.empty()) break;
        AttributeWriter(packed_).Add(is_name ? "otel.scope.name" : "otel.scope.version",
                                     Value::String(text));
        break;
      }
      default:
        message.skip();
    }
  }
  row.attributes = batch_.Add(packed_);
  row.period = std::max<std::int64_t>(header.period, 0);
  row.start = {static_cast<std::int64_t>(header.time)};
  if (header.time == 0) {
    row.start = received_;
    result_.has_time = result_.has_time && batch_.samples.back().time.ns != INT64_MIN;
    for (std::size_t i = batch_.samples.size(); i-- > 0;) {
      const SampleRow& sample = batch_.samples[i];
      if (sample.series != batch_.series.size()) break;
      if (sample.time.ns != INT64_MIN) row.start = std::min(row.start, sample.time);
    }
  }
  row.duration = {static_cast<std::int64_t>(header.duration)};
  batch_.series.push_back(row);
  return {};
}

void ProfileReader::AddResource() {
  ResourceRow row;
  const std::size_t begin = batch_.arena.size();
  std::size_t count = 0;
  for (Message message(resource_); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1): {
        const std::string_view attribute = View(message);
        if (++count <= limits::kAttributesPerSpanMax) {
          packer_.AppendKeyValue(batch_.arena, attribute);
        } else {
          ++counts_.dropped;
        }
        break;
      }
      case Varint(2):
        row.dropped_attributes = message.get_uint32();
        break;
      default:
        message.skip();
    }
  }
  row.attributes = {static_cast<std::uint32_t>(begin),
                    static_cast<std::uint32_t>(batch_.arena.size() - begin)};
  std::string service(batch_.Attributes(row.attributes).FindText("service.name"));
  if (service.empty()) service = "unknown_service";
  row.service_name =
      batch_.Add(CleanText(service, limits::kAttributeKeyBytesMax, scratch_, counts_));
  row.schema_url =
      batch_.Add(CleanText(resource_schema_, limits::kNameBytesMax, scratch_, counts_));
  batch_.resources.push_back(row);
  resource_stored_ = true;
}

Result<ProfileDecode> DecodeProtobuf(std::string_view body, TimeNs received, bool is_json) {
  try {
    auto decoded = ProfileReader(received, is_json).Read(body);
    if (!decoded) return Fail(std::move(decoded.error()).Within("otlp profile"));
    return decoded;
  } catch (const protozero::exception& error) {
    return Fail(Code::kInvalidArgument,
                std::string("otlp profile: malformed protobuf: ") + error.what());
  }
}

}  // namespace

Result<ProfileDecode> DecodeProfiles(std::string_view body, Encoding encoding, TimeNs received) {
  if (body.size() > limits::kMessageBytesMax) {
    return Fail(Code::kResourceExhausted, "otlp profile: body is larger than the limit of " +
                                              std::to_string(limits::kMessageBytesMax) + " bytes");
  }
  if (encoding == Encoding::kProtobuf) return DecodeProtobuf(body, received, false);
  auto transcoded = TranscodeProfilesJson(body);
  if (!transcoded) return Fail(std::move(transcoded.error()).Within("otlp profile"));
  auto decoded = DecodeProtobuf(transcoded->protobuf, received, true);
  if (decoded && transcoded->repaired_utf8) ++decoded->counts.invalid_utf8;
  return decoded;
}

}  // namespace hotspan::wire
