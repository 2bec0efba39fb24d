"""Traces in by every door, and out by id and by search."""
import gzip
import json
import os
import time

import requests
import zstandard
from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

import otlp
from conftest import wait_for

SECOND = 10**9


def ids():
    return os.urandom(16), os.urandom(8)


def send_with_sdk(exporter, service):
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop", "2.0")
    with tracer.start_as_current_span("GET /cart", kind=otel.SpanKind.SERVER) as root:
        root.set_attribute("http.status_code", 503)
        root.set_attribute("flags", [True, False])
        with tracer.start_as_current_span("load") as child:
            child.add_event("cache miss", {"key": "cart:7"})
            child.set_status(otel.Status(otel.StatusCode.ERROR, "no such cart"))
    provider.shutdown()
    return format(root.get_span_context().trace_id, "032x")


def assert_cart_trace(server, trace_id, service):
    trace = server.api(f"/traces/{trace_id}")
    assert [s["name"] for s in trace["spans"]] == ["GET /cart", "load"]
    root, child = trace["spans"]
    assert root["service"] == service
    assert root["kind"] == "server"
    assert root["attributes"]["http.status_code"] == 503
    assert child["parent_span_id"] == root["span_id"]
    assert child["status"] == "error"
    assert child["status_message"] == "no such cart"
    assert child["events"][0]["name"] == "cache miss"
    assert child["events"][0]["attributes"] == {"key": "cart:7"}
    assert child["scope"] == {"name": "shop", "version": "2.0"}


def test_the_python_sdk_over_http(shared_server):
    trace_id = send_with_sdk(HttpExporter(endpoint=shared_server.otlp_http + "/v1/traces"), "py-http")
    assert_cart_trace(shared_server, trace_id, "py-http")


def test_the_python_sdk_over_grpc(shared_server):
    trace_id = send_with_sdk(GrpcExporter(endpoint=shared_server.otlp_grpc, insecure=True), "py-grpc")
    assert_cart_trace(shared_server, trace_id, "py-grpc")


def test_grpc_and_http_share_the_ui_port(shared_server):
    address = shared_server.http.removeprefix("http://")
    trace_id = send_with_sdk(GrpcExporter(endpoint=address, insecure=True), "py-4040")
    assert_cart_trace(shared_server, trace_id, "py-4040")


def test_grpc_with_gzip(shared_server):
    import grpc
    exporter = GrpcExporter(endpoint=shared_server.otlp_grpc, insecure=True,
                            compression=grpc.Compression.Gzip)
    assert_cart_trace(shared_server, send_with_sdk(exporter, "py-gzip"), "py-gzip")


def one_span(service="shop", name="work", **kwargs):
    trace_id, span_id = ids()
    now = time.time_ns()
    return trace_id, otlp.traces(
        service, [otlp.span(trace_id, span_id, name, now - SECOND, now, **kwargs)])


def test_compressed_bodies(shared_server):
    for encoding, compress in (("gzip", gzip.compress), ("zstd", zstandard.compress)):
        trace_id, body = one_span()
        answer = shared_server.post("/v1/traces", compress(body), Content_Encoding=encoding)
        assert answer.status_code == 200, answer.text
        assert len(shared_server.api(f"/traces/{trace_id.hex()}")["spans"]) == 1


def test_json_traces(shared_server):
    trace_id, span_id = ids()
    now = time.time_ns()
    body = {"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "json"}}]},
        "scopeSpans": [{"scope": {"name": "s"}, "spans": [{
            "traceId": trace_id.hex(), "spanId": span_id.hex(), "name": "j", "kind": 2,
            "startTimeUnixNano": str(now - SECOND), "endTimeUnixNano": str(now),
            "attributes": [{"key": "n", "value": {"intValue": "12"}},
                           {"key": "a", "value": {"arrayValue": {"values": [{"stringValue": "x"}]}}}],
        }]}]}]}
    answer = shared_server.post("/v1/traces", json.dumps(body), "application/json")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("application/json")
    span = shared_server.api(f"/traces/{trace_id.hex()}")["spans"][0]
    assert span["attributes"] == {"n": 12, "a": ["x"]}
    assert span["duration_ns"] == SECOND


def test_the_good_part_of_a_batch_is_kept_and_the_rest_named(shared_server):
    trace_id, span_id = ids()
    now = time.time_ns()
    body = otlp.traces("partial", [
        otlp.span(trace_id, span_id, "good", now - 5, now),
        otlp.span(bytes(16), span_id, "zero id", now - 5, now),
        otlp.span(trace_id, os.urandom(8), "backwards", now, now - 5),
    ])
    answer = shared_server.post("/v1/traces", body)
    assert answer.status_code == 200
    assert b"trace" in answer.content or b"rejected" in answer.content
    partial = read_partial_success(answer.content)
    assert partial[0] == 2
    assert "end" in partial[1] or "id" in partial[1]
    spans = shared_server.api(f"/traces/{trace_id.hex()}")["spans"]
    assert [s["name"] for s in spans] == ["good"]


def read_partial_success(body):
    """(rejected, message) of an ExportTraceServiceResponse."""
    def read_varint(at):
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, at
    assert body[0] == 0x0A
    _, at = read_varint(1)
    rejected, message = 0, ""
    while at < len(body):
        field, at = read_varint(at)
        if field == 0x08:
            rejected, at = read_varint(at)
        else:
            assert field == 0x12
            size, at = read_varint(at)
            message = body[at:at + size].decode()
            at += size
    return rejected, message


def test_a_retry_is_not_stored_twice(server):
    trace_id, body = one_span("retry")
    for _ in range(3):
        assert server.post("/v1/traces", body).status_code == 200
    assert len(server.api(f"/traces/{trace_id.hex()}")["spans"]) == 1
    operations = server.api("/operations", service="retry")["operations"]
    assert [o["spans"] for o in operations] == [1]


def test_tempo_trace_by_id(shared_server):
    trace_id, body = one_span("tempo", attrs={"k": "v"})
    shared_server.post("/v1/traces", body)
    v1 = shared_server.get(f"/api/traces/{trace_id.hex()}")
    assert v1.status_code == 200
    assert v1.json()["batches"][0]["scopeSpans"][0]["spans"][0]["name"] == "work"
    v2 = shared_server.get(f"/api/v2/traces/{trace_id.hex()}")
    assert v2.json()["trace"]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["kind"] == \
        "SPAN_KIND_INTERNAL"
    proto = requests.get(f"{shared_server.http}/api/traces/{trace_id.hex()}",
                         headers={"Accept": "application/protobuf"}, timeout=10)
    assert proto.headers["Content-Type"] == "application/protobuf"
    assert b"work" in proto.content
    missing = "f" * 32
    assert shared_server.get(f"/api/traces/{missing}").status_code == 404
    assert shared_server.get(f"/api/v2/traces/{missing}").status_code == 200
    assert shared_server.get("/api/traces/xyz").status_code == 400


def test_tempo_search(shared_server):
    trace_id, body = one_span("search-me", "slow op", attrs={"http.status_code": 500, "tenant": "acme"})
    shared_server.post("/v1/traces", body)
    for query in ('{ resource.service.name = "search-me" && name = "slow op" && duration > 500ms }',
                  '{ span.http.status_code >= 500 && .tenant =~ "ac.*" }',
                  '{ .tenant = "acme" && !(duration < 1s) }'):
        found = shared_server.get("/api/search", q=query).json()["traces"]
        assert trace_id.hex() in [t["traceID"].rjust(32, "0") for t in found], query
    found = shared_server.get("/api/search", tags="service.name=search-me", minDuration="900ms").json()
    assert len(found["traces"]) == 1
    assert found["traces"][0]["rootServiceName"] == "search-me"
    assert found["traces"][0]["durationMs"] == 1000
    assert not shared_server.get("/api/search", tags="service.name=search-me", minDuration="2s").json() \
        .get("traces")
    bad = shared_server.get("/api/search", q="{ name = }")
    assert bad.status_code == 400


def test_tags_and_values(shared_server):
    _, body = one_span("tagged", attrs={"colour": "green"})
    shared_server.post("/v1/traces", body)
    scopes = shared_server.get("/api/v2/search/tags").json()["scopes"]
    names = {scope["name"]: scope["tags"] for scope in scopes}
    assert "colour" in names["span"] and "service.name" in names["resource"]
    values = shared_server.get("/api/search/tag/colour/values").json()["tagValues"]
    assert "green" in values
    values = shared_server.get("/api/v2/search/tag/span.colour/values").json()["tagValues"]
    assert {"type": "string", "value": "green"} in values


def test_services_operations_and_slow_traces(server):
    now = time.time_ns()
    for i in range(1, 11):
        trace_id, span_id = ids()
        server.post("/v1/traces", otlp.traces("svc", [
            otlp.span(trace_id, span_id, "op", now - i * 10**8, now, kind=2)]))
    services = server.api("/services")["services"]
    assert [(s["service"], s["spans"]) for s in services] == [("svc", 10)]
    operation = server.api("/operations", service="svc")["operations"][0]
    assert operation["spans"] == 10
    assert operation["max_ns"] == 10**9
    assert 4 * 10**8 <= operation["p50_ns"] <= 6 * 10**8
    traces = server.api("/traces", service="svc", limit=3)["traces"]
    assert [t["duration_ns"] for t in traces] == [10 * 10**8, 9 * 10**8, 8 * 10**8]
    assert traces[0]["slowest"]["name"] == "op"
    newest = server.api("/traces", filter='{ duration > 450ms }', order="newest")["traces"]
    assert len(newest) == 6


def test_metrics_tell_what_was_taken(server):
    _, body = one_span()
    server.post("/v1/traces", body)
    text = server.get("/metrics").text
    assert "# TYPE" in text
    assert any("span" in line and line.rstrip().endswith(" 1") for line in text.splitlines())
    assert wait_for(lambda: server.get("/-/ready").status_code == 200)
    assert server.get("/-/healthy").status_code == 200
