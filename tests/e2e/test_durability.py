"""What was acknowledged survives kill -9 in the middle of ingest, and nothing is doubled."""
import os
import random
import threading
import time

import requests

import otlp
from conftest import running_server

ROUNDS = 20
SPANS, SAMPLES = 7, 9


def body_pair(trace_id, span_id, now):
    spans = [otlp.span(trace_id, span_id if i == 0 else os.urandom(8), f"op{i}", now - 100, now)
             for i in range(SPANS)]
    profile = otlp.Profile("durable")
    for i in range(SAMPLES):
        profile.add([(f"leaf{i}", "x.cc", i), ("main", "x.cc", 1)], [1000], [now - 50 + i],
                    (trace_id, span_id))
    return otlp.traces("durable", spans), profile.encode(now - 100, 100)


class Sender(threading.Thread):
    """Sends pairs until the server is gone; remembers what was acknowledged."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.acknowledged = []
        self.session = requests.Session()

    def post(self, path, body):
        return self.session.post(self.base + path, data=body, timeout=30,
                                 headers={"Content-Type": "application/x-protobuf"}).status_code == 200

    def run(self):
        while True:
            trace_id, span_id = os.urandom(16), os.urandom(8)
            traces, profile = body_pair(trace_id, span_id, time.time_ns())
            entry = [trace_id, span_id, False, False]
            try:
                entry[2] = self.post("/v1/traces", traces)
                entry[3] = self.post("/v1development/profiles", profile)
            except requests.RequestException:
                return
            finally:
                self.acknowledged.append(entry)


def test_twenty_rounds_of_kill_nine_under_ingest():
    chance = random.Random(20261)
    with running_server() as server:
        everything = []
        for _ in range(ROUNDS):
            senders = [Sender(server.http) for _ in range(3)]
            for sender in senders:
                sender.start()
            time.sleep(0.1 + chance.random() * 0.3)  # the moment of the kill is the point
            server.kill()
            for sender in senders:
                sender.join()
                everything += sender.acknowledged
            server.start()
            # The last of each sender were the ones under way.
            check(server, [e for sender in senders for e in sender.acknowledged[-12:]])
        assert sum(e[2] for e in everything) > ROUNDS
        check(server, chance.sample(everything, min(400, len(everything))))


def check(server, entries):
    for trace_id, span_id, spans_acknowledged, samples_acknowledged in entries:
        answer = server.get(f"/api/hotspan/v1/traces/{trace_id.hex()}")
        spans = len(answer.json()["spans"]) if answer.status_code == 200 else 0
        assert spans in ((SPANS,) if spans_acknowledged else (0, SPANS)), trace_id.hex()
        if not spans_acknowledged:
            continue
        flame = server.get("/api/hotspan/v1/flame", trace_id=trace_id.hex(), span_id=span_id.hex())
        samples = flame.json().get("samples", 0) if flame.status_code == 200 else 0
        assert samples in ((SAMPLES,) if samples_acknowledged else (0, SAMPLES)), trace_id.hex()


def test_data_is_there_after_an_orderly_restart():
    with running_server() as server:
        trace_id, span_id = os.urandom(16), os.urandom(8)
        traces, profile = body_pair(trace_id, span_id, time.time_ns())
        assert server.post("/v1/traces", traces).status_code == 200
        assert server.post("/v1development/profiles", profile).status_code == 200
        assert server.stop() == 0
        server.start()
        check(server, [[trace_id, span_id, True, True]])
        # A retry of what was stored before the restart is not stored again.
        assert server.post("/v1/traces", traces).status_code == 200
        assert server.api("/services")["services"][0]["spans"] == SPANS
