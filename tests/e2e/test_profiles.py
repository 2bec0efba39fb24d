"""Profiles in, merged flame graphs and explanations out."""
import gzip
import io
import json
import os
import subprocess
import time

import pytest

import otlp
from conftest import ROOT, run_cli

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
MS = 10**6
FRAMES = [("leaf", "leaf.cc", 7), ("work", "work.cc", 40), ("main", "main.cc", 3)]
OTHER = [("other", "other.cc", 9), ("work", "work.cc", 44), ("main", "main.cc", 3)]


class World:
    """A trace of two spans and a profile whose samples name them."""

    def __init__(self, server, layout="1.10"):
        self.trace, self.root, self.child = os.urandom(16), os.urandom(8), os.urandom(8)
        self.now = time.time_ns()
        start = self.now - 1000 * MS
        self.start = start
        assert server.post("/v1/traces", otlp.traces("shop", [
            otlp.span(self.trace, self.root, "request", start, self.now, kind=2),
            otlp.span(self.trace, self.child, "price", start + 100 * MS, self.now - 100 * MS,
                      parent=self.root),
        ])).status_code == 200
        profile = otlp.Profile("shop")
        for i in range(60):
            at = start + 100 * MS + i * 10 * MS
            profile.add(FRAMES if i % 3 else OTHER, [10 * MS], [at], (self.trace, self.child))
        profile.add(FRAMES, [10 * MS], [start + 20 * MS], (self.trace, self.root))
        profile.add(OTHER, [10 * MS], [start + 30 * MS])
        answer = server.post("/v1development/profiles", profile.encode(start, 1000 * MS, layout))
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def world(shared_server):
    made = World(shared_server)
    made.server = shared_server
    return made


def test_the_flame_graph_of_one_span_holds_its_samples_only(world):
    flame = world.server.api("/flame", trace_id=world.trace.hex(), span_id=world.child.hex())
    assert flame["tier"] == "span"
    assert flame["samples"] == 60
    assert flame["total"] == 600 * MS
    tops = {row["function"]: row for row in flame["top"]}
    assert tops["leaf"]["self"] == 400 * MS
    assert tops["other"]["self"] == 200 * MS
    assert tops["work"]["total"] == 600 * MS
    assert {line["line"] for line in tops["work"]["lines"]} == {40, 44}


def test_with_children_adds_the_descendants(world):
    own = world.server.api("/flame", trace_id=world.trace.hex(), span_id=world.root.hex())
    assert own["samples"] == 1
    both = world.server.api("/flame", trace_id=world.trace.hex(), span_id=world.root.hex(),
                            mode="with_children")
    assert both["samples"] == 61
    trace = world.server.api("/flame", trace_id=world.trace.hex())
    assert trace["samples"] == 61


def test_service_and_pooled_flame_graphs(world):
    service = world.server.api("/flame", service="shop")
    assert service["samples"] == 62
    pooled = world.server.api("/flame", spans='{ name = "price" }')
    assert pooled["samples"] == 60
    selected = world.server.api("/flame", query=CPU + '{service_name="shop"}')
    assert selected["total"] == 620 * MS


def test_the_explanation_sums_to_the_span_and_says_its_source(world):
    told = world.server.api("/explain", trace_id=world.trace.hex(), span_id=world.child.hex())
    assert told["span"]["name"] == "price"
    ledger = told["ledger"]
    assert ledger["duration_ns"] == 800 * MS
    assert sum(c["ns"] for c in ledger["classes"]) == 800 * MS
    on_cpu = next(c for c in ledger["classes"] if c["class"] == "on_cpu")
    assert on_cpu["ns"] == pytest.approx(600 * MS, rel=0.01)
    assert on_cpu["samples"] == 60
    assert on_cpu["source"] == "span"
    assert on_cpu["low_ns"] <= 600 * MS <= on_cpu["high_ns"]
    profile = next(p for p in told["profiles"] if p["type"] == CPU)
    assert profile["tier"] == "span"
    assert profile["samples"] == 60
    leaf = next(row for row in profile["top"] if row["function"] == "leaf")
    assert leaf["share"] == pytest.approx(2 / 3, abs=0.001)
    assert leaf["share_low"] < 2 / 3 < leaf["share_high"]
    parent = world.server.api("/explain", trace_id=world.trace.hex(), span_id=world.root.hex())
    child_time = next(c for c in parent["ledger"]["classes"] if c["class"] == "child")
    assert child_time["ns"] == 800 * MS


def test_the_terminal_tells_the_same_numbers(world):
    told = world.server.api("/explain", trace_id=world.trace.hex(), span_id=world.child.hex())
    printed = json.loads(run_cli("explain", world.trace.hex(), world.child.hex(), "--server",
                                 world.server.http, "--output", "json").stdout)
    assert printed["ledger"] == told["ledger"]
    assert printed["profiles"] == told["profiles"]
    text = run_cli("explain", world.trace.hex(), world.child.hex(), "--server",
                   world.server.http).stdout
    assert "leaf" in text and "price" in text and "60" in text


def test_every_export_holds_the_same_sums(world, tmp_path):
    query = {"trace_id": world.trace.hex(), "span_id": world.child.hex()}

    def get(form):
        answer = world.server.get("/api/hotspan/v1/flame", format=form, **query)
        assert answer.status_code == 200, answer.text
        return answer
    folded = get("folded").text.strip().splitlines()
    assert sorted(folded) == sorted(["main;work;leaf %d" % (400 * MS), "main;work;other %d" % (200 * MS)])
    speedscope = get("speedscope").json()
    assert sum(speedscope["profiles"][0]["weights"]) == 600 * MS
    assert "<svg" in get("svg").text and "leaf" in get("svg").text
    assert get("flamebearer").json()["flamebearer"]["numTicks"] == 600 * MS
    assert len(get("columns").content) > 10
    pprof = get("pprof").content
    path = tmp_path / "span.pb.gz"
    path.write_bytes(pprof)
    assert gzip.decompress(pprof)
    # Parsed by an outside library.
    script = ROOT / "tests/e2e/node/sum_pprof.mjs"
    if not (script.parent / "node_modules").exists():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent", "--no-audit", "--no-fund"],
                       cwd=script.parent, check=True)
    done = subprocess.run(["node", script, path], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"leaf": 400 * MS, "other": 200 * MS}


def test_the_older_layout_is_told_apart(server):
    old = World(server, layout="1.9")
    flame = server.api("/flame", trace_id=old.trace.hex(), span_id=old.child.hex())
    assert flame["samples"] == 60


def test_profiles_by_ingest(server):
    now = int(time.time())
    answer = server.post(f"/ingest?name=legacy%7Bzone%3D%22eu%22%7D&from={now - 10}&until={now}&format=folded",
                         b"main;a;b 30\nmain;a 10\n", "text/plain")
    assert answer.status_code == 200, answer.text
    services = {s["service"] for s in server.api("/services")["services"]}
    assert "legacy" in services
    pprof = make_pprof()
    boundary = "XX"
    body = (b"--XX\r\nContent-Disposition: form-data; name=\"profile\"; filename=\"profile.pprof\"\r\n"
            b"Content-Type: application/octet-stream\r\n\r\n" + pprof + b"\r\n--XX--\r\n")
    answer = server.post(f"/ingest?name=multi&from={now - 10}&until={now}&format=jfr", body,
                         f"multipart/form-data; boundary={boundary}")
    assert answer.status_code == 200, answer.text
    answer = server.post(f"/ingest?name=raw&from={now - 10}&until={now}", gzip.compress(pprof),
                         "application/octet-stream")
    assert answer.status_code == 200, answer.text
    for service in ("multi", "raw"):
        flame = server.api("/flame", service=service, type=CPU)
        assert flame["total"] == 50 * MS, service


def make_pprof():
    """A pprof of one cpu type: main;f 50 ms."""
    strings = ["", "cpu", "nanoseconds", "f", "main", "x.c"]
    number, data, packed = otlp.number, otlp.data, otlp.packed
    out = data(1, number(1, 1) + number(2, 2))
    out += data(2, packed(1, [1, 2]) + packed(2, [50 * MS]))
    for i, name in ((1, 3), (2, 4)):
        out += data(4, number(1, i) + data(4, number(1, i) + number(2, 10 + i)))
        out += data(5, number(1, i) + number(2, name) + number(3, name) + number(4, 5))
    for text in strings:
        out += data(6, text)
    out += number(9, time.time_ns()) + number(10, 10**10)
    out += data(11, number(1, 1) + number(2, 2)) + number(12, 10 * MS)
    return out


def test_why_there_is_nothing_to_show(server):
    trace, span = os.urandom(16), os.urandom(8)
    now = time.time_ns()
    server.post("/v1/traces", otlp.traces("bare", [otlp.span(trace, span, "op", now - 10**9, now)]))
    told = server.api("/explain", trace_id=trace.hex(), span_id=span.hex())
    assert not told["profiles"]
    assert "no_profiles_of_service" in {m["reason"] for m in told["missing"]}
    assert all(m["fix"] for m in told["missing"])
    unobserved = next(c for c in told["ledger"]["classes"] if c["class"] == "unobserved")
    assert unobserved["ns"] == 10**9 and unobserved["hint"]


def test_zero_samples_of_a_labelling_source_are_a_measurement(server):
    World(server)
    trace, span = os.urandom(16), os.urandom(8)
    now = time.time_ns()
    server.post("/v1/traces", otlp.traces("shop", [
        otlp.span(trace, span, "tiny", now - 500 * MS, now - 499 * MS)]))
    told = server.api("/explain", trace_id=trace.hex(), span_id=span.hex())
    for profile in told["profiles"]:
        assert profile["samples"] == 0
    assert "shorter_than_period" in {m["reason"] for m in told["missing"]}


def test_files_are_imported_by_content(server, tmp_path):
    trace_id, span_id = os.urandom(16), os.urandom(8)
    now = time.time_ns()
    files = {
        "traces.bin": otlp.traces("imported", [otlp.span(trace_id, span_id, "op", now - 10, now)]),
        "cpu.pb.gz": gzip.compress(make_pprof()),
        "stacks.txt": b"main;x 5\n",
        "profiles.bin": otlp.Profile("imported-profile").add(FRAMES, [MS], [now - 5]).encode(now - 10),
    }
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        run_cli("import", path, "--server", server.http)
    assert len(server.api(f"/traces/{trace_id.hex()}")["spans"]) == 1
    assert server.api("/flame", service="imported-profile")["samples"] == 1
    (tmp_path / "rubbish").write_bytes(io.BytesIO(os.urandom(400)).read())
    done = run_cli("import", tmp_path / "rubbish", "--server", server.http, expect=None)
    assert done.returncode != 0 and done.stderr.strip()
