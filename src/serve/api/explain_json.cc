#include "serve/api/explain_json.h"

#include "base/json_writer.h"
#include "query/flame/formats.h"
#include "serve/api/values_json.h"

namespace hotspan::serve {
namespace {

void WriteSpan(JsonWriter& json, const correlate::ExplainedSpan& span) {
  json.Key("span").BeginObject();
  json.Key("trace_id").String(span.trace_id.ToHex());
  json.Key("span_id").String(span.span_id.ToHex());
  json.Key("parent_span_id");
  json.String(span.parent_span_id.IsZero() ? std::string() : span.parent_span_id.ToHex());
  json.Key("service").String(span.service).Key("name").String(span.name);
  json.Key("kind").String(SpanKindName(span.kind));
  json.Key("status").String(SpanStatusName(span.status));
  json.Key("start_ns").DecimalString(span.start.ns);
  json.Key("duration_ns").Number(span.duration.ns);
  json.Key("attributes");
  WriteAttributes(json, AttributeList(span.attributes));
  json.EndObject();
}

void WriteBaseline(JsonWriter& json, const correlate::Baseline& baseline) {
  json.Key("baseline").BeginObject();
  json.Key("p50_ns").Number(baseline.p50_ns).Key("p95_ns").Number(baseline.p95_ns);
  json.Key("n").Number(baseline.n).Key("window");
  WriteWindow(json, baseline.window);
  json.Key("ratio").Number(baseline.ratio).EndObject();
}

void WriteLedger(JsonWriter& json, const correlate::Ledger& ledger) {
  json.Key("ledger").BeginObject();
  json.Key("duration_ns").Number(ledger.duration_ns);
  json.Key("cpu_ns").Number(ledger.cpu_ns).Key("parallel_ns").Number(ledger.parallel_ns);
  json.Key("classes").BeginArray();
  for (const correlate::LedgerEntry& entry : ledger.classes) {
    json.BeginObject().Key("class").String(correlate::LedgerClassName(entry.cls));
    json.Key("ns").Number(entry.ns).Key("low_ns").Number(entry.low_ns);
    json.Key("high_ns").Number(entry.high_ns).Key("source").String(entry.source);
    json.Key("samples").Number(entry.samples);
    if (!entry.hint.empty()) json.Key("hint").String(entry.hint);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteTop(JsonWriter& json, const correlate::TopEntry& entry) {
  json.BeginObject();
  query::flame::WriteTopMembers(json, entry.row);
  json.Key("share").Number(entry.share).Key("share_low").Number(entry.share_low);
  json.Key("share_high").Number(entry.share_high).EndObject();
}

void WriteProfile(JsonWriter& json, const correlate::ProfilePart& part) {
  json.BeginObject().Key("type").String(part.type);
  json.Key("tier").String(correlate::TierName(part.tier));
  json.Key("mode").String(correlate::ModeName(part.mode));
  json.Key("samples").Number(part.samples).Key("period_ns").Number(part.period_ns);
  json.Key("total").Number(part.total).Key("window");
  WriteWindow(json, part.window);
  json.Key("agents").BeginArray();
  for (const std::string& agent : part.agents) json.String(agent);
  json.EndArray().Key("note").String(part.note).Key("flame");
  query::flame::WriteFlame(json, part.flame);
  json.Key("top").BeginArray();
  for (const correlate::TopEntry& entry : part.top) WriteTop(json, entry);
  json.EndArray().EndObject();
}

void WriteMissing(JsonWriter& json, const correlate::Missing& missing) {
  json.BeginObject().Key("type").String(missing.type).Key("reason").String(missing.reason);
  json.Key("detail").String(missing.detail);
  if (missing.before || missing.after) {
    json.Key("nearest").BeginObject();
    if (missing.before) json.Key("before_ns").DecimalString(missing.before->ns);
    if (missing.after) json.Key("after_ns").DecimalString(missing.after->ns);
    json.EndObject();
  }
  json.Key("fix").String(missing.fix).EndObject();
}

void WriteFinding(JsonWriter& json, const correlate::Finding& finding) {
  json.BeginObject().Key("kind").String(finding.kind).Key("title").String(finding.title);
  json.Key("severity").String(correlate::SeverityName(finding.severity));
  json.Key("saves_ns").Number(finding.saves_ns);
  json.Key("saves_low_ns").Number(finding.saves_low_ns);
  json.Key("saves_high_ns").Number(finding.saves_high_ns);
  json.Key("location").BeginObject().Key("function").String(finding.location.function);
  json.Key("file").String(finding.location.file).Key("line").Number(finding.location.line);
  json.Key("service").String(finding.location.service).EndObject();
  json.Key("fix").String(finding.fix).Key("pooled").Bool(finding.pooled);
  json.Key("evidence").BeginArray();
  for (const correlate::Evidence& evidence : finding.evidence) {
    json.BeginObject().Key("text").String(evidence.text).Key("value").Number(evidence.value);
    json.Key("query").String(evidence.query).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace

std::string ExplanationJson(const correlate::SpanExplanation& explanation) {
  JsonWriter json;
  json.BeginObject();
  WriteSpan(json, explanation.span);
  WriteBaseline(json, explanation.baseline);
  WriteLedger(json, explanation.ledger);
  json.Key("profiles").BeginArray();
  for (const correlate::ProfilePart& part : explanation.profiles) WriteProfile(json, part);
  json.EndArray();
  if (explanation.pooled) {
    json.Key("pooled").BeginObject().Key("spans").Number(explanation.pooled->spans);
    json.Key("samples").Number(explanation.pooled->samples);
    json.Key("query").String(explanation.pooled->query).EndObject();
  }
  json.Key("missing").BeginArray();
  for (const correlate::Missing& missing : explanation.missing) WriteMissing(json, missing);
  json.EndArray().Key("findings").BeginArray();
  for (const correlate::Finding& finding : explanation.findings) WriteFinding(json, finding);
  json.EndArray().EndObject();
  return json.Take();
}

std::string FindingsJson(const correlate::OperationFindings& findings) {
  JsonWriter json;
  json.BeginObject().Key("service").String(findings.service).Key("name").String(findings.name);
  json.Key("spans").Number(findings.spans).Key("samples").Number(findings.samples);
  json.Key("findings").BeginArray();
  for (const correlate::Finding& finding : findings.findings) WriteFinding(json, finding);
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace hotspan::serve
