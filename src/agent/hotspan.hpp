// libhotspan for C++: two lines give a program traces and profiles that know each other.
//
//   int main() {
//     hotspan::Agent agent({.service_name = "checkout"});       // samples every thread from here
//     on
//     ...
//   }
//   void Pay(const Request& request) {
//     auto span = hotspan::Span::Server("POST /pay", request.Header("traceparent"));
//     span.Set("cart.items", 12);
//     CallBank(headers.Add("traceparent", hotspan::Traceparent()));
//   }  // the span ends here
//
// A Span is current on its thread from construction to destruction; spans made meanwhile are its
// children, and samples taken meanwhile carry its id. The place of construction is recorded as
// code.file.path, code.function.name and code.line.number.
// Threads: a Span belongs to the thread that made it; see Detach and Attach for moving it.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "hotspan.h"

namespace hotspan {

struct AgentOptions {
  std::string service_name;
  std::string service_version;
  std::string endpoint;
  int cpu_hz = 0;
  bool verbose = true;
};

// Starts the library for the life of this object.
class Agent {
 public:
  explicit Agent(const AgentOptions& options = {}) {
    hotspan_options c_options{};
    c_options.size = sizeof(c_options);
    c_options.service_name = OrNull(options.service_name);
    c_options.service_version = OrNull(options.service_version);
    c_options.endpoint = OrNull(options.endpoint);
    c_options.cpu_hz = options.cpu_hz;
    c_options.verbose = options.verbose ? 1 : 0;
    started_ = hotspan_start(&c_options) == 0;
  }
  ~Agent() { hotspan_stop(); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  bool started() const { return started_; }
  // Sends what has been gathered; true when the server has taken it all.
  bool Flush(int timeout_ms = 2000) { return hotspan_flush(timeout_ms) == 0; }

 private:
  static const char* OrNull(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  }
  bool started_ = false;
};

class Span {
 public:
  explicit Span(const char* name, std::source_location where = std::source_location::current())
      : Span(Start(name, HOTSPAN_INTERNAL, where)) {}

  // A span of this service's work for a request; `traceparent` may be empty.
  static Span Server(const std::string& name, const std::string& traceparent = {},
                     const std::string& tracestate = {},
                     std::source_location where = std::source_location::current()) {
    return Span(hotspan_span_start_remote(name.c_str(), HOTSPAN_SERVER, traceparent.c_str(),
                                          tracestate.c_str(), where.file_name(),
                                          where.function_name(), static_cast<int>(where.line())));
  }
  // A span around a call to something else.
  static Span Client(const std::string& name,
                     std::source_location where = std::source_location::current()) {
    return Span(Start(name.c_str(), HOTSPAN_CLIENT, where));
  }

  Span(Span&& other) noexcept : span_(std::exchange(other.span_, nullptr)) {}
  Span& operator=(Span&&) = delete;
  // Ends the span; leaving by an exception marks it as failed.
  ~Span() {
    if (span_ == nullptr) return;
    if (std::uncaught_exceptions() > exceptions_) hotspan_span_set_error(span_, "exception");
    hotspan_span_end(span_);
  }

  Span& Set(const char* key, std::string_view value) {
    hotspan_span_set_string(span_, key, value.data(), value.size());
    return *this;
  }
  Span& Set(const char* key, const char* value) { return Set(key, std::string_view(value)); }
  Span& Set(const char* key, bool value) {
    hotspan_span_set_bool(span_, key, value ? 1 : 0);
    return *this;
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Span& Set(const char* key, T value) {
    hotspan_span_set_int(span_, key, static_cast<std::int64_t>(value));
    return *this;
  }
  Span& Set(const char* key, double value) {
    hotspan_span_set_double(span_, key, value);
    return *this;
  }
  Span& Event(const char* name) {
    hotspan_span_add_event(span_, name);
    return *this;
  }
  Span& Error(const std::string& message) {
    hotspan_span_set_error(span_, message.c_str());
    return *this;
  }
  // Takes it off this thread, so that another may Attach it.
  void Detach() { hotspan_span_detach(span_); }
  void Attach() { hotspan_span_attach(span_); }

  std::string TraceId() const { return Hex(Context().trace_id, 16); }
  std::string SpanId() const { return Hex(Context().span_id, 8); }
  hotspan_context Context() const {
    hotspan_context context{};
    hotspan_span_context(span_, &context);
    return context;
  }

 private:
  explicit Span(hotspan_span* span) : span_(span) {}
  static hotspan_span* Start(const char* name, int kind, const std::source_location& where) {
    return hotspan_span_start(name, kind, where.file_name(), where.function_name(),
                              static_cast<int>(where.line()));
  }
  static std::string Hex(const std::uint8_t* bytes, std::size_t size) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (std::size_t i = 0; i < size; ++i) {
      hex += kDigits[bytes[i] >> 4];
      hex += kDigits[bytes[i] & 15];
    }
    return hex;
  }

  hotspan_span* span_;
  int exceptions_ = std::uncaught_exceptions();
};

// Makes another tracer's span the one that samples of this thread carry, for the life of this
// object.
class ScopedContext {
 public:
  explicit ScopedContext(const hotspan_context& context) { hotspan_ctx_attach(&context); }
  ~ScopedContext() { hotspan_ctx_detach(); }
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
};

// The W3C traceparent header of the current context, or "".
inline std::string Traceparent() {
  char text[56];
  hotspan_traceparent(text);
  return text;
}

}  // namespace hotspan
