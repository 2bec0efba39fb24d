#include "correlate/sources.h"

#include <gtest/gtest.h>

#include "correlate/test_world.h"

namespace hotspan::correlate {
namespace {

class SourcesTest : public testing::Test {
 protected:
  Sources Read(const std::string& service = "shop", const std::string& instance = "") {
    world_.Write();
    auto sources = ReadSources(
        world_.engine(),
        {TenantId::kDefault, service, instance, {TimeNs{kNow}, TimeNs{kNow + 100 * kMs}}});
    CHECK(sources.has_value());
    return std::move(*sources);
  }
  static MissingFacts Facts(std::int64_t own_ms = 100) {
    MissingFacts facts;
    facts.type = std::string(kCpu);
    facts.service = "shop";
    facts.span = {TimeNs{kNow}, TimeNs{kNow + 100 * kMs}};
    facts.own_ns = own_ms * kMs;
    facts.now = TimeNs{kNow + kMinute.ns};
    return facts;
  }
  static std::string Reason(const Sources& sources, const MissingFacts& facts) {
    const std::vector<Missing> missing = WhyMissing(sources, facts);
    if (missing.empty()) return "";
    EXPECT_FALSE(missing[0].detail.empty());
    EXPECT_FALSE(missing[0].fix.empty());
    EXPECT_EQ(missing[0].type, facts.type);
    return missing[0].reason;
  }

  World world_;
};

TEST_F(SourcesTest, TierIsWhatTheSourceLabels) {
  world_.Add(SampleSpec{.service = "labels", .stack = "main"});
  world_.Add(SampleSpec{.service = "roots", .link = LinkKind::kLocalRoot, .stack = "main"});
  world_.Add(SampleSpec{.service = "plain", .span = 0, .stack = "main"});
  EXPECT_EQ(Read("labels").types.at(0).tier, Tier::kSpan);
  EXPECT_EQ(Read("roots").types.at(0).tier, Tier::kLocalRoot);
  EXPECT_EQ(Read("plain").types.at(0).tier, Tier::kService);
  EXPECT_TRUE(Read("plain").types.at(0).in_window);
}

TEST_F(SourcesTest, TheSpansOwnInstanceDecides) {
  world_.Add(SampleSpec{.stack = "main", .resource = {{"service.instance.id", "one"}}});
  world_.Add(SampleSpec{.span = 0, .stack = "main", .resource = {{"service.instance.id", "two"}}});
  EXPECT_EQ(Read("shop", "one").types.at(0).tier, Tier::kSpan);
  EXPECT_EQ(Read("shop", "two").types.at(0).tier, Tier::kService);
  EXPECT_EQ(Read("shop", "three").types.at(0).tier, Tier::kSpan);
}

TEST_F(SourcesTest, NoProfilesOfTheService) {
  EXPECT_EQ(Reason(Read(), Facts()), "no_profiles_of_service");
}

TEST_F(SourcesTest, NearlyTheSameNameIsOfferedNotJoined) {
  world_.Add(SampleSpec{.service = "Sh-op", .stack = "main"});
  const Sources sources = Read("sh_op");
  EXPECT_TRUE(sources.types.empty());
  EXPECT_EQ(Reason(sources, Facts()), "name_mismatch");
  EXPECT_NE(WhyMissing(sources, Facts())[0].detail.find("Sh-op"), std::string::npos);
}

TEST_F(SourcesTest, NearestProfilesOutsideOfTheWindowAreNamed) {
  const std::int64_t hour = kHour.ns;
  world_.Add(SampleSpec{.stack = "main", .at_ns = -hour, .resource = {{"host.name", "a"}}});
  world_.Write();
  world_.Add(SampleSpec{.stack = "main", .at_ns = 2 * hour, .resource = {{"host.name", "b"}}});
  const Sources sources = Read();
  ASSERT_EQ(sources.types.size(), 1u);
  if (!sources.types[0].in_window) {
    EXPECT_EQ(Reason(sources, Facts()), "outside_window");
    const Missing missing = WhyMissing(sources, Facts())[0];
    ASSERT_TRUE(missing.before.has_value());
    ASSERT_TRUE(missing.after.has_value());
    EXPECT_EQ(missing.before->ns, kNow - hour);
    EXPECT_EQ(missing.after->ns, kNow + 2 * hour);
  } else {
    ADD_FAILURE() << "catalog slices are wider than the gap";
  }
}

TEST_F(SourcesTest, ExpiredWhereRetentionHasPassed) {
  MissingFacts facts = Facts();
  facts.retention = storage::RetentionPolicy{};
  facts.now = TimeNs{kNow + 31 * 24 * kHour.ns};
  EXPECT_EQ(Reason(Read(), facts), "expired");
  facts.now = TimeNs{kNow + 29 * 24 * kHour.ns};
  EXPECT_EQ(Reason(Read(), facts), "no_profiles_of_service");
}

TEST_F(SourcesTest, UnlabelledSamplesAreSaidToBe) {
  world_.Add(SampleSpec{.span = 0, .stack = "main"});
  EXPECT_EQ(Reason(Read(), Facts()), "not_labelled");
}

TEST_F(SourcesTest, AnotherTierThanTheSourcesOwnIsNotLabelled) {
  world_.Add(SampleSpec{.span = 77, .link = LinkKind::kLocalRoot, .stack = "main"});
  const Sources sources = Read();
  EXPECT_EQ(Reason(sources, Facts()), "not_labelled");
  EXPECT_NE(WhyMissing(sources, Facts())[0].fix.find("local_root"), std::string::npos);
}

TEST_F(SourcesTest, ShorterThanThePeriodTellsExpectedSamples) {
  world_.Add(SampleSpec{.span = 77, .stack = "main"});
  const Sources sources = Read();
  EXPECT_EQ(Reason(sources, Facts(5)), "shorter_than_period");
  EXPECT_NE(WhyMissing(sources, Facts(5))[0].detail.find("0.5"), std::string::npos);
}

TEST_F(SourcesTest, IdleTellsWhatItWaitedFor) {
  world_.Add(SampleSpec{.span = 77, .stack = "main"});
  Ledger ledger;
  ledger.classes.push_back({LedgerClass::kChild, 10 * kMs, 0, 0, "", 0, ""});
  ledger.classes.push_back({LedgerClass::kLock, 80 * kMs, 0, 0, "", 0, ""});
  MissingFacts facts = Facts(100);
  facts.ledger = &ledger;
  const Sources sources = Read();
  EXPECT_EQ(Reason(sources, facts), "idle");
  EXPECT_NE(WhyMissing(sources, facts)[0].detail.find("80 ms in lock"), std::string::npos);
}

TEST_F(SourcesTest, AgentDropsAreToldBesides) {
  world_.Add(SampleSpec{.span = 77, .stack = "main"});
  MissingFacts facts = Facts();
  facts.drops = true;
  const std::vector<Missing> missing = WhyMissing(Read(), facts);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[1].reason, "agent_drops");
}

TEST_F(SourcesTest, NothingIsMissingWhereSamplesAre) {
  world_.Add(SampleSpec{.stack = "main"});
  MissingFacts facts = Facts();
  facts.samples = 1;
  EXPECT_TRUE(WhyMissing(Read(), facts).empty());
}

}  // namespace
}  // namespace hotspan::correlate
