#!/usr/bin/env python3
"""Runs the benchmarks and prints each figure beside its demand, as a table and as JSON.

usage: bench/run.py --build BUILD [server | agent | micro] [--runs N] [--scale S] [--json FILE]

Server figures: ingest through the real binary in CPU-seconds of the server (user and system, until
compaction has settled), then reads against the data. Shape "shop" at `--scale` of its full size (5 million
spans, 20 million samples); the default is a tenth.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

TICKS = os.sysconf("SC_CLK_TCK")
CPU_TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"


class Server:
    def __init__(self, binary, folder):
        self.process = subprocess.Popen(
            [binary, "serve", "--data-dir", folder, "--http-addr", "127.0.0.1:0", "--otlp-grpc-addr",
             "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.address = json.loads(self.process.stdout.readline())["http"]
        host, _, port = self.address.partition(":")
        self.peer = socket.create_connection((host, int(port)))
        self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def settled_cpu_seconds(self):
        """CPU time once the server has been idle for two seconds: deferred work is not saved work."""
        before = self.cpu_seconds()
        quiet = 0
        while quiet < 4:
            time.sleep(0.5)
            now = self.cpu_seconds()
            quiet = quiet + 1 if now - before < 0.03 else 0
            before = now
        return before

    def peak_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0

    def get(self, path, **params):
        """(body, milliseconds on the wire, milliseconds the server says it took or None)."""
        query = "?" + urllib.parse.urlencode(params) if params else ""
        request = f"GET {path}{query} HTTP/1.1\r\nHost: {self.address}\r\n\r\n".encode()
        begin = time.perf_counter_ns()
        self.peer.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.peer.recv(1 << 20)
        head, _, body = data.partition(b"\r\n\r\n")
        size, inside = 0, None
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            elif name.lower() == b"server-timing":
                inside = float(value.split(b"dur=")[1])
        parts = [body]
        have = len(body)
        while have < size:
            part = self.peer.recv(1 << 20)
            parts.append(part)
            have += len(part)
        took = (time.perf_counter_ns() - begin) / 1e6
        assert b" 200 " in head.split(b"\r\n")[0], (path, params, head, b"".join(parts)[:300])
        return b"".join(parts), took, inside

    def api(self, path, **params):
        return json.loads(self.get("/api/hotspan/v1" + path, **params)[0])

    def stop(self):
        self.peer.close()
        self.process.terminate()
        self.process.wait()


def load(binary, server, spans, samples, seed):
    done = subprocess.run([binary, "bench-load", "--server", "http://" + server.address, "--spans",
                           str(spans), "--samples", str(samples), "--seed", str(seed), "--output", "json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def percentiles(times):
    ordered = sorted(times)
    return (ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))])


class Figures:
    def __init__(self):
        self.rows = []

    def add(self, name, values, unit, demand, holds):
        middle = statistics.median(values)
        self.rows.append({"figure": name, "median": middle, "low": min(values), "high": max(values),
                          "runs": len(values), "unit": unit, "demand": demand,
                          "holds": bool(holds(middle)) if holds else None})
        mark = {True: "holds", False: "MISSED", None: ""}[self.rows[-1]["holds"]]
        print(f"{name:<52} {middle:>12,.3f} {unit:<14} [{min(values):,.3f} .. {max(values):,.3f}] "
              f"{demand:<22} {mark}", flush=True)


def measure_ingest(binary, figures, options, spans, samples):
    rates = {"spans": [], "samples": [], "acknowledged": [], "peak": [], "bytes": []}
    for run in range(options.runs):
        for kind in ("spans", "samples"):
            folder = tempfile.mkdtemp(prefix="hotspan-bench-")
            server = Server(binary, folder)
            try:
                before = server.cpu_seconds()
                linked = spans if kind == "spans" else 1200
                told = load(binary, server, linked, 0 if kind == "spans" else samples, run + 1)
                used = server.settled_cpu_seconds() - before
                count = told["spans"] if kind == "spans" else told["samples"]
                rates[kind].append(count / used)
                rates["peak"].append(server.peak_mib())
                if kind == "spans":
                    rates["acknowledged"].append(told["ack_p99_ms"])
            finally:
                server.stop()
                shutil.rmtree(folder)
    figures.add("spans in, durable", rates["spans"], "/CPU-s", ">= 130,000", lambda v: v >= 130_000)
    figures.add("samples in, durable", rates["samples"], "/CPU-s", ">= 1,000,000",
                lambda v: v >= 1_000_000)
    figures.add("acknowledgement p99 at full load", rates["acknowledged"], "ms", "", None)
    figures.add("peak memory under full ingest", rates["peak"], "MiB", "<= 512", lambda v: v <= 512)


def sampled_spans(server, count):
    """(trace, span) ids that have samples, from traces drawn over the range."""
    found = []
    chance = random.Random(1)
    traces = server.api("/traces", start="now-25h", limit=500, order="newest")["traces"]
    chance.shuffle(traces)
    for trace in traces:
        detail = server.api(f"/traces/{trace['trace_id']}")
        for span in detail["spans"]:
            if span.get("samples"):
                found.append((trace["trace_id"], span["span_id"], span["service"]))
        if len(found) >= count:
            break
    return found


def measure_reads(binary, figures, options, spans, samples):
    folder = tempfile.mkdtemp(prefix="hotspan-bench-")
    server = Server(binary, folder)
    try:
        load(binary, server, spans, samples, 1)
        server.settled_cpu_seconds()
        chosen = sampled_spans(server, 300)
        assert chosen, "no span of the generated data has samples"
        services = [s for s in server.api("/services", start="now-25h")["services"] if s["samples"]]
        services.sort(key=lambda s: -s["samples"])

        def repeat(name, calls, demand="", holds=None):
            wire, inside = [], []
            for path, params in calls:
                _, took, told = server.get("/api/hotspan/v1" + path, **params)
                wire.append(took)
                if told is not None:
                    inside.append(told)
            times = inside or wire
            middle, high = percentiles(times)
            figures.add(f"{name}, p50", [middle], "ms", demand, holds)
            figures.add(f"{name}, p99", [high], "ms", "", None)

        ids = sorted({trace for trace, _, _ in chosen})
        repeat("trace by id", [(f"/traces/{trace}", {}) for trace in ids * 3], "<= 1",
               lambda v: v <= 1)
        one_span = [("/flame", {"trace_id": t, "span_id": s}) for t, s, _ in chosen]
        repeat("one span -> flame graph as JSON, first time", one_span, "<= 0.5", lambda v: v <= 0.5)
        repeat("one span -> flame graph as JSON, warm", one_span * 2, "<= 0.5", lambda v: v <= 0.5)
        repeat("explain one span",
               [("/explain", {"trace_id": t, "span_id": s}) for t, s, _ in chosen[:100]], "<= 20",
               lambda v: v <= 20)
        for hours, demand, limit in ((1, "<= 2", 2), (24, "<= 6", 6)):
            repeat(f"service, {hours} h -> flame graph (1,000 nodes)",
                   [("/flame", {"service": services[i % len(services)]["service"], "type": CPU_TYPE,
                                "start": f"now-{hours}h", "max_nodes": 1000}) for i in range(30)], demand,
                   lambda v, limit=limit: v <= limit)
        repeat("service's slowest 100 of 24 h",
               [("/traces", {"service": s["service"], "start": "now-24h", "limit": 100})
                for s in services[:10]], "<= 20", lambda v: v <= 20)
    finally:
        server.stop()
        size = sum(f.stat().st_size for f in pathlib.Path(folder).rglob("*") if f.is_file())
        figures.add(f"disk after {spans:,} spans, {samples:,} samples", [size / 2**20], "MiB", "", None)
        begin = time.monotonic()
        again = Server(binary, folder)
        figures.add("start with the data, to ready", [(time.monotonic() - begin) * 1000], "ms", "<= 300",
                    lambda v: v <= 300)
        again.stop()
        shutil.rmtree(folder)


def run_binary(path):
    if not path.exists():
        print(f"{path} is not built", file=sys.stderr)
        return 1
    return subprocess.run([path]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?", default="server", choices=["server", "agent", "micro", "all"])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    figures = Figures()
    code = 0
    if options.name in ("server", "all"):
        binary = options.build / "hotspan"
        spans, samples = int(5_000_000 * options.scale), int(20_000_000 * options.scale)
        print(f"shop at {options.scale:g}: {spans:,} spans, {samples:,} samples, {options.runs} runs")
        measure_ingest(binary, figures, options, spans, samples)
        measure_reads(binary, figures, options, spans, samples)
    if options.name in ("agent", "all"):
        code |= run_binary(options.build / "bench/hotspan_bench_agent")
    if options.name in ("micro", "all"):
        code |= run_binary(options.build / "bench/hotspan_bench_micro")
    if figures.rows:
        path = options.json or options.build / "bench-server.json"
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        path.write_text(json.dumps({"commit": commit.stdout.strip(), "machine": platform.platform(),
                                    "cores": os.cpu_count(), "figures": figures.rows}, indent=1) + "\n")
        print(f"written to {path}")
    return code


if __name__ == "__main__":
    sys.exit(main())
