// The files of the web page, embedded by tools/gen_assets.py when it was built before the server.
//
// Threads: constant data.
#pragma once

#include <span>
#include <string_view>

namespace hotspan::serve {

struct Asset {
  std::string_view path;  // "index.html", "assets/app-1a2b3c.js"
  std::string_view content_type;
  std::string_view etag;  // quoted
  std::string_view bytes;
  std::string_view gzip;   // empty: not worth it
  bool immutable = false;  // its name has a hash of its content
};

// Sorted by path; empty without a page.
std::span<const Asset> Assets();

// Null if there is no such file.
const Asset* FindAsset(std::string_view path);

}  // namespace hotspan::serve
