#include "base/function_name.h"

#include <gtest/gtest.h>

namespace hotspan {
namespace {

TEST(ShortFunctionName, DropsParametersTemplatesAndReturnTypes) {
  EXPECT_EQ(ShortFunctionName("OrderService::calculateTax(OrderService::Order&, demo::Budget&)"),
            "OrderService::calculateTax");
  EXPECT_EQ(ShortFunctionName("std::vector<int, std::allocator<int> >::push_back(int&&)"),
            "std::vector::push_back");
  EXPECT_EQ(ShortFunctionName("bool std::regex_match<char>(char const*, int) const"),
            "std::regex_match");
  EXPECT_EQ(ShortFunctionName("demo::Name[abi:cxx11](int)"), "demo::Name");
  EXPECT_EQ(ShortFunctionName("Cart::price() const"), "Cart::price");
  EXPECT_EQ(ShortFunctionName("std::unique_ptr<A> Make<A, (B)3>(int)"), "Make");
}

TEST(ShortFunctionName, KeepsOperatorsLambdasAndAnonymousNamespaces) {
  EXPECT_EQ(ShortFunctionName("std::function<void (int)>::operator()(int) const"),
            "std::function::operator()");
  EXPECT_EQ(ShortFunctionName("std::ostream& operator<< <char>(std::ostream&, char)"),
            "operator<<");
  EXPECT_EQ(ShortFunctionName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(ShortFunctionName("a::(anonymous namespace)::F(int)"), "a::(anonymous namespace)::F");
  EXPECT_EQ(ShortFunctionName("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda}::operator()");
  EXPECT_EQ(ShortFunctionName("f()::<lambda(const Request&)>"), "f::<lambda>");
}

TEST(ShortFunctionName, LeavesOtherNamesAlone) {
  for (const char* name :
       {"main", "pthread_mutex_lock", "main.(*Server).serve", "[io] pread64 /tmp/a b", "",
        "java.util.HashMap.get", "broken<(", "[runnable]", "runtime.mcall"}) {
    EXPECT_EQ(ShortFunctionName(name), name);
  }
}

}  // namespace
}  // namespace hotspan
