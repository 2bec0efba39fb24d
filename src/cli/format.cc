#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace hotspan::cli {

std::string FormatDuration(std::int64_t ns) {
  const double value = static_cast<double>(ns);
  const double size = std::abs(value);
  const auto digits = [](double v) { return v < 10 ? 2 : v < 100 ? 1 : 0; };
  if (size < 1e3) return fmt::format("{} ns", ns);
  if (size < 1e6) return fmt::format("{:.{}f} µs", value / 1e3, digits(size / 1e3));
  if (size < 1e9) return fmt::format("{:.{}f} ms", value / 1e6, digits(size / 1e6));
  return fmt::format("{:.{}f} s", value / 1e9, digits(size / 1e9));
}

std::string FormatLocalTime(std::int64_t ns) {
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return fmt::format("{}.{:03}", std::string_view(text, size), ns / 1'000'000 % 1000);
}

std::string FormatPercent(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

std::string UrlEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string Target(std::string_view path,
                   const std::vector<std::pair<std::string_view, std::string>>& query) {
  std::string target(path);
  char separator = '?';
  for (const auto& [key, value] : query) {
    if (value.empty()) continue;
    target += fmt::format("{}{}={}", separator, key, UrlEncode(value));
    separator = '&';
  }
  return target;
}

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string Cut(std::string_view text, std::size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::size_t bytes = 0;
  std::size_t shown = 0;
  while (bytes < text.size() && shown + 1 < width) {
    ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) ++bytes;
    ++shown;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

void Table::Print(std::ostream& out) const {
  std::vector<std::size_t> widths(rows_[0].size());
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], DisplayWidth(row[column]));
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool last = column + 1 == row.size();
      const bool right = column < right_.size() && right_[column];
      const std::string padding(widths[column] - DisplayWidth(row[column]), ' ');
      if (right) line += padding;
      line += row[column];
      if (!right && !last) line += padding;
      if (!last) line += "  ";
    }
    out << line << '\n';
  }
}

}  // namespace hotspan::cli
