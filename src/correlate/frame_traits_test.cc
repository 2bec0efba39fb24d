#include "correlate/frame_traits.h"

#include <gtest/gtest.h>

namespace hotspan::correlate {
namespace {

Frame Named(std::string function, std::string module = "") {
  Frame frame;
  frame.function = std::move(function);
  frame.module = std::move(module);
  return frame;
}

TEST(QualifiedName, DropsReturnTypeArgumentsAndAnonymousNamespaces) {
  EXPECT_EQ(QualifiedName("bool OrderService::(anonymous namespace)::matchPricePattern("
                          "std::string const&)"),
            "OrderService::matchPricePattern");
  EXPECT_EQ(QualifiedName("std::__detail::_Executor<char const*, std::vector<int>, true>::_M_dfs("
                          "std::__detail::_Match_mode, long)"),
            "std::__detail::_Executor::_M_dfs");
  EXPECT_EQ(QualifiedName("void std::sort<int*, (anonymous namespace)::Less>(int*, int*)"),
            "std::sort");
  EXPECT_EQ(QualifiedName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(QualifiedName("ns::Box::operator()(int) const"), "ns::Box::operator()");
  EXPECT_EQ(QualifiedName("bool ns::operator<(ns::A const&, ns::A const&)"), "ns::operator<");
  EXPECT_EQ(
      QualifiedName("demo::MakeShop(demo::Settings const&)::{lambda(demo::Request const&)#1}::"
                    "operator()(demo::Request const&) const"),
      "demo::MakeShop::{lambda}::operator()");
  EXPECT_EQ(QualifiedName("main"), "main");
}

TEST(QualifiedName, LeavesOtherLanguagesAlone) {
  EXPECT_EQ(QualifiedName("net/http.(*Client).Do"), "net/http.(*Client).Do");
  EXPECT_EQ(QualifiedName("com.shop.Cart.<init>"), "com.shop.Cart.<init>");
  EXPECT_EQ(QualifiedName("<module>"), "<module>");
  EXPECT_EQ(QualifiedName("[lock] futex(wait)"), "[lock] futex(wait)");
}

TEST(QualifiedName, EndsOnDamagedNames) {
  EXPECT_EQ(QualifiedName("f<<<("), "f");
  EXPECT_EQ(QualifiedName("("), "(");
  EXPECT_EQ(QualifiedName(""), "");
}

TEST(TraitsOf, KnowsFamiliesOfLibraries) {
  struct Case {
    const char* function;
    Family family;
  };
  for (const Case& c : {
           Case{"std::__detail::_Executor<char const*>::_M_dfs(long)", Family::kRegex},
           Case{"bool std::regex_match<char>(char const*)", Family::kRegex},
           Case{"boost::json::parse(std::string_view)", Family::kJson},
           Case{"boost::json::serialize(boost::json::value const&)", Family::kSerialization},
           Case{"nlohmann::basic_json<>::parse(int)", Family::kJson},
           Case{"rapidjson::GenericReader<>::Parse()", Family::kJson},
           Case{"simdjson::dom::parser::parse()", Family::kJson},
           Case{"google::protobuf::MessageLite::ParseFromArray", Family::kProtobuf},
           Case{"sqlite3_step", Family::kDatabase},
           Case{"ZSTD_compressBlock_fast", Family::kCompression},
           Case{"EVP_DigestUpdate", Family::kCrypto},
           Case{"spdlog::logger::log_it_", Family::kLogging},
           Case{"void std::sort<int*>(int*, int*)", Family::kSorting},
           Case{"XXH3_64bits", Family::kHashing},
           Case{"curl_easy_perform", Family::kHttpClient},
           Case{"regexp.(*Regexp).doExecute", Family::kRegex},
           Case{"encoding/json.Marshal", Family::kSerialization},
           Case{"encoding/json.Unmarshal", Family::kJson},
           Case{"net/http.(*Client).Do", Family::kHttpClient},
           Case{"java.util.regex.Matcher.match", Family::kRegex},
           Case{"com.fasterxml.jackson.core.json.ReaderBasedJsonParser.nextToken", Family::kJson},
           Case{"org.hibernate.loader.Loader.doQuery", Family::kDatabase},
           Case{"json.dumps", Family::kSerialization},
           Case{"re.match", Family::kRegex},
           Case{"logging.Logger.info", Family::kLogging},
       }) {
    const FrameTraits traits = TraitsOf(Named(c.function));
    EXPECT_EQ(traits.library, c.family) << c.function;
    EXPECT_TRUE(traits.vendor) << c.function;
  }
  EXPECT_EQ(TraitsOf(Named("btreeParseCell", "libsqlite3.so.0")).library, Family::kDatabase);
}

TEST(TraitsOf, TellsOwnCodeFromLibraries) {
  for (const char* own : {"OrderService::applyDiscounts(Order&)", "readConfigs()", "main",
                          "shop.cart.total", "com.shop.Cart.total", "memberList", "PQueue::push"}) {
    EXPECT_FALSE(TraitsOf(Named(own)).vendor) << own;
  }
  for (const char* vendor : {"malloc", "operator new(unsigned long)", "__memmove_avx_unaligned",
                             "std::thread::_M_run()", "[io] read", "start_thread"}) {
    EXPECT_TRUE(TraitsOf(Named(vendor)).vendor) << vendor;
  }
}

TEST(TraitsOf, TellsWhatLiesBetweenALockAndItsCallerByItsFile) {
  Frame frame = Named("futex_wait");
  EXPECT_FALSE(TraitsOf(frame).vendor);
  frame.file = "../sysdeps/nptl/futex-internal.h";
  EXPECT_TRUE(TraitsOf(frame).vendor);
  frame = Named("WaitForLock<pthread_mutex_t>");
  EXPECT_FALSE(TraitsOf(frame).vendor);
  frame.file = "/usr/src/hotspan/src/agent/lock_interpose.cc";
  EXPECT_TRUE(TraitsOf(frame).vendor);
}

TEST(TraitsOf, KnowsOwnCodeByName) {
  EXPECT_EQ(TraitsOf(Named("shop::serializeOrderResult()")).by_name, Family::kSerialization);
  EXPECT_EQ(TraitsOf(Named("OrderService::parseRulesConfig(std::string const&)")).reusable,
            Reusable::kConfigParse);
  EXPECT_EQ(TraitsOf(Named("OrderService::loadDiscountRules()")).reusable, Reusable::kConfigParse);
  EXPECT_EQ(TraitsOf(Named("OrderService::evaluateRules()")).reusable, Reusable::kNone);
  EXPECT_EQ(TraitsOf(Named("std::basic_regex<char>::basic_regex(char const*)")).reusable,
            Reusable::kRegexCompile);
  EXPECT_EQ(TraitsOf(Named("getaddrinfo")).reusable, Reusable::kDnsLookup);
  EXPECT_TRUE(TraitsOf(Named("CartSerializer::toJson(Cart const&)")).mapper);
  EXPECT_TRUE(TraitsOf(Named("CartSerializer::loadAttribute(int)")).look_up);
  EXPECT_TRUE(TraitsOf(Named("runtime.gcAssistAlloc")).gc);
}

TEST(Canonical, IgnoresCaseAndSeparators) {
  EXPECT_EQ(Canonical("Order-Service"), Canonical("order_service"));
  EXPECT_EQ(Canonical("order.service"), "orderservice");
}

}  // namespace
}  // namespace hotspan::correlate
