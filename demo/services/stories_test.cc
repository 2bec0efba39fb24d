// Holds truth.json against the code it speaks of. Runs in the folder of the project.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "demo/services/cart_serializer.h"
#include "demo/services/order_totals.h"

namespace demo {
namespace {

namespace json = boost::json;

std::string ReadFile(const std::string& path) {
  const std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

json::value Truth() { return json::parse(ReadFile("demo/truth.json")); }

const json::object& Story(const json::value& truth, std::string_view name) {
  for (const json::value& story : truth.at("stories").as_array()) {
    if (story.at("name").as_string() == json::string_view(name.data(), name.size())) {
      return story.as_object();
    }
  }
  ADD_FAILURE() << "no story " << name;
  return truth.as_object();
}

std::string Text(const json::value& value) { return std::string(value.as_string()); }

// The part behind the last "::".
std::string ShortName(const json::value& function) {
  const std::string name = Text(function);
  return name.substr(name.rfind(':') + 1);
}

TEST(Truth, NamesFunctionsAndLinesThatStandInTheSources) {
  const json::value truth = Truth();
  for (const json::value& story : truth.at("stories").as_array()) {
    const std::string source = ReadFile(Text(story.at("file")));
    for (const json::value& finding : story.at("findings").as_array()) {
      const json::object& fields = finding.as_object();
      for (const char* key : {"line_text", "holder_line_text"}) {
        const json::value* line = fields.if_contains(key);
        if (line == nullptr) continue;
        EXPECT_NE(source.find(Text(*line)), std::string::npos) << Text(*line);
      }
      for (const char* key : {"function", "callee", "holder_function"}) {
        const json::value* function = fields.if_contains(key);
        if (function == nullptr) continue;
        EXPECT_NE(source.find(ShortName(*function) + "("), std::string::npos) << Text(*function);
      }
    }
  }
}

TEST(Truth, NamesEachFindingsLineOnlyOnceExceptForTheLock) {
  const json::value truth = Truth();
  for (const char* name : {"order", "users", "checkout"}) {
    const json::object& story = Story(truth, name);
    const std::string source = ReadFile(Text(story.at("file")));
    for (const json::value& finding : story.at("findings").as_array()) {
      const std::string line = Text(finding.at("line_text"));
      EXPECT_EQ(source.find(line), source.rfind(line)) << line;
    }
  }
}

TEST(Truth, StatesTheSharesOfTheOrderTotals) {
  const json::value truth = Truth();
  double sum = 0;
  std::map<std::string, double> own;
  std::map<std::string, double> total;
  std::map<std::string, std::string> parents;
  for (const json::value& function : Story(truth, "order").at("functions").as_array()) {
    const std::string name = ShortName(function.at("function"));
    own[name] = function.at("own").as_double();
    total[name] = function.at("total").as_double();
    parents[name] = ShortName(function.at("parent"));
    sum += own[name];
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
  for (const auto& [name, share] : total) {
    double below = own[name];
    for (const auto& [child, parent] : parents) below += parent == name ? total[child] : 0;
    EXPECT_NEAR(below, share, 1e-9) << name;
  }
  const std::vector<double>& shares = OrderService::Shares();
  EXPECT_NEAR(own["validateLineItems"], shares[OrderService::kValidateLineItems], 1e-9);
  EXPECT_NEAR(own["checkPriceRules"], shares[OrderService::kCheckPriceRules], 1e-9);
  EXPECT_NEAR(own["matchPricePattern"], shares[OrderService::kMatchPricePattern], 1e-9);
  EXPECT_NEAR(own["calculateTax"], shares[OrderService::kCalculateTax], 1e-9);
  EXPECT_NEAR(own["loadDiscountRules"], shares[OrderService::kLoadDiscountRules], 1e-9);
  EXPECT_NEAR(own["parseRulesConfig"], shares[OrderService::kParseRulesConfig], 1e-9);
  EXPECT_NEAR(own["evaluateRules"], shares[OrderService::kEvaluateRules], 1e-9);
  EXPECT_NEAR(own["formatResponse"], shares[OrderService::kFormatResponse], 1e-9);
  EXPECT_NEAR(own["serializeOrderResult"], shares[OrderService::kSerializeOrderResult], 1e-9);
}

TEST(CartSerializer, WritesEveryAttributeOfEveryItem) {
  const std::vector<CatalogueEntry> catalogue = MakeCatalogue();
  const std::vector<CartItem> cart = {{.sku = catalogue.front().sku, .quantity = 3},
                                      {.sku = catalogue.back().sku, .quantity = 1}};
  const json::value written = json::parse(CartSerializer(catalogue).toJson(cart));
  ASSERT_EQ(written.as_array().size(), 2u);
  EXPECT_EQ(written.at(0).at("title").as_string(), "title 0");
  EXPECT_EQ(written.at(0).at("quantity").as_int64(), 3);
  EXPECT_EQ(written.at(1).at("shelf").as_string(), "shelf 23999");
}

TEST(CartSerializer, LooksUpAsManyAttributesAsTheTruthSays) {
  const json::value truth = Truth();
  const std::int64_t calls = Story(truth, "checkout").at("findings").at(0).at("calls").as_int64();
  const json::value written = json::parse(CartSerializer(MakeCatalogue()).toJson({MakeCart()[0]}));
  const std::size_t attributes = written.at(0).as_object().size() - 1;
  EXPECT_EQ(static_cast<std::int64_t>(MakeCart().size() * attributes), calls);
}

}  // namespace
}  // namespace demo
