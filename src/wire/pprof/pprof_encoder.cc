#include "wire/pprof/pprof_encoder.h"

#include <libdeflate.h>

#include <map>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/check.h"

namespace hotspan::wire {
namespace {

constexpr int kGzipLevel = 6;

struct CompressorFree {
  void operator()(libdeflate_compressor* it) const { libdeflate_free_compressor(it); }
};

std::string Gzip(std::string_view body) {
  const std::unique_ptr<libdeflate_compressor, CompressorFree> tool(
      libdeflate_alloc_compressor(kGzipLevel));
  CHECK(tool != nullptr);
  std::string out(libdeflate_gzip_compress_bound(tool.get(), body.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(tool.get(), body.data(), body.size(), out.data(), out.size()));
  return out;
}

class Encoder {
 public:
  explicit Encoder(const PprofInput& input) : input_(input) { StringIndex(""); }

  std::string Encode() {
    ValueType(1, input_.type, input_.unit);
    for (const auto& [frames, value] : input_.stacks) Sample(frames, value);
    WriteTables();
    if (!input_.period_type.empty()) ValueType(11, input_.period_type, input_.period_unit);
    if (input_.period != 0) out_.add_int64(12, input_.period);
    if (input_.time.ns != 0) out_.add_int64(9, input_.time.ns);
    if (input_.duration.ns != 0) out_.add_int64(10, input_.duration.ns);
    for (const std::string_view text : strings_) out_.add_string(6, text.data(), text.size());
    return Gzip(body_);
  }

 private:
  std::int64_t StringIndex(std::string_view text) {
    const auto [it, added] = string_index_.try_emplace(text, strings_.size());
    if (added) strings_.push_back(text);
    return static_cast<std::int64_t>(it->second);
  }

  void ValueType(std::uint32_t field, std::string_view type, std::string_view unit) {
    protozero::pbf_writer message(out_, field);
    message.add_int64(1, StringIndex(type));
    message.add_int64(2, StringIndex(unit));
  }

  // Frames that were inlined into the next one share its location, as pprof has it.
  void Sample(const std::vector<std::uint32_t>& frames, std::int64_t value) {
    std::vector<std::uint64_t> ids;
    std::vector<std::uint32_t> chain;
    for (const std::uint32_t frame : frames) {
      chain.push_back(frame);
      if (input_.frames.frames[frame].inlined) continue;
      ids.push_back(LocationId(chain));
      chain.clear();
    }
    if (!chain.empty()) ids.push_back(LocationId(chain));
    protozero::pbf_writer message(out_, 2);
    message.add_packed_uint64(1, ids.begin(), ids.end());
    const std::int64_t values[] = {value};
    message.add_packed_int64(2, std::begin(values), std::end(values));
  }

  std::uint64_t LocationId(const std::vector<std::uint32_t>& chain) {
    return locations_.try_emplace(chain, locations_.size() + 1).first->second;
  }

  std::uint64_t FunctionId(const Frame& frame) {
    const auto key = std::pair(StringIndex(frame.function), StringIndex(frame.file));
    return functions_.try_emplace(key, functions_.size() + 1).first->second;
  }

  std::uint64_t MappingId(const Frame& frame) {
    if (frame.module.empty() && frame.build_id.empty()) return 0;
    const auto key = std::pair(StringIndex(frame.module), StringIndex(frame.build_id));
    return mappings_.try_emplace(key, mappings_.size() + 1).first->second;
  }

  void WriteTables() {
    for (const auto& [chain, id] : locations_) {
      const Frame& outer = input_.frames.frames[chain.back()];
      protozero::pbf_writer message(out_, 4);
      message.add_uint64(1, id);
      if (const std::uint64_t mapping = MappingId(outer); mapping != 0) {
        message.add_uint64(2, mapping);
      }
      if (outer.address != 0) message.add_uint64(3, outer.address);
      for (const std::uint32_t index : chain) {
        const Frame& frame = input_.frames.frames[index];
        if (!frame.symbolized) continue;
        protozero::pbf_writer line(message, 4);
        line.add_uint64(1, FunctionId(frame));
        if (frame.line != 0) line.add_int64(2, frame.line);
      }
    }
    for (const auto& [key, id] : functions_) {
      protozero::pbf_writer message(out_, 5);
      message.add_uint64(1, id);
      message.add_int64(2, key.first);
      message.add_int64(4, key.second);
    }
    for (const auto& [key, id] : mappings_) {
      protozero::pbf_writer message(out_, 3);
      message.add_uint64(1, id);
      // Addresses are file offsets: a mapping from zero on keeps them as they are.
      message.add_uint64(3, UINT64_MAX);
      message.add_int64(5, key.first);
      message.add_int64(6, key.second);
      message.add_bool(7, true);
    }
  }

  const PprofInput& input_;
  std::string body_;
  protozero::pbf_writer out_{body_};
  std::vector<std::string_view> strings_;
  std::unordered_map<std::string_view, std::size_t> string_index_;
  std::map<std::vector<std::uint32_t>, std::uint64_t> locations_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> functions_, mappings_;
};

}  // namespace

std::string EncodePprof(const PprofInput& input) { return Encoder(input).Encode(); }

}  // namespace hotspan::wire
