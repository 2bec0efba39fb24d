#include "base/log.h"

#include <cstdio>

namespace hotspan {
namespace {

LogSink& Sink() {
  static LogSink sink = [](LogLevel, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  return sink;
}

}  // namespace

void SetLogSink(LogSink sink) { Sink() = std::move(sink); }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line(event);
  for (const auto& [name, value] : fields) {
    line += ' ';
    line += name;
    line += '=';
    line += value;
  }
  Sink()(level, line);
}

}  // namespace hotspan
