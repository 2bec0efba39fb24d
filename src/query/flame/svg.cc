#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "query/flame/formats.h"

namespace hotspan::query::flame {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 8;
constexpr int kBarHeight = 17;
constexpr int kHeaderHeight = 40;
constexpr double kCharWidth = 6.6;  // of the monospaced font at 11 px
constexpr double kWidthMin = 0.15;  // narrower bars can't be seen

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : ReplaceInvalidUtf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML has no control characters but these.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n') out += c;
    }
  }
  return out;
}

// The first `width` characters of a name, marked where it is cut; empty if too few fit.
std::string Fitted(std::string_view name, std::size_t width) {
  if (width < 3) return "";
  const std::string valid = ReplaceInvalidUtf8(name);
  std::size_t at = 0;
  std::size_t cut = 0;
  for (std::size_t characters = 0; at < valid.size(); ++characters) {
    if (characters + 2 == width) cut = at;
    if (characters == width) return valid.substr(0, cut) + "..";
    at += Utf8SequenceSize(valid, at);
  }
  return valid;
}

// A warm colour that only depends on the name.
std::string ColourOf(std::string_view name) {
  if (name == kRootName || name == kOtherName) return "#d8d4cd";
  const std::uint64_t hash = HashOf(name);
  const auto hue = 8 + hash % 44;
  const auto light = 62 + (hash >> 16) % 12;
  return fmt::format("hsl({},72%,{}%)", hue, light);
}

void AppendBar(std::string& out, double x, double width, std::size_t depth, std::string_view name,
               std::string_view tooltip) {
  const int y = kHeaderHeight + static_cast<int>(depth) * kBarHeight;
  out += fmt::format(
      "<g><title>{}</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" rx=\"2\" "
      "fill=\"{}\"/>",
      tooltip, x, y, width, kBarHeight - 1, ColourOf(name));
  const std::string text =
      Fitted(name, static_cast<std::size_t>(std::max(0.0, width - 6) / kCharWidth));
  if (!text.empty()) {
    out += fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + 3, y + 12, Escaped(text));
  }
  out += "</g>\n";
}

std::string Duration(double nanoseconds) {
  if (nanoseconds >= 1e9) return fmt::format("{:.2f} s", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  if (nanoseconds >= 1e3) return fmt::format("{:.3g} us", nanoseconds / 1e3);
  return fmt::format("{:.0f} ns", nanoseconds);
}

}  // namespace

std::string FormatValue(std::int64_t value, std::string_view unit) {
  const auto number = static_cast<double>(value);
  if (unit == "nanoseconds") return Duration(number);
  if (unit == "microseconds") return Duration(number * 1e3);
  if (unit == "milliseconds") return Duration(number * 1e6);
  if (unit == "seconds") return Duration(number * 1e9);
  if (unit == "bytes") {
    if (number >= 1073741824.0) return fmt::format("{:.2f} GiB", number / 1073741824.0);
    if (number >= 1048576.0) return fmt::format("{:.1f} MiB", number / 1048576.0);
    if (number >= 1024.0) return fmt::format("{:.1f} KiB", number / 1024.0);
    return fmt::format("{} B", value);
  }
  return fmt::format("{}", value);
}

std::string FlameSvg(const FlameGraph& graph, const RenderOptions& options) {
  const auto height = kHeaderHeight + static_cast<int>(graph.levels.size()) * kBarHeight +
                      static_cast<int>(kMargin);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fffdf9\"/>\n"
      "<text x=\"{2}\" y=\"24\" font-size=\"14\">{3}</text>\n",
      kWidth, height, kMargin, Escaped(options.title));
  const auto total = static_cast<double>(std::max<std::int64_t>(graph.total, 1));
  const double scale = (kWidth - 2 * kMargin) / total;
  for (std::size_t depth = 0; depth < graph.levels.size(); ++depth) {
    const auto& level = graph.levels[depth];
    std::int64_t x = 0;
    for (std::size_t i = 0; i + 3 < level.size(); i += 4) {
      x = AddSaturating(x, level[i]);
      const std::int64_t value = level[i + 1];
      const double width = depth == 0 ? kWidth - 2 * kMargin : static_cast<double>(value) * scale;
      const std::string& name = graph.names[static_cast<std::size_t>(level[i + 3])];
      if (width >= kWidthMin) {
        const std::string tooltip =
            fmt::format("{} ({}, {:.2f}%)", Escaped(name), FormatValue(value, options.unit),
                        100 * static_cast<double>(value) / total);
        AppendBar(out, kMargin + static_cast<double>(x) * scale, width, depth, name, tooltip);
      }
      x = AddSaturating(x, value);
    }
  }
  return out + "</svg>\n";
}

}  // namespace hotspan::query::flame
