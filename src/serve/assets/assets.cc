#include "serve/assets/assets.h"

namespace hotspan::serve {

const Asset* FindAsset(std::string_view path) {
  for (const Asset& asset : Assets()) {
    if (asset.path == path) return &asset;
  }
  return nullptr;
}

}  // namespace hotspan::serve
