#include "serve/api/metrics_text.h"

#include <fmt/format.h>

namespace hotspan::serve {

void MetricsText::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = std::string(name);
  out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::Begin(Labels labels) {
  out_ += name_;
  char separator = '{';
  for (const auto& [key, value] : labels) {
    out_.push_back(separator);
    separator = ',';
    out_ += key;
    out_ += "=\"";
    for (const char c : value) {
      if (c == '\n') {
        out_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') out_.push_back('\\');
      out_.push_back(c);
    }
    out_.push_back('"');
  }
  if (separator == ',') out_.push_back('}');
  out_.push_back(' ');
}

void MetricsText::Value(Labels labels, double value) {
  Begin(labels);
  out_ += fmt::format("{}\n", value);
}

void MetricsText::Value(Labels labels, std::uint64_t value) {
  Begin(labels);
  out_ += fmt::format("{}\n", value);
}

void MetricsText::Single(std::string_view name, std::string_view type, std::string_view help,
                         std::uint64_t value) {
  Family(name, type, help);
  Value({}, value);
}

}  // namespace hotspan::serve
