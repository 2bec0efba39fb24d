// Prometheus' text format, one family after the other.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hotspan::serve {

class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // `type` is "counter" or "gauge". Values follow.
  void Family(std::string_view name, std::string_view type, std::string_view help);
  void Value(Labels labels, double value);
  void Value(Labels labels, std::uint64_t value);
  // A family of one value without labels.
  void Single(std::string_view name, std::string_view type, std::string_view help,
              std::uint64_t value);

  std::string Take() { return std::move(out_); }

 private:
  void Begin(Labels labels);

  std::string out_;
  std::string name_;
};

}  // namespace hotspan::serve
