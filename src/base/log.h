// The log as a seam: base formats a line, app decides where lines go (standard error by default).
//
//   LogInfo("listening", {{"address", "127.0.0.1:4040"}});
//
// Threads: any thread may log; SetLogSink is called once, before threads start.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hotspan {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogField = std::pair<std::string_view, std::string>;
using LogSink = std::function<void(LogLevel, std::string_view line)>;

void SetLogSink(LogSink sink);
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

inline void LogInfo(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kInfo, event, fields);
}
inline void LogWarning(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kWarning, event, fields);
}
inline void LogError(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kError, event, fields);
}

}  // namespace hotspan
