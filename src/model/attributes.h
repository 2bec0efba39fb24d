// Attributes as OpenTelemetry has them (any value, arrays and maps), packed into bytes.
//
// A packed list is, for each attribute: varint key size, key, kind byte, payload. Payloads: string,
// bytes, array and map have a varint size and that many bytes; int and double 8 bytes; bool 1. An
// array's bytes are kind and payload of each element; a map's are a packed list. Documented in
// docs/formats/storage.md: kinds are on disk, never renumber.
//
//   std::string packed;
//   AttributeWriter(packed).Add("http.method", Value::String("GET"));
//   for (const auto& [key, value] : AttributeList(packed)) ...
//
// Threads: values; no shared state. Views point into the packed bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hotspan {

// On disk: never renumber.
enum class ValueKind : std::uint8_t {
  kEmpty = 0,
  kString = 1,
  kBool = 2,
  kInt = 3,
  kDouble = 4,
  kBytes = 5,
  kArray = 6,
  kMap = 7,
};

// One value; text, bytes and the packed content of arrays and maps are views.
class Value {
 public:
  Value() = default;
  static Value String(std::string_view text) { return Value(ValueKind::kString, text); }
  static Value Bytes(std::string_view bytes) { return Value(ValueKind::kBytes, bytes); }
  // `packed` as written by ValueWriter.
  static Value Array(std::string_view packed) { return Value(ValueKind::kArray, packed); }
  // `packed` as written by AttributeWriter.
  static Value Map(std::string_view packed) { return Value(ValueKind::kMap, packed); }
  static Value Bool(bool value) { return Value(ValueKind::kBool, value ? 1 : 0); }
  static Value Int(std::int64_t value) { return Value(ValueKind::kInt, value); }
  static Value Double(double value);

  ValueKind kind() const { return kind_; }
  // For strings and bytes; packed content for arrays and maps; else empty.
  std::string_view text() const { return text_; }
  bool AsBool() const { return number_ != 0; }
  std::int64_t AsInt() const { return number_; }
  double AsDouble() const;
  // Int or double as double; nothing for other kinds.
  std::optional<double> AsNumber() const;
  // The value as a person reads it: text as it is, numbers in decimal, arrays and maps as JSON.
  std::string ToText() const;

  bool operator==(const Value&) const = default;

 private:
  Value(ValueKind kind, std::string_view text) : kind_(kind), text_(text) {}
  Value(ValueKind kind, std::int64_t number) : kind_(kind), number_(number) {}

  ValueKind kind_ = ValueKind::kEmpty;
  std::int64_t number_ = 0;  // also a double's bits
  std::string_view text_;
};

// Appends elements of an array.
class ValueWriter {
 public:
  explicit ValueWriter(std::string& out) : out_(out) {}
  void Add(const Value& value);

 private:
  std::string& out_;
};

// Appends attributes.
class AttributeWriter {
 public:
  explicit AttributeWriter(std::string& out) : out_(out) {}
  AttributeWriter& Add(std::string_view key, const Value& value);

 private:
  std::string& out_;
};

// Elements of a packed array, in order. Damaged bytes end the iteration.
class ValueList {
 public:
  explicit ValueList(std::string_view packed) : packed_(packed) {}

  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) { Next(); }
    const Value& operator*() const { return value_; }
    Iterator& operator++() {
      Next();
      return *this;
    }
    bool operator==(std::nullptr_t) const { return done_; }

   private:
    void Next();
    std::string_view rest_;
    Value value_;
    bool done_ = false;
  };
  Iterator begin() const { return Iterator(packed_); }
  std::nullptr_t end() const { return nullptr; }

 private:
  std::string_view packed_;
};

// Attributes of a packed list, in order. Damaged bytes end the iteration.
class AttributeList {
 public:
  AttributeList() = default;
  explicit AttributeList(std::string_view packed) : packed_(packed) {}

  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) { Next(); }
    const std::pair<std::string_view, Value>& operator*() const { return entry_; }
    const std::pair<std::string_view, Value>* operator->() const { return &entry_; }
    Iterator& operator++() {
      Next();
      return *this;
    }
    bool operator==(std::nullptr_t) const { return done_; }

   private:
    void Next();
    std::string_view rest_;
    std::pair<std::string_view, Value> entry_;
    bool done_ = false;
  };
  Iterator begin() const { return Iterator(packed_); }
  std::nullptr_t end() const { return nullptr; }
  bool empty() const { return packed_.empty(); }
  std::string_view packed() const { return packed_; }

  // The first attribute of that key.
  std::optional<Value> Find(std::string_view key) const;
  // Its text if it is a string, else "".
  std::string_view FindText(std::string_view key) const;

 private:
  std::string_view packed_;
};

}  // namespace hotspan
