// Numbers, tables and query strings for people and URLs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace hotspan::cli {

// "812 ms", "1.25 s", "37 µs".
std::string FormatDuration(std::int64_t ns);
// In the user's zone: "2026-11-21 12:03:44.125".
std::string FormatLocalTime(std::int64_t ns);
std::string FormatPercent(double share);

std::string UrlEncode(std::string_view text);
// "path?a=1&b=2", leaving out empty values.
std::string Target(std::string_view path,
                   const std::vector<std::pair<std::string_view, std::string>>& query);

// Columns as wide as their widest cell; the last is not padded.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  // `right`: columns that are numbers.
  void SetRight(std::vector<bool> right) { right_ = std::move(right); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

// Code points, for alignment.
std::size_t DisplayWidth(std::string_view text);
std::string Cut(std::string_view text, std::size_t width);

}  // namespace hotspan::cli
