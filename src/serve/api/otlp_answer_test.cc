#include "serve/api/otlp_answer.h"

#include <gtest/gtest.h>

namespace hotspan::serve {
namespace {

TEST(OtlpAnswer, IsEmptyWhenAllWasTaken) {
  EXPECT_EQ(OtlpResponseProto(OtlpSignal::kTraces, {5, 0, "", false}), "");
  EXPECT_EQ(OtlpResponseJson(OtlpSignal::kTraces, {5, 0, "", false}), "{}");
}

TEST(OtlpAnswer, NamesWhatWasRejected) {
  const ingest::Receipt receipt{1, 2, "no id", false};
  // Field 1: { 1: 2, 2: "no id" }.
  EXPECT_EQ(OtlpResponseProto(OtlpSignal::kTraces, receipt),
            std::string("\x0a\x09\x08\x02\x12\x05no id"));
  EXPECT_EQ(OtlpResponseJson(OtlpSignal::kTraces, receipt),
            R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"no id"}})");
  EXPECT_EQ(OtlpResponseJson(OtlpSignal::kProfiles, receipt),
            R"({"partialSuccess":{"rejectedProfiles":"2","errorMessage":"no id"}})");
}

TEST(OtlpAnswer, EncodesStatus) {
  EXPECT_EQ(RpcStatusProto(3, "bad"), std::string("\x08\x03\x12\x03") + "bad");
  EXPECT_EQ(RpcStatusJson(3, "bad"), R"({"code":3,"message":"bad"})");
}

TEST(OtlpAnswer, TellsSendersWhetherToRetry) {
  const auto of = [](Code code, const char* field) {
    return RefusalOf(Error(code, "x").Field(field));
  };
  EXPECT_EQ(of(Code::kInvalidArgument, "").http_status, 400);
  EXPECT_EQ(of(Code::kInvalidArgument, "content-type").http_status, 415);
  EXPECT_EQ(of(Code::kResourceExhausted, "").http_status, 413);
  EXPECT_EQ(of(Code::kResourceExhausted, "").retry_after_seconds, 0);
  EXPECT_EQ(of(Code::kResourceExhausted, "in-flight").http_status, 429);
  EXPECT_GT(of(Code::kResourceExhausted, "in-flight").retry_after_seconds, 0);
  EXPECT_EQ(of(Code::kUnavailable, "").http_status, 503);
  EXPECT_GT(of(Code::kUnavailable, "").retry_after_seconds, 0);
  EXPECT_EQ(of(Code::kInternal, "").http_status, 500);
}

}  // namespace
}  // namespace hotspan::serve
