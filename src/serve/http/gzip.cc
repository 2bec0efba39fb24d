#include "serve/http/gzip.h"

#include <libdeflate.h>

#include <memory>

#include "serve/http/message.h"

namespace hotspan::serve {

std::string GzipCompress(std::string_view bytes, int level) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (compressor == nullptr) return {};
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    const std::string item = ToLowerAscii(TrimSpace(accept_encoding.substr(0, comma)));
    accept_encoding =
        comma == std::string_view::npos ? std::string_view{} : accept_encoding.substr(comma + 1);
    const std::string name = MediaType(item);
    if (name != "gzip" && name != "*") continue;
    const std::size_t q = item.find("q=");
    if (q == std::string::npos) return true;
    return item.find_first_of("123456789", q) != std::string::npos;
  }
  return false;
}

}  // namespace hotspan::serve
