// Result<T>: a value, or an Error with a code, a message and, for parse errors, an offset.
//
// Errors are for causes outside the program (input, disk, network). Codes are gRPC's numbers, so
// that serve maps them to HTTP statuses in one table. Add context outward with Within().
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hotspan {

enum class Code : int {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// The snake_case name of a code, as in the JSON of our API ("invalid_argument").
std::string_view CodeName(Code code);

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // The parameter or field at fault, where one is known.
  const std::string& field() const { return field_; }
  // Byte offset in the input, for parse errors.
  std::optional<std::size_t> offset() const { return offset_; }

  Error&& Field(std::string field) && {
    field_ = std::move(field);
    return std::move(*this);
  }
  Error&& At(std::size_t offset) && {
    offset_ = offset;
    return std::move(*this);
  }
  // Prefixes the message: Error("bad length").Within("otlp trace") reads "otlp trace: bad length".
  Error&& Within(std::string_view context) && {
    message_.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

 private:
  Code code_;
  std::string message_;
  std::string field_;
  std::optional<std::size_t> offset_;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace hotspan

#define HOTSPAN_CONCAT_INNER(a, b) a##b
#define HOTSPAN_CONCAT(a, b) HOTSPAN_CONCAT_INNER(a, b)

// Returns the error of an expression that yields Status or Result.
#define TRY(expression)                                      \
  do {                                                       \
    auto try_status = (expression);                          \
    if (!try_status) [[unlikely]]                            \
      return ::hotspan::Fail(std::move(try_status).error()); \
  } while (false)

// TRY_ASSIGN(auto x, F()): declares or assigns the value, or returns the error.
#define TRY_ASSIGN(target, expression)                                                \
  auto HOTSPAN_CONCAT(try_result_, __LINE__) = (expression);                          \
  if (!HOTSPAN_CONCAT(try_result_, __LINE__)) [[unlikely]]                            \
    return ::hotspan::Fail(std::move(HOTSPAN_CONCAT(try_result_, __LINE__)).error()); \
  target = std::move(*HOTSPAN_CONCAT(try_result_, __LINE__))
