// What a frame's name tells: library or user code, the kind of work, whether it is work that should
// not be repeated. The patterns are data (frame_patterns.cc), one table per question.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/stack.h"

namespace hotspan::correlate {

// Work that libraries do for a program.
enum class Family : std::uint8_t {
  kNone,
  kRegex,
  kJson,
  kXml,
  kProtobuf,
  kSerialization,
  kCompression,
  kCrypto,
  kLogging,
  kSorting,
  kHashing,
  kDatabase,
  kHttpClient,
};

// Work whose result can be kept between requests.
enum class Reusable : std::uint8_t {
  kNone,
  kRegexCompile,
  kConfigParse,
  kTlsHandshake,
  kConnectionOpen,
  kDnsLookup,
};

// How people call it, and what to do about it.
struct WorkText {
  std::string_view noun;
  std::string_view fix;
};
const WorkText& TextOf(Family family);
const WorkText& TextOf(Reusable reusable);

struct FrameTraits {
  bool vendor = false;             // of a standard library, runtime or well-known library
  Family library = Family::kNone;  // a library's frame of that family
  Family by_name = Family::kNone;  // the program's own frame, named like that work
  Reusable reusable = Reusable::kNone;
  bool mapper = false;   // serializer, repository, mapper: code that walks over a collection
  bool look_up = false;  // loads one thing: get..., load..., find...
  bool gc = false;       // garbage collector
};

FrameTraits TraitsOf(const Frame& frame);

// The name without return type, template arguments and parameters:
// "bool ns::(anonymous namespace)::Match<int>(char const*)" is "ns::Match". Names of other
// languages stay.
std::string QualifiedName(std::string_view function);
// The part after the last "::", "." or "/".
std::string_view LastPart(std::string_view qualified_name);
// Lower case without "-", "_" and ".".
std::string Canonical(std::string_view name);

}  // namespace hotspan::correlate
