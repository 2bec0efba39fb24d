"""The demo under load, held against demo/truth.json, through the API and in a browser.

One demo runs for the whole file. Its load is mostly orders, so that the pooled shares rest on thousands of
samples; the other stories get a few requests each.
"""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import requests

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HOTSPAN_BUILD", ROOT / "build/dev"))
TRUTH = json.loads((ROOT / "demo/truth.json").read_text())
STORIES = {story["name"]: story for story in TRUTH["stories"]}
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SAMPLES_WANTED = 3000
ORDER_MS = 550


class Demo:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "demo/run_demo.py", "--hotspan", BUILD / "hotspan", "--bin-dir",
             BUILD / "demo", "--http-port", "0", "--otlp-grpc-port", "0", "--otlp-http-port", "0",
             "--base-port", "0", "--requests", "110", "--mix",
             "order=78,users=5,checkout=6,prices=12,report=5,home=4", "--trickle", "0", "--quiet", "--json"],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, "the demo printed no line"
        self.told = json.loads(line)
        self.url = self.told["url"]
        self.base = "/".join(self.url.split("/")[:3])

    def api(self, path, **params):
        answer = requests.get(self.base + "/api/hotspan/v1" + path,
                              params={"start": "now-1h", **params}, timeout=60)
        assert answer.status_code == 200, (path, params, answer.text)
        return answer.json()

    def spans(self, service, name, limit=200):
        """(trace id, span id) of spans of an operation, longest first."""
        filter_text = f'{{ resource.service.name = "{service}" && name = "{name}" }}'
        found = []
        for trace in self.api("/traces", filter=filter_text, limit=limit)["traces"]:
            found += [(trace["trace_id"], span["span_id"]) for span in trace["matched"]
                      if span["name"] == name]
        return found

    def explain(self, trace_id, span_id, **params):
        return self.api("/explain", trace_id=trace_id, span_id=span_id, **params)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def demo():
    running = Demo()
    try:
        yield running
    finally:
        running.stop()


def cpu_profile(told):
    return next(p for p in told["profiles"] if p["type"] == CPU)


def row_of(top, function):
    """The row of a function, by the end of its qualified name."""
    rows = [row for row in top if row["function"].split("(")[0].endswith(function)]
    return max(rows, key=lambda row: row["total"]) if rows else None


def line_number(file, text):
    lines = (ROOT / file).read_text().splitlines()
    at = [i for i, line in enumerate(lines, 1) if text in line]
    assert at, f"{file} has no line with {text}"
    return at


def test_the_pooled_shares_are_the_truth_within_three_points(demo):
    story = STORIES["order"]
    pooled = demo.api("/flame", spans=f'{{ name = "{story["span"]}" }}', type=CPU)
    assert pooled["tier"] == "span"
    assert pooled["samples"] >= SAMPLES_WANTED, pooled["samples"]
    for truth in story["functions"]:
        if truth["total"] == 0:
            continue
        row = row_of(pooled["top"], truth["function"])
        assert row, truth["function"]
        share = row["total"] / pooled["total"]
        assert abs(share - truth["total"]) <= 0.03, (truth["function"], share, truth["total"])


def test_nine_in_ten_of_the_shown_intervals_hold_the_truth(demo):
    story = STORIES["order"]
    held = shown = 0
    spans = demo.spans("order-service", story["span"])[:20]
    assert len(spans) == 20
    for trace_id, span_id in spans:
        profile = cpu_profile(demo.explain(trace_id, span_id))
        assert profile["tier"] == "span"
        for truth in story["functions"]:
            row = row_of(profile["top"], truth["function"])
            if row is None or truth["total"] == 0:
                continue
            shown += 1
            held += row["share_low"] <= truth["total"] <= row["share_high"]
    assert shown >= 150
    assert held / shown >= 0.9, (held, shown)


def test_the_ledger_of_each_span_sums_to_its_duration(demo):
    for trace_id, span_id in demo.spans("order-service", "order.calculate_totals")[:10]:
        told = demo.explain(trace_id, span_id)
        classes = told["ledger"]["classes"]
        assert sum(entry["ns"] for entry in classes) == told["span"]["duration_ns"]
        on_cpu = next(entry for entry in classes if entry["class"] == "on_cpu")
        # The truth is CPU time by the thread's own clock; one span has about 50 samples.
        expected = ORDER_MS * 1e6
        slack = 5 * 10.3e6 * math.sqrt(expected / 10.3e6)
        assert abs(told["ledger"]["cpu_ns"] - expected) < slack, told["ledger"]
        assert on_cpu["source"] == "span"


def test_the_three_leaves_are_named(demo):
    story = STORIES["order"]
    told = demo.api("/findings", service="order-service", name=story["span"])
    for truth in story["findings"]:
        found = [f for f in told["findings"]
                 if f["location"]["function"].split("(")[0].endswith(truth["function"])
                 and (f["kind"] == truth["kind"] or truth["family"] in f["title"].lower()
                      or truth["family"] in json.dumps(f["evidence"]).lower())]
        assert found, (truth, [(f["kind"], f["title"], f["location"]) for f in told["findings"]])
        assert found[0]["location"]["file"].endswith(story["file"]), found[0]["location"]
        assert found[0]["fix"]


def test_the_n_plus_one_is_named_with_its_line(demo):
    story = STORIES["users"]
    truth = story["findings"][0]
    trace_id, span_id = demo.spans("user-db", story["span"])[0]
    told = demo.explain(trace_id, span_id)
    found = next(f for f in told["findings"] if f["kind"] == "n_plus_one")
    assert truth["function"] in found["location"]["function"]
    assert found["location"]["file"].endswith(story["file"])
    assert found["location"]["line"] in line_number(story["file"], truth["line_text"])
    assert str(truth["calls"]) in found["title"] + json.dumps(found["evidence"])


def test_the_loop_in_the_serializer_is_suspected(demo):
    story = STORIES["checkout"]
    told = demo.api("/findings", service=story["service"], name=story["span"])
    found = next(f for f in told["findings"] if f["kind"] == "loop_in_code")
    assert "toJson" in found["location"]["function"] or "loadAttribute" in found["title"], found
    assert "not counted" in json.dumps(found)


def test_the_healthy_join_has_no_finding(demo):
    healthy = TRUTH["healthy"][0]
    told = demo.api("/findings", service=healthy["service"], name=healthy["child_span"])
    assert [f for f in told["findings"] if f["severity"] in ("medium", "high")] == []


def test_the_waiting_span_is_not_shown_as_work(demo):
    story = STORIES["prices"]
    trace_id, span_id = demo.spans(story["service"], story["span"])[0]
    told = demo.explain(trace_id, span_id)
    duration = told["span"]["duration_ns"]
    assert duration > 50e6, "no request had to wait for the price list"
    classes = {entry["class"]: entry["ns"] for entry in told["ledger"]["classes"]}
    assert sum(classes.values()) == duration
    assert classes.get("on_cpu", 0) < duration / 2


def test_the_lock_names_the_span_that_held_it(demo):
    story = STORIES["prices"]
    truth = story["findings"][0]
    holders = set(demo.spans(story["service"], truth["holder_span"]))
    trace_id, span_id = demo.spans(story["service"], story["span"])[0]
    told = demo.explain(trace_id, span_id)
    found = next(f for f in told["findings"] if f["kind"] == truth["kind"])
    assert found["location"]["function"].split("(")[0].endswith(truth["function"]), found
    assert found["location"]["file"].endswith(story["file"]), found
    assert found["location"]["line"] in line_number(story["file"], truth["line_text"]), found
    assert truth["holder_span"] in found["title"], found
    assert any(trace in found["title"] and span in found["title"] for trace, span in holders), found
    # The wait is exact, and no part of it is counted twice.
    wait = next(e["value"] for e in found["evidence"] if e["text"].startswith("event lock.wait"))
    assert 0 < wait <= told["span"]["duration_ns"]
    assert sum(entry["ns"] for entry in told["ledger"]["classes"]) == told["span"]["duration_ns"]


def test_the_page_shows_it(demo):
    environment = {**os.environ, "HOTSPAN_URL": demo.base, "HOTSPAN_LINK": demo.url}
    done = subprocess.run(["npx", "playwright", "test", "--config", "playwright.demo.config.ts"],
                          cwd=ROOT / "ui", env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_left_running_afterwards():
    running = subprocess.run(
        [sys.executable, ROOT / "demo/run_demo.py", "--hotspan", BUILD / "hotspan", "--bin-dir",
         BUILD / "demo", "--http-port", "0", "--otlp-grpc-port", "0", "--otlp-http-port", "0", "--base-port",
         "0", "--requests", "6", "--trickle", "0", "--quiet", "--json", "--once"],
        capture_output=True, text=True, timeout=180)
    assert running.returncode == 0, running.stderr
    told = json.loads(running.stdout)
    pids = told["pids"].values() if isinstance(told["pids"], dict) else told["pids"]
    for pid in pids:
        deadline = time.monotonic() + 10
        while pathlib.Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)  # ends on its own, bounded above
        assert not pathlib.Path(f"/proc/{pid}").exists()
