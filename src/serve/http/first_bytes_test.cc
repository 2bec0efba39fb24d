#include "serve/http/first_bytes.h"

#include <gtest/gtest.h>

namespace hotspan::serve {
namespace {

TEST(FirstBytes, TellsHttp2ByItsPreface) {
  EXPECT_EQ(DetectProtocol("PRI * HTTP/2.0"), Protocol::kHttp2);
  EXPECT_EQ(DetectProtocol("PRI "), Protocol::kHttp2);
}

TEST(FirstBytes, WaitsWhereThePrefaceMayStillCome) {
  EXPECT_EQ(DetectProtocol(""), Protocol::kNeedMore);
  EXPECT_EQ(DetectProtocol("P"), Protocol::kNeedMore);
  EXPECT_EQ(DetectProtocol("PRI"), Protocol::kNeedMore);
  EXPECT_EQ(DetectProtocol("\x16"), Protocol::kNeedMore);
}

TEST(FirstBytes, TellsTlsByItsRecord) {
  EXPECT_EQ(DetectProtocol("\x16\x03\x01\x02"), Protocol::kTls);
  EXPECT_EQ(DetectProtocol("\x16\x15"), Protocol::kHttp1);
}

TEST(FirstBytes, TakesTheRestForHttp1) {
  EXPECT_EQ(DetectProtocol("GET / HT"), Protocol::kHttp1);
  EXPECT_EQ(DetectProtocol("PO"), Protocol::kHttp1);
  EXPECT_EQ(DetectProtocol("PRIX"), Protocol::kHttp1);
}

}  // namespace
}  // namespace hotspan::serve
