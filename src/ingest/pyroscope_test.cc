#include "ingest/pyroscope.h"

#include <gtest/gtest.h>

#include "wire/test_protobuf.h"

namespace hotspan::ingest {
namespace {

constexpr TimeNs kNow{1'700'000'000'000'000'000};

IngestQuery Query(std::string_view text) {
  auto query = ParseIngestQuery(text, kNow);
  EXPECT_TRUE(query) << (query ? "" : query.error().message());
  return query ? *query : IngestQuery{};
}

std::string Pprof() {
  using wire::Pb;
  Pb profile;
  for (const char* text : {"", "delay", "nanoseconds", "main"}) profile.Text(6, text);
  profile.Sub(1, Pb().Int(1, 1).Int(2, 2)).Sub(5, Pb().Int(1, 1).Int(2, 3));
  profile.Sub(4, Pb().Int(1, 1).Sub(4, Pb().Int(1, 1))).Sub(2, Pb().Int(1, 1).Int(2, 5));
  return profile.text();
}

TEST(IngestQuery, ReadsNameLabelsAndTimes) {
  const IngestQuery query = Query(
      "name=shop.cart%7Benv%3Dprod%2C%20host%3D%22a%2Cb%22%7D&from=1700000000&until=1700000010000"
      "&sampleRate=97&spyName=pyspy&units=samples&format=weird");
  EXPECT_EQ(query.service, "shop.cart");
  ASSERT_EQ(query.labels.size(), 2u);
  EXPECT_EQ(query.labels[0], std::pair(std::string("env"), std::string("prod")));
  EXPECT_EQ(query.labels[1], std::pair(std::string("host"), std::string("a,b")));
  EXPECT_EQ(query.from->ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(query.until->ns, 1'700'000'010'000'000'000);
  EXPECT_EQ(query.sample_rate, 97);
  EXPECT_EQ(query.spy, "pyspy");
}

TEST(IngestQuery, ReadsTimesOfEveryMagnitude) {
  EXPECT_EQ(Query("name=a&from=1700000000000000").from->ns, kNow.ns);
  EXPECT_EQ(Query("name=a&from=1700000000000000000").from->ns, kNow.ns);
  EXPECT_EQ(Query("name=a&from=now-1h").from->ns, kNow.ns - 3'600'000'000'000);
  EXPECT_EQ(Query("name=a&from=now").from->ns, kNow.ns);
  EXPECT_FALSE(Query("name=a").from);
}

TEST(IngestQuery, NamesTheParameterAtFault) {
  for (const auto& [query, field] :
       {std::pair("", "name"), std::pair("name=", "name"), std::pair("name=a!b", "name"),
        std::pair("name=a{x", "name"), std::pair("name=a{x}", "name"),
        std::pair("name=a{=1}", "name"), std::pair("name=a&from=soon", "from"),
        std::pair("name=a&until=now-9q", "until"),
        std::pair("name=a&from=99999999999999999999", "from")}) {
    const auto parsed = ParseIngestQuery(query, kNow);
    ASSERT_FALSE(parsed) << query;
    EXPECT_EQ(parsed.error().field(), field) << query;
  }
}

TEST(IngestQuery, KeepsTheDefaultForABadRate) {
  EXPECT_EQ(Query("name=a&sampleRate=x").sample_rate, 100);
  EXPECT_EQ(Query("name=a&sampleRate=-5").sample_rate, 100);
}

TEST(UnescapeUrl, LeavesBrokenEscapes) {
  EXPECT_EQ(UnescapeUrl("a%20b+c%7"), "a b c%7");
  EXPECT_EQ(UnescapeUrl("%zz%41"), "%zzA");
}

TEST(IngestBody, ReadsFoldedStacksAsCpuTime) {
  const auto decoded = DecodeIngestBody(
      Query("name=shop.cpu{env=prod}&from=1699999990&until=1700000000"), "", "main;work 3\n", kNow);
  ASSERT_TRUE(decoded) << decoded.error().message();
  const SampleBatch& batch = decoded->batch;
  EXPECT_EQ(decoded->layout, wire::ProfileLayout::kFolded);
  EXPECT_EQ(batch.Text(batch.resources.at(0).service_name), "shop");
  EXPECT_EQ(batch.Attributes(batch.resources[0].attributes).FindText("service.name"), "shop");
  EXPECT_EQ(batch.Attributes(batch.series.at(0).attributes).FindText("env"), "prod");
  EXPECT_EQ(batch.Text(batch.series[0].type), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(batch.samples.at(0).value, 30'000'000);
  EXPECT_EQ(batch.series[0].start.ns, 1'699'999'990'000'000'000);
  EXPECT_EQ(batch.series[0].duration.ns, 10'000'000'000);
}

TEST(IngestBody, NamesFoldedTypesBySuffix) {
  const auto type = [](std::string_view query) {
    const auto decoded = DecodeIngestBody(Query(query), "", "main 3\n", kNow);
    EXPECT_TRUE(decoded);
    return std::string(decoded->batch.Text(decoded->batch.series.at(0).type)) + " " +
           std::string(decoded->batch.Text(decoded->batch.resources.at(0).service_name));
  };
  EXPECT_EQ(type("name=shop.inuse_space"), "memory:inuse_space:bytes:space:bytes shop");
  EXPECT_EQ(type("name=shop.block_duration"), "block:delay:nanoseconds:contentions:count shop");
  EXPECT_EQ(type("name=my.shop"), "process_cpu:cpu:nanoseconds:cpu:nanoseconds my.shop");
  EXPECT_EQ(type("name=shop&sampleRate=0"), "process_cpu:samples:count:cpu:nanoseconds shop");
}

TEST(IngestBody, ReadsPprofRawAndMultipart) {
  const auto raw = DecodeIngestBody(Query("name=shop"), "binary/octet-stream", Pprof(), kNow);
  ASSERT_TRUE(raw) << raw.error().message();
  EXPECT_EQ(raw->batch.Text(raw->batch.series.at(0).type), "mutex:delay:nanoseconds::");
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"profile\"\r\n\r\n" + Pprof() +
      "\r\n--b\r\nContent-Disposition: form-data; name=\"sample_type_config\"\r\n"
      "\r\n{\"delay\":{\"display-name\":\"block_duration\"}}\r\n--b--\r\n";
  const auto multipart = DecodeIngestBody(Query("name=shop{service_name=cart}"),
                                          "multipart/form-data; boundary=b", form, kNow);
  ASSERT_TRUE(multipart) << multipart.error().message();
  const SampleBatch& batch = multipart->batch;
  EXPECT_EQ(batch.Text(batch.series.at(0).type), "block:delay:nanoseconds::");
  EXPECT_EQ(batch.Text(batch.resources.at(0).service_name), "cart");
  EXPECT_EQ(batch.Attributes(batch.series[0].attributes).FindText("app_name"), "shop");
}

TEST(IngestBody, RefusesWithoutQuotingTheBody) {
  const auto refused = DecodeIngestBody(Query("name=a"), "", "SECRET\x01\x02", kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message().find("SECRET"), std::string::npos);
  EXPECT_FALSE(DecodeIngestBody(Query("name=a"), "", std::string_view("FLR\0\0\2", 6), kNow));
  const auto no_profile =
      DecodeIngestBody(Query("name=a"), "multipart/form-data; boundary=b",
                       "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b--", kNow);
  ASSERT_FALSE(no_profile);
  EXPECT_NE(no_profile.error().message().find("profile"), std::string::npos);
}

}  // namespace
}  // namespace hotspan::ingest
