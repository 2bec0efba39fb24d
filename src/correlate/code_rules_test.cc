#include "correlate/code_rules.h"

#include <gtest/gtest.h>

#include <random>

#include "correlate/test_world.h"

namespace hotspan::correlate {
namespace {

const std::string kRoot =
    "main;demo::HttpServer::Serve(int);OrderService::calculateTotals(Order&):10;";

struct Part {
  std::string stack;
  double share;
};

// The tree of work of an order, with its truth.
const std::vector<Part>& OrderParts() {
  static const std::vector<Part> parts = {
      {kRoot + "OrderService::validateLineItems(Order&):20", 0.05},
      {kRoot +
           "OrderService::validateLineItems(Order&):21;OrderService::checkPriceRules(Order&):30",
       0.05},
      {kRoot +
           "OrderService::validateLineItems(Order&):21;OrderService::checkPriceRules(Order&):31;"
           "OrderService::(anonymous namespace)::matchPricePattern(std::string const&):40;"
           "bool std::regex_match<char>(char const*);std::__detail::_Executor<char>::_M_dfs(long)",
       0.15},
      {kRoot + "OrderService::validateLineItems(Order&):22;OrderService::calculateTax(Order&):50",
       0.10},
      {kRoot + "OrderService::applyDiscounts(Order&):60;OrderService::loadDiscountRules(Order&):70",
       0.06},
      {kRoot +
           "OrderService::applyDiscounts(Order&):60;OrderService::loadDiscountRules(Order&):71;"
           "OrderService::parseRulesConfig(std::string const&):80;boost::json::parse(int);malloc",
       0.12},
      {kRoot + "OrderService::applyDiscounts(Order&):61;OrderService::evaluateRules(Order&):90",
       0.22},
      {kRoot + "OrderService::formatResponse(Order&):100", 0.07},
      {kRoot +
           "OrderService::formatResponse(Order&):101;OrderService::serializeOrderResult(int):110;"
           "boost::json::serialize(boost::json::value const&)",
       0.18},
  };
  return parts;
}

class CodeRulesTest : public testing::Test {
 protected:
  // `spans` spans of `per_span` samples, drawn by the parts' shares.
  CodeView View(const std::vector<Part>& parts, int spans, int per_span) {
    std::mt19937_64 random(5);
    std::vector<double> weights;
    for (const Part& part : parts) weights.push_back(part.share);
    std::discrete_distribution<std::size_t> draw(weights.begin(), weights.end());
    for (int span = 0; span < spans; ++span) {
      const auto id = static_cast<std::uint64_t>(span) + 1;
      request_.spans.push_back({World::Trace(id), World::Span(id)});
      for (int i = 0; i < per_span; ++i) {
        world_.Add(SampleSpec{
            .trace = id, .span = id, .stack = parts[draw(random)].stack, .at_ns = i * kPeriod});
      }
    }
    world_.Write();
    auto samples = world_.engine().ReadSamples(request_);
    CHECK(samples.has_value());
    const double own = static_cast<double>(per_span) * kPeriod;
    auto view = MakeCodeView(world_.frames(), *samples,
                             std::vector<double>(static_cast<std::size_t>(spans), own));
    CHECK(view.has_value());
    view->scale_ns = view->duration_ns = own;
    view->pooled = spans > 1;
    view->service = "order-service";
    return std::move(*view);
  }
  static const Finding* At(const std::vector<Finding>& findings, std::string_view function) {
    for (const Finding& finding : findings) {
      if (finding.location.function == function) return &finding;
    }
    return nullptr;
  }

  World world_;
  storage::SamplesBySpans request_;
};

TEST_F(CodeRulesTest, NamesTheThreeLeavesOfAnOrderAndNotTheirParents) {
  const CodeView view = View(OrderParts(), 60, 56);
  const std::vector<Finding> findings = FindCode(view, {});
  const Finding* regex = At(findings, "OrderService::matchPricePattern");
  const Finding* json = At(findings, "OrderService::parseRulesConfig");
  const Finding* serialize = At(findings, "OrderService::serializeOrderResult");
  ASSERT_NE(regex, nullptr);
  ASSERT_NE(json, nullptr);
  ASSERT_NE(serialize, nullptr);
  EXPECT_EQ(regex->kind, "hot_function");
  EXPECT_NE(regex->title.find("regular expression"), std::string::npos);
  EXPECT_EQ(regex->location.line, 40);
  EXPECT_EQ(json->kind, "repeated_work");
  EXPECT_NE(json->title.find("every request"), std::string::npos);
  EXPECT_EQ(json->location.line, 80);
  EXPECT_NE(serialize->title.find("serialization"), std::string::npos);
  const std::pair<const Finding*, double> truths[] = {
      {regex, 0.15}, {json, 0.12}, {serialize, 0.18}};
  for (const auto& [finding, share] : truths) {
    const double truth = share * view.scale_ns;
    EXPECT_NEAR(static_cast<double>(finding->saves_ns), truth, 0.02 * view.scale_ns);
    EXPECT_LE(static_cast<double>(finding->saves_low_ns), truth);
    EXPECT_GE(static_cast<double>(finding->saves_high_ns), truth);
    EXPECT_GE(finding->severity, Severity::kMedium);
    EXPECT_TRUE(finding->pooled);
    EXPECT_FALSE(finding->fix.empty());
    EXPECT_GE(finding->evidence.size(), 2u);
  }
  EXPECT_EQ(At(findings, "OrderService::checkPriceRules"), nullptr);
  EXPECT_EQ(At(findings, "OrderService::calculateTotals"), nullptr);
  EXPECT_EQ(At(findings, "main"), nullptr);
}

TEST_F(CodeRulesTest, ParseInSomeRequestsOnlyIsNotRepeatedWork) {
  std::vector<Part> parse = {
      {"main;Shop::work():1;parseRulesConfig():80;boost::json::parse(int)", 1}};
  // One span of 40 parses, the others do something else.
  for (int span = 0; span < 40; ++span) {
    const auto id = static_cast<std::uint64_t>(span) + 1;
    request_.spans.push_back({World::Trace(id), World::Span(id)});
    world_.AddMany(SampleSpec{.trace = id,
                              .span = id,
                              .stack = span % 4 == 0 ? parse[0].stack : "main;Shop::work():1"},
                   20);
  }
  world_.Write();
  const auto samples = world_.engine().ReadSamples(request_);
  auto view = MakeCodeView(world_.frames(), *samples, std::vector<double>(40, 20.0 * kPeriod));
  view->scale_ns = view->duration_ns = 20.0 * kPeriod;
  view->pooled = true;
  for (const Finding& finding : FindCode(*view, {})) EXPECT_NE(finding.kind, "repeated_work");
}

TEST_F(CodeRulesTest, SuspectsALoopWhereOneLookUpDominatesASerializer) {
  const std::string to_json =
      "main;CheckoutService::calculateTotal():5;CartSerializer::toJson(Cart&):";
  const CodeView view = View({{to_json + "12;CartSerializer::loadAttribute(int):33;memcpy", 0.8},
                              {to_json + "14", 0.1},
                              {"main;CheckoutService::calculateTotal():6", 0.1}},
                             1, 60);
  const std::vector<Finding> findings = FindCode(view, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "loop_in_code");
  EXPECT_EQ(findings[0].location.function, "CartSerializer::toJson");
  EXPECT_EQ(findings[0].location.line, 12);
  EXPECT_NE(findings[0].title.find("not counted"), std::string::npos);
  CodeRulesOptions with_children;
  with_children.has_children = true;
  for (const Finding& finding : FindCode(view, with_children)) {
    EXPECT_NE(finding.kind, "loop_in_code");
  }
}

TEST_F(CodeRulesTest, NamesAHotFunctionWithTheLibrariesItCalls) {
  const CodeView view = View({{"main;Shop::handle():1;Shop::spin():7", 0.5},
                              {"main;Shop::handle():1;Shop::spin():8;memcpy", 0.3},
                              {"main;Shop::handle():2", 0.2}},
                             1, 100);
  const std::vector<Finding> findings = FindCode(view, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "hot_function");
  EXPECT_EQ(findings[0].location.function, "Shop::spin");
  EXPECT_EQ(findings[0].location.line, 7);
  EXPECT_EQ(At(findings, "Shop::handle"), nullptr);
  EXPECT_EQ(findings[0].severity, Severity::kHigh);
}

TEST_F(CodeRulesTest, NamesASubtreeWhoseTimeIsSpreadOverManyFunctions) {
  std::vector<Part> parts = {{"main;Shop::handle():1;Shop::other():2", 0.3}};
  for (char c = 'a'; c < 'h'; ++c) {
    parts.push_back(
        {"main;Shop::handle():1;Shop::wide():2;Shop::step" + std::string(1, c) + "():3", 0.1});
  }
  const std::vector<Finding> findings = FindCode(View(parts, 1, 400), {});
  EXPECT_NE(At(findings, "Shop::wide"), nullptr);
  EXPECT_EQ(At(findings, "Shop::handle"), nullptr);
}

TEST_F(CodeRulesTest, FewSamplesProveNothing) {
  EXPECT_TRUE(
      FindCode(View({{"main;Shop::a():1", 0.5}, {"main;Shop::b():1", 0.5}}, 1, 3), {}).empty());
}

TEST_F(CodeRulesTest, AHealthySpanHasNothingUrgent) {
  std::vector<Part> parts;
  for (char c = 'a'; c < 'k'; ++c) {
    parts.push_back({"main;Shop::handle():1;Shop::step" + std::string(1, c) + "():3", 0.1});
  }
  parts.push_back({"main;Shop::handle():1;Shop::render():2;boost::json::serialize(int)", 0.08});
  for (const Finding& finding : FindCode(View(parts, 100, 4), {})) {
    EXPECT_LT(finding.severity, Severity::kMedium) << finding.title;
  }
}

TEST_F(CodeRulesTest, TheSameSamplesGiveTheSameFindings) {
  const CodeView view = View(OrderParts(), 20, 56);
  const auto first = FindCode(view, {});
  const auto second = FindCode(view, {});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].title, second[i].title);
    EXPECT_EQ(first[i].saves_ns, second[i].saves_ns);
  }
}

}  // namespace
}  // namespace hotspan::correlate
