#include "storage/embedded/column.h"

#include <algorithm>
#include <bit>

namespace hotspan::storage::embedded {

void AppendColumn(std::string& out, std::span<const std::int64_t> values) {
  std::int64_t min = 0, max = 0;
  if (!values.empty()) {
    const auto [low, high] = std::ranges::minmax_element(values);
    min = *low;
    max = *high;
  }
  const std::uint64_t spread = static_cast<std::uint64_t>(max) - static_cast<std::uint64_t>(min);
  const auto width = static_cast<std::uint8_t>((std::bit_width(spread) + 7) / 8);
  AppendRaw(out, min);
  AppendRaw(out, max);
  AppendRaw(out, width);
  AppendRaw(out, static_cast<std::uint32_t>(values.size()));
  const std::size_t at = out.size();
  out.resize(at + values.size() * width + 8);
  char* data = out.data() + at;
  for (const std::int64_t value : values) {
    const std::uint64_t delta = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(min);
    std::memcpy(data, &delta, width);
    data += width;
  }
}

ColumnView::ColumnView(ByteReader& reader) {
  min_ = static_cast<std::uint64_t>(reader.Raw<std::int64_t>());
  spread_ = static_cast<std::uint64_t>(reader.Raw<std::int64_t>()) - min_;
  width_ = reader.Raw<std::uint8_t>();
  count_ = reader.Raw<std::uint32_t>();
  const std::string_view data = reader.Bytes(std::size_t{count_} * width_ + 8);
  if (reader.failed() || width_ > 8) {
    count_ = 0;
    return;
  }
  mask_ = width_ == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width_)) - 1;
  data_ = data.data();
}

}  // namespace hotspan::storage::embedded
