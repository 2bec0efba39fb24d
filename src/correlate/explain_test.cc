#include "correlate/explain.h"

#include <gtest/gtest.h>

#include "correlate/test_world.h"

namespace hotspan::correlate {
namespace {

class ExplainTest : public testing::Test {
 protected:
  SpanExplanation Explain(std::uint64_t span, ExplainRequest request = {}) {
    world_.Write();
    request.trace_id = World::Trace(1);
    if (span != 0) request.span_id = World::Span(span);
    Explainer explainer(world_.engine(), world_.frames(), world_.clock());
    auto answer = explainer.Explain(request);
    EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().message());
    if (!answer) return {};
    std::int64_t sum = 0;
    for (const LedgerEntry& entry : answer->ledger.classes) sum += entry.ns;
    EXPECT_EQ(sum, answer->span.duration.ns);
    return std::move(*answer);
  }
  static const ProfilePart* Part(const SpanExplanation& answer, std::string_view type) {
    for (const ProfilePart& part : answer.profiles) {
      if (part.type == type) return &part;
    }
    return nullptr;
  }
  static std::int64_t Ns(const SpanExplanation& answer, LedgerClass cls) {
    for (const LedgerEntry& entry : answer.ledger.classes) {
      if (entry.cls == cls) return entry.ns;
    }
    return 0;
  }
  static const Finding* OfKind(const std::vector<Finding>& findings, std::string_view kind) {
    for (const Finding& finding : findings) {
      if (finding.kind == kind) return &finding;
    }
    return nullptr;
  }
  // A root with a child; 40 samples of the root, 20 of the child, 30 of another trace's span.
  void AddSmallTrace() {
    world_.Add(SpanSpec{.id = 1, .name = "GET /", .end_ms = 700, .kind = SpanKind::kServer});
    world_.Add(SpanSpec{.id = 2, .parent = 1, .name = "inner", .begin_ms = 450, .end_ms = 650});
    world_.AddMany(SampleSpec{.span = 1, .stack = "main;Shop::handle():4;Shop::spin():9"}, 40);
    world_.AddMany(SampleSpec{.span = 2, .stack = "main;Shop::inner():6", .at_ns = 450 * kMs}, 20);
    world_.AddMany(SampleSpec{.trace = 2, .span = 99, .stack = "main;Other::work():1"}, 30);
  }

  World world_;
};

TEST_F(ExplainTest, ExplainsASpanByItsOwnSamplesOnly) {
  AddSmallTrace();
  const SpanExplanation answer = Explain(1);
  EXPECT_EQ(answer.span.name, "GET /");
  const ProfilePart* cpu = Part(answer, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->tier, Tier::kSpan);
  EXPECT_EQ(cpu->samples, 40u);
  EXPECT_EQ(cpu->total, 400 * kMs);
  EXPECT_EQ(cpu->period_ns, kPeriod);
  EXPECT_EQ(cpu->flame.total, 400 * kMs);
  ASSERT_FALSE(cpu->top.empty());
  EXPECT_EQ(cpu->top[0].row.function, "Shop::spin()");
  EXPECT_EQ(cpu->top[0].row.line, 9);
  EXPECT_NEAR(cpu->top[0].share, 1, 1e-9);
  EXPECT_LT(cpu->top[0].share_low, 1);
  for (const TopEntry& entry : cpu->top)
    EXPECT_EQ(entry.row.function.find("Other"), std::string::npos);
  EXPECT_EQ(Ns(answer, LedgerClass::kChild), 200 * kMs);
  EXPECT_EQ(Ns(answer, LedgerClass::kOnCpu), 400 * kMs);
  EXPECT_EQ(Ns(answer, LedgerClass::kUnobserved), 100 * kMs);
  EXPECT_TRUE(answer.missing.empty());
  EXPECT_FALSE(answer.pooled.has_value());
  const Finding* hot = OfKind(answer.findings, "hot_function");
  ASSERT_NE(hot, nullptr);
  EXPECT_EQ(hot->location.function, "Shop::spin");
  EXPECT_EQ(hot->location.line, 9);
  EXPECT_EQ(hot->saves_ns, 400 * kMs);
}

TEST_F(ExplainTest, WithChildrenAddsDescendantsAndNothingElse) {
  AddSmallTrace();
  const SpanExplanation answer = Explain(1, {.mode = Mode::kWithChildren});
  const ProfilePart* cpu = Part(answer, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->samples, 60u);
  EXPECT_EQ(cpu->mode, Mode::kWithChildren);
  EXPECT_EQ(Ns(answer, LedgerClass::kOnCpu), 400 * kMs);  // the ledger stays the span's own
}

TEST_F(ExplainTest, SuggestsTheSpanOfTheGreatestCriticalTimeWithSamples) {
  world_.Add(SpanSpec{.id = 1, .name = "root", .end_ms = 1000});
  world_.Add(SpanSpec{.id = 2, .parent = 1, .name = "long", .begin_ms = 0, .end_ms = 600});
  world_.Add(SpanSpec{.id = 3, .parent = 1, .name = "sampled", .begin_ms = 600, .end_ms = 900});
  world_.Add(SampleSpec{.span = 3, .stack = "main", .at_ns = 700 * kMs});
  EXPECT_EQ(Explain(0).span.name, "sampled");
}

TEST_F(ExplainTest, SuggestsTheGreatestCriticalTimeWithoutSamples) {
  world_.Add(SpanSpec{.id = 1, .name = "root", .end_ms = 1000});
  world_.Add(SpanSpec{.id = 2, .parent = 1, .name = "long", .begin_ms = 0, .end_ms = 600});
  EXPECT_EQ(Explain(0).span.name, "long");
}

TEST_F(ExplainTest, UnknownTraceAndSpanAreNotFound) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 10});
  world_.Write();
  Explainer explainer(world_.engine(), world_.frames(), world_.clock());
  ExplainRequest request;
  request.trace_id = World::Trace(9);
  EXPECT_EQ(explainer.Explain(request).error().code(), Code::kNotFound);
  request.trace_id = World::Trace(1);
  request.span_id = World::Span(9);
  EXPECT_EQ(explainer.Explain(request).error().field(), "span_id");
}

TEST_F(ExplainTest, NoSampleOfALabellingSourceNeverFallsThroughToTheService) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 500});
  world_.AddMany(SampleSpec{.trace = 2, .span = 99, .stack = "main;Other::work()"}, 300);
  world_.AddMany(SampleSpec{.span = 0, .stack = "main;Other::idle()"}, 300);
  const SpanExplanation answer = Explain(1);
  const ProfilePart* cpu = Part(answer, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->tier, Tier::kSpan);
  EXPECT_EQ(cpu->samples, 0u);
  ASSERT_FALSE(answer.missing.empty());
  EXPECT_EQ(answer.missing[0].reason, "idle");
}

TEST_F(ExplainTest, LockProfileIsShownToTheSpansThatWaitedAndIsNotCountedTwice) {
  const std::string delay = "mutex:delay:nanoseconds::";
  world_.Add(SpanSpec{.id = 1, .end_ms = 500});
  world_.Add(SpanSpec{.id = 2, .parent = 1, .begin_ms = 100, .end_ms = 200});
  world_.AddMany(SampleSpec{.stack = "main;Shop::work()"}, 10);
  world_.Add(
      SampleSpec{.type = delay, .stack = "main;Shop::read()", .value = 40'000'000, .period = 0});
  const SpanExplanation waited = Explain(1);
  const ProfilePart* part = Part(waited, delay);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->total, 40'000'000);
  for (const LedgerEntry& entry : waited.ledger.classes) EXPECT_NE(entry.cls, LedgerClass::kLock);
  const SpanExplanation other = Explain(2);
  EXPECT_EQ(Part(other, delay), nullptr);
  for (const Missing& missing : other.missing) EXPECT_NE(missing.type, delay) << missing.reason;
}

TEST_F(ExplainTest, ServiceTierOnlyWhenAskedForOrNothingLabels) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 500});
  world_.AddMany(SampleSpec{.trace = 2, .span = 99, .stack = "main;Other::work()"}, 300);
  const SpanExplanation answer = Explain(1, {.tier = Tier::kService});
  const ProfilePart* cpu = Part(answer, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->tier, Tier::kService);
  EXPECT_EQ(cpu->samples, 300u);
  EXPECT_NE(cpu->note.find("other requests"), std::string::npos);
  EXPECT_EQ(Ns(answer, LedgerClass::kOnCpu),
            0);  // other requests' samples are not this span's time
}

TEST_F(ExplainTest, UnlabelledServiceFallsToServiceTierAndSaysSo) {
  world_.Add(SpanSpec{.id = 1, .name = "db_query.fetch_order", .end_ms = 500});
  world_.AddMany(SampleSpec{.span = 0, .stack = "main;Shop::FetchOrder():3"}, 10);
  world_.AddMany(SampleSpec{.span = 0, .stack = "main;Shop::other():3"}, 10);
  const SpanExplanation answer = Explain(1);
  const ProfilePart* cpu = Part(answer, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->tier, Tier::kService);
  EXPECT_EQ(cpu->samples, 10u);
  EXPECT_NE(cpu->note.find("by name"), std::string::npos);
  EXPECT_NE(cpu->note.find("300 s"), std::string::npos);  // widened: too few samples
  ASSERT_FALSE(answer.missing.empty());
  EXPECT_EQ(answer.missing[0].reason, "not_labelled");
}

TEST_F(ExplainTest, ServiceTierPrefersTheSpansVersion) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 500, .resource = {{"service.version", "2"}}});
  world_.AddMany(
      SampleSpec{.span = 0, .stack = "main;Shop::two()", .resource = {{"service.version", "2"}}},
      5);
  world_.AddMany(
      SampleSpec{.span = 0, .stack = "main;Shop::one()", .resource = {{"service.version", "1"}}},
      50);
  const ProfilePart* cpu = Part(Explain(1), kCpu);
  const SpanExplanation answer = Explain(1);
  cpu = Part(answer, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->samples, 5u);
  EXPECT_NE(cpu->note.find("version"), std::string::npos);
}

TEST_F(ExplainTest, LocalRootSamplesAreNarrowedByTimeAndChildren) {
  world_.Add(SpanSpec{.id = 1, .name = "root", .end_ms = 1000, .kind = SpanKind::kServer});
  world_.Add(SpanSpec{.id = 2, .parent = 1, .name = "a", .begin_ms = 100, .end_ms = 500});
  world_.Add(SpanSpec{.id = 3, .parent = 2, .name = "b", .begin_ms = 300, .end_ms = 400});
  world_.AddMany(
      SampleSpec{.span = 1, .link = LinkKind::kLocalRoot, .stack = "main;f()", .at_ns = 5 * kMs},
      99);
  const SpanExplanation self = Explain(2);
  const ProfilePart* cpu = Part(self, kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->tier, Tier::kLocalRoot);
  EXPECT_EQ(cpu->samples, 30u);
  EXPECT_NE(cpu->note.find("root span"), std::string::npos);
  EXPECT_EQ(Ns(self, LedgerClass::kOnCpu), 300 * kMs);
  EXPECT_EQ(self.ledger.parallel_ns, 0);
  const SpanExplanation all = Explain(2, {.mode = Mode::kWithChildren});
  EXPECT_EQ(Part(all, kCpu)->samples, 40u);
}

TEST_F(ExplainTest, WaitsFillTheirClassesAndALockNamesItsHolder) {
  std::string attributes;
  AttributeWriter(attributes)
      .Add("lock.holder.trace_id", Value::String(World::Trace(7).ToHex()))
      .Add("lock.holder.span_id", Value::String(World::Span(70).ToHex()));
  std::string events;
  AppendEvent(events, {TimeNs{kNow}, "lock.wait", AttributeList(attributes)});
  world_.Add(SpanSpec{.id = 1, .end_ms = 400, .events = events});
  world_.Add(SpanSpec{.trace = 7, .id = 70, .name = "refill", .end_ms = 300});
  world_.AddMany(SampleSpec{.span = 1, .stack = "main;Shop::handle():3", .at_ns = 300 * kMs}, 10);
  world_.AddMany(SampleSpec{.type = std::string(kOffCpu),
                            .span = 1,
                            .stack = "main;Cache::get():17;pthread_mutex_lock;[lock] futex"},
                 30);
  const SpanExplanation answer = Explain(1);
  EXPECT_EQ(Ns(answer, LedgerClass::kLock), 300 * kMs);
  EXPECT_EQ(Ns(answer, LedgerClass::kOnCpu), 100 * kMs);
  EXPECT_EQ(Ns(answer, LedgerClass::kUnobserved), 0);
  const Finding* lock = OfKind(answer.findings, "lock_contention");
  ASSERT_NE(lock, nullptr);
  EXPECT_EQ(lock, &answer.findings.front());
  EXPECT_EQ(lock->location.function, "Cache::get");
  EXPECT_EQ(lock->location.line, 17);
  EXPECT_NE(lock->title.find("\"refill\""), std::string::npos) << lock->title;
  EXPECT_NE(lock->title.find(World::Trace(7).ToHex()), std::string::npos);
  EXPECT_EQ(lock->severity, Severity::kHigh);
  EXPECT_NE(Part(answer, kCpu)->note.find("lock"), std::string::npos);
}

TEST_F(ExplainTest, WaitingOnNetworkAndDiskIsTold) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 1000});
  world_.AddMany(SampleSpec{.type = std::string(kOffCpu),
                            .span = 1,
                            .stack = "main;Shop::call():5;recv;[net] recvfrom"},
                 50);
  world_.AddMany(SampleSpec{.type = std::string(kOffCpu),
                            .span = 1,
                            .stack = "main;Shop::load():6;read;[io] read",
                            .at_ns = 500 * kMs},
                 40);
  const SpanExplanation answer = Explain(1);
  const Finding* net = OfKind(answer.findings, "waiting_on_network");
  const Finding* io = OfKind(answer.findings, "waiting_on_io");
  ASSERT_NE(net, nullptr);
  ASSERT_NE(io, nullptr);
  EXPECT_EQ(net->location.line, 5);
  EXPECT_EQ(io->location.function, "Shop::load");
}

TEST_F(ExplainTest, FewSamplesPoolOverTheOperation) {
  for (std::uint64_t trace = 1; trace <= 60; ++trace) {
    const std::int64_t begin = static_cast<std::int64_t>(trace) * 100;
    world_.Add(SpanSpec{
        .trace = trace, .id = trace, .name = "short", .begin_ms = begin, .end_ms = begin + 30});
    world_.AddMany(
        SampleSpec{.trace = trace,
                   .span = trace,
                   .stack = "main;Shop::f():3;Shop::match():8;std::regex_match<char>(int)",
                   .at_ns = begin * kMs},
        2);
    world_.Add(SampleSpec{
        .trace = trace, .span = trace, .stack = "main;Shop::f():4", .at_ns = (begin + 20) * kMs});
  }
  const SpanExplanation answer = Explain(1);
  ASSERT_TRUE(answer.pooled.has_value());
  EXPECT_EQ(answer.pooled->spans, 60u);
  EXPECT_EQ(answer.pooled->samples, 180u);
  EXPECT_NE(answer.pooled->query.find("spans="), std::string::npos);
  ASSERT_FALSE(answer.findings.empty());
  EXPECT_TRUE(answer.findings[0].pooled);
  EXPECT_EQ(answer.findings[0].location.function, "Shop::match");
  EXPECT_EQ(answer.baseline.n, 60u);
  EXPECT_EQ(answer.baseline.p50_ns, 30 * kMs);
  EXPECT_NEAR(answer.baseline.ratio, 1, 1e-9);

  Explainer explainer(world_.engine(), world_.frames(), world_.clock());
  FindingsRequest request;
  request.service = "shop";
  request.name = "short";
  request.range = {TimeNs{kNow}, TimeNs{kNow + kHour.ns}};
  const auto findings = explainer.Findings(request);
  ASSERT_TRUE(findings.has_value());
  EXPECT_EQ(findings->spans, 60u);
  EXPECT_EQ(findings->samples, 180u);
  ASSERT_FALSE(findings->findings.empty());
  EXPECT_EQ(findings->findings[0].location.function, "Shop::match");
  request.name = "other";
  EXPECT_EQ(explainer.Findings(request).error().code(), Code::kNotFound);
}

TEST_F(ExplainTest, NPlusOneOfAnOperationIsToldOnceForAllItsTraces) {
  for (std::uint64_t trace = 1; trace <= 6; ++trace) {
    world_.Add(SpanSpec{.trace = trace, .id = 1, .name = "find", .end_ms = 600});
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto at = static_cast<std::int64_t>(i) * 11;
      world_.Add(SpanSpec{.trace = trace,
                          .id = 10 + i,
                          .parent = 1,
                          .name = "SELECT",
                          .begin_ms = at,
                          .end_ms = at + 10,
                          .kind = SpanKind::kClient,
                          .attributes = {{"code.function.name", "FindByEmail"}},
                          .code_line = 5});
    }
  }
  world_.Write();
  Explainer explainer(world_.engine(), world_.frames(), world_.clock());
  FindingsRequest request;
  request.service = "shop";
  request.name = "find";
  request.range = {TimeNs{kNow}, TimeNs{kNow + kHour.ns}};
  const auto findings = explainer.Findings(request);
  ASSERT_TRUE(findings.has_value());
  ASSERT_EQ(findings->findings.size(), 1u);
  EXPECT_EQ(findings->findings[0].kind, "n_plus_one");
  EXPECT_EQ(findings->findings[0].location.line, 5);
}

TEST_F(ExplainTest, WithoutAnyProfileItSaysWhyAndWhatToDo) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 500});
  const SpanExplanation answer = Explain(1);
  EXPECT_TRUE(answer.profiles.empty());
  ASSERT_EQ(answer.missing.size(), 1u);
  EXPECT_EQ(answer.missing[0].reason, "no_profiles_of_service");
  EXPECT_EQ(answer.missing[0].type, kCpu);
  EXPECT_EQ(Ns(answer, LedgerClass::kUnobserved), 500 * kMs);
  EXPECT_FALSE(answer.ledger.classes.back().hint.empty());
  const Finding* missing = OfKind(answer.findings, "missing_data");
  ASSERT_NE(missing, nullptr);
  EXPECT_LT(missing->severity, Severity::kMedium);
}

TEST_F(ExplainTest, AgentsThatLoseSamplesAreToldOf) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 500});
  world_.AddMany(SampleSpec{.span = 1,
                            .stack = "main;f()",
                            .labels = {{std::string("hotspan.dropped_samples"), "12"}}},
                 3);
  const SpanExplanation answer = Explain(1);
  ASSERT_EQ(answer.missing.size(), 1u);
  EXPECT_EQ(answer.missing[0].reason, "agent_drops");
}

TEST_F(ExplainTest, AProfileTypeOfItsOwnIsExplainedAlone) {
  AddSmallTrace();
  const SpanExplanation answer = Explain(1, {.profile_type = "alloc:bytes:bytes::"});
  EXPECT_TRUE(answer.profiles.empty());
  ASSERT_EQ(answer.missing.size(), 1u);
  EXPECT_EQ(answer.missing[0].type, "alloc:bytes:bytes::");
}

TEST_F(ExplainTest, AHealthySpanHasNothingUrgent) {
  world_.Add(SpanSpec{.id = 1, .name = "GET /", .end_ms = 40, .kind = SpanKind::kServer});
  world_.Add(SpanSpec{.id = 2,
                      .parent = 1,
                      .name = "SELECT",
                      .begin_ms = 5,
                      .end_ms = 9,
                      .kind = SpanKind::kClient});
  world_.AddMany(SampleSpec{.span = 1, .stack = "main;Shop::render():3", .at_ns = 10 * kMs}, 2);
  for (const Finding& finding : Explain(1).findings) {
    EXPECT_LT(finding.severity, Severity::kMedium) << finding.title;
  }
}

}  // namespace
}  // namespace hotspan::correlate
