// Carts and the catalogue of their products' attributes. CartSerializer::toJson is the planted loop
// in code: it looks every attribute of every item up one by one, without a span or a query to see.
// Threads: all objects may be read by several threads.
#pragma once

#include <string>
#include <vector>

namespace demo {

struct CatalogueEntry {
  std::string sku;
  std::string key;
  std::string value;
};

struct CartItem {
  std::string sku;
  int quantity = 0;
};

std::vector<CatalogueEntry> MakeCatalogue();
std::vector<CartItem> MakeCart();

class CartSerializer {
 public:
  explicit CartSerializer(const std::vector<CatalogueEntry>& catalogue) : catalogue_(catalogue) {}

  std::string toJson(const std::vector<CartItem>& cart) const;

 private:
  // Searches the whole catalogue, entry by entry; "" where the product has no such attribute.
  const std::string& loadAttribute(const std::string& sku, const std::string& key) const;

  const std::vector<CatalogueEntry>& catalogue_;
};

}  // namespace demo
