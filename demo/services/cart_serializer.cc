#include "demo/services/cart_serializer.h"

#include <array>

namespace demo {
namespace {

constexpr int kProducts = 24'000;
constexpr int kCartItems = 40;

const std::array<std::string, 12>& AttributeKeys() {
  static const std::array<std::string, 12> keys = {"title",   "brand",  "colour",   "size",
                                                   "weight",  "origin", "care",     "material",
                                                   "taxcode", "price",  "currency", "shelf"};
  return keys;
}

std::string Sku(int product) { return "SKU-" + std::to_string(100'000 + product); }

}  // namespace

std::vector<CatalogueEntry> MakeCatalogue() {
  std::vector<CatalogueEntry> catalogue;
  for (int product = 0; product < kProducts; ++product) {
    for (const std::string& key : AttributeKeys()) {
      catalogue.push_back(
          {.sku = Sku(product), .key = key, .value = key + " " + std::to_string(product)});
    }
  }
  return catalogue;
}

std::vector<CartItem> MakeCart() {
  std::vector<CartItem> cart;
  for (int i = 0; i < kCartItems; ++i) {
    cart.push_back({.sku = Sku((i + 1) * kProducts / kCartItems - 1), .quantity = 1 + i % 3});
  }
  return cart;
}

[[gnu::noinline]] const std::string& CartSerializer::loadAttribute(const std::string& sku,
                                                                   const std::string& key) const {
  static const std::string none;
  for (const CatalogueEntry& entry : catalogue_) {
    if (entry.sku == sku && entry.key == key) return entry.value;
  }
  return none;
}

[[gnu::noinline]] std::string CartSerializer::toJson(const std::vector<CartItem>& cart) const {
  std::string json = "[";
  for (const CartItem& item : cart) {
    json += json.size() == 1 ? "{" : ",{";
    for (const std::string& key : AttributeKeys()) {
      json += "\"" + key + "\":\"" + loadAttribute(item.sku, key) + "\",";
    }
    json += "\"quantity\":" + std::to_string(item.quantity) + "}";
  }
  return json + "]";
}

}  // namespace demo
