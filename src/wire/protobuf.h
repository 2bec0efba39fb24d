// Short names for reading protobuf with protozero by field number and wire type.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace hotspan::wire {

// A message being read, field by field.
class Message : public protozero::pbf_reader {
 public:
  explicit Message(std::string_view bytes) : pbf_reader(bytes.data(), bytes.size()) {}
};

// Cases for switch (message.tag_and_type()).
constexpr std::uint32_t Varint(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t Fixed64(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64);
}
constexpr std::uint32_t Bytes(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}
constexpr std::uint32_t Fixed32(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed32);
}

// The content of a length-delimited field.
inline std::string_view View(Message& message) {
  const auto view = message.get_view();
  return {view.data(), view.size()};
}

// The varints of a packed field; throws protozero::exception if the last one is cut.
template <typename Function>
void ForEachPacked(std::string_view packed, Function function) {
  const char* at = packed.data();
  const char* const end = at + packed.size();
  while (at != end) function(protozero::decode_varint(&at, end));
}

}  // namespace hotspan::wire
