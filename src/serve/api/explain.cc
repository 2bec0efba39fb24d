// Why a span is slow, and what slows an operation.
#include "serve/api/explain_json.h"
#include "serve/api/routes.h"
#include "serve/http/params.h"

namespace hotspan::serve {
namespace {

Response Explain(Api& api, const Request& request) {
  Params params(request, api.Now());
  correlate::ExplainRequest wanted;
  params.Required("trace_id");
  wanted.trace_id = params.Trace("trace_id").value_or(TraceId{});
  wanted.span_id = params.Span("span_id");
  wanted.profile_type = std::string(params.Text("profile_type"));
  const auto mode = params.Word("mode", {"self", "with_children"});
  const auto tier = params.Word("tier", {"auto", "span", "local_root", "service"});
  if (!params.status()) return ErrorResponse(params.status().error());
  wanted.mode = *correlate::ParseMode(mode);
  wanted.tier = *correlate::ParseTier(tier);
  wanted.retention = api.retention;
  const auto explanation = api.explainer.Explain(wanted);
  if (!explanation) return ErrorResponse(explanation.error());
  return JsonResponse(ExplanationJson(*explanation));
}

Response Findings(Api& api, const Request& request) {
  Params params(request, api.Now());
  correlate::FindingsRequest wanted;
  wanted.service = params.Required("service");
  wanted.name = params.Required("name");
  wanted.range = params.Range();
  if (!params.status()) return ErrorResponse(params.status().error());
  const auto findings = api.explainer.Findings(wanted);
  if (!findings) return ErrorResponse(findings.error());
  return JsonResponse(FindingsJson(*findings));
}

}  // namespace

void AddExplainRoutes(Router& router, Api& api) {
  router.Add("GET", "/api/hotspan/v1/explain",
             [&api](const Request& request) { return Explain(api, request); });
  router.Add("GET", "/api/hotspan/v1/findings",
             [&api](const Request& request) { return Findings(api, request); });
}

}  // namespace hotspan::serve
