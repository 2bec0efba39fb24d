"""Broken and hostile bodies get a clear answer, and the server goes on."""
import gzip
import json
import os
import socket
import subprocess
import time

import pytest
import zstandard

import otlp
from conftest import BINARY, run_cli, running_server

NOW = time.time_ns()


def good_traces(service="good"):
    return otlp.traces(service, [otlp.span(os.urandom(16), os.urandom(8), "op", NOW - 10, NOW)])


def assert_serving(server):
    assert server.post("/v1/traces", good_traces()).status_code == 200


@pytest.fixture(scope="module")
def target():
    with running_server() as running:
        yield running


@pytest.mark.parametrize("path", ["/v1/traces", "/v1development/profiles"])
def test_truncated_and_random_bodies_are_refused(target, path):
    body = good_traces() if "traces" in path else \
        otlp.Profile("p").add([("f", "f.c", 1)], [1], [NOW]).encode(NOW)
    for cut in (1, len(body) // 2, len(body) - 1):
        answer = target.post(path, body[:cut])
        assert answer.status_code == 400, (cut, answer.text)
    for _ in range(20):
        answer = target.post(path, b"\xff" + os.urandom(200))
        assert answer.status_code in (200, 400)
    assert_serving(target)


def test_an_error_names_what_is_wrong_in_the_senders_encoding(target):
    answer = target.post("/v1/traces", b'{"resourceSpans": [', "application/json")
    assert answer.status_code == 400
    assert "message" in answer.json()
    answer = target.post("/v1/traces", b"x", "text/csv")
    assert answer.status_code == 415
    answer = target.get("/v1/traces")
    assert answer.status_code == 405


def test_compression_bombs_are_stopped_at_the_limit(target):
    bomb = bytes(200 << 20)
    for encoding, packed in (("gzip", gzip.compress(bomb, 1)), ("zstd", zstandard.compress(bomb))):
        answer = target.post("/v1/traces", packed, Content_Encoding=encoding)
        assert answer.status_code in (400, 413), answer.text
        assert "limit" in answer.text or b"limit" in answer.content
    answer = target.post("/v1/traces", b"not gzip", Content_Encoding="gzip")
    assert answer.status_code == 400
    assert_serving(target)


def test_an_oversized_body_is_refused_early(target):
    with socket.create_connection(target.http.removeprefix("http://").split(":"), timeout=10) as peer:
        peer.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-protobuf\r\n"
                     b"Content-Length: 9999999999\r\n\r\n")
        assert b"413" in peer.recv(4096).split(b"\r\n")[0]
    assert_serving(target)


def test_hostile_profiles_are_rejected_by_profile(target):
    index = otlp.Profile("hostile").add([("f", "f.c", 1)], [1], [NOW])
    index.samples.append((999, [1], [NOW], 0))
    answer = target.post("/v1development/profiles", index.encode(NOW))
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert answer.content, "a rejected profile must be reported"
    deep = otlp.any_value("x")
    for _ in range(500):
        deep = otlp.data(5, otlp.data(1, deep))
    span = otlp.span(os.urandom(16), os.urandom(8), "deep", NOW - 1, NOW) + \
        otlp.data(9, otlp.data(1, "k") + otlp.data(2, deep))
    answer = target.post("/v1/traces", otlp.traces("deep", [span]))
    assert answer.status_code in (200, 400)
    count = otlp.data(1, otlp.data(2, otlp.data(2, b"\x0a" + b"\xff\xff\xff\xff\x07")))
    assert target.post("/v1/traces", count).status_code == 400
    assert_serving(target)


def test_invalid_utf8_is_replaced_and_kept(target):
    trace_id = os.urandom(16)
    span = otlp.span(trace_id, os.urandom(8), b"caf\xff", NOW - 1, NOW)
    assert target.post("/v1/traces", otlp.traces("utf8", [span])).status_code == 200
    assert target.api(f"/traces/{trace_id.hex()}")["spans"][0]["name"] == "caf\ufffd"


def test_parameters_are_named_in_errors(target):
    for path, field in (("/traces?limit=x", "limit"), ("/traces?start=yesterdayish", "start"),
                        ("/explain?trace_id=zz", "trace_id"), ("/flame?format=gif&service=a", "format"),
                        ("/traces?filter=%7B", "filter"), ("/traces?min_duration=5parsecs", "min_duration")):
        answer = target.get("/api/hotspan/v1" + path)
        assert answer.status_code == 400, (path, answer.text)
        error = answer.json()["error"]
        assert error["code"] == "invalid_argument"
        assert error["field"] == field, (path, error)
    answer = target.get("/api/hotspan/v1/explain", trace_id="1" * 32)
    assert answer.status_code == 404
    assert target.get("/api/hotspan/v1/nonsense").status_code == 404


def test_other_sites_may_not_post(target):
    answer = target.post("/ingest?name=x&format=folded", b"a 1\n", "text/plain",
                         Origin="https://evil.example")
    assert answer.status_code == 403
    answer = target.get("/api/hotspan/v1/services")
    assert answer.status_code == 200
    import requests
    answer = requests.get(target.http + "/api/hotspan/v1/services", headers={"Host": "evil.example"},
                          timeout=10)
    assert answer.status_code == 403


def test_rubbish_on_the_port_is_closed_without_harm(target):
    for words in (b"\x00\x01\x02\x03\x04", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                  b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 64):
        with socket.create_connection(target.http.removeprefix("http://").split(":"), timeout=10) as peer:
            try:
                peer.sendall(words)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(4096):
                    pass
            except OSError:
                pass  # closed by the server first
    assert_serving(target)


def start(*arguments):
    return subprocess.run([BINARY, "serve", "--http-addr", "127.0.0.1:0", "--otlp-grpc-addr",
                           "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60)


def assert_one_line(done):
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_starting_wrongly_says_in_one_line_what_to_do(target, tmp_path):
    address = target.http.removeprefix("http://")
    done = subprocess.run([BINARY, "serve", "--data-dir", tmp_path / "a", "--http-addr", address],
                          capture_output=True, text=True, timeout=60)
    assert_one_line(done)
    assert address.split(":")[1] in done.stderr
    done = start("--data-dir", target.folder / "data")
    assert_one_line(done)
    assert "in use" in done.stderr
    done = start("--data-dir", "/proc/nowhere")
    assert_one_line(done)
    done = start("--no-such-flag")
    assert done.returncode == 2 and "--no-such-flag" in done.stderr
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "FORMAT").write_text("hotspan 99\n")
    done = start("--data-dir", tmp_path / "new")
    assert_one_line(done)
    assert "format 99" in done.stderr


def test_the_terminal_says_what_is_wrong():
    done = run_cli("frobnicate", expect=2)
    assert "frobnicate" in done.stderr
    done = run_cli("explain", "abc", "--server", "http://127.0.0.1:1", expect=3)
    assert "127.0.0.1:1" in done.stderr
    assert run_cli("version").stdout.startswith("hotspan")
    assert "serve" in run_cli("--help").stdout


def test_trace_list_in_the_terminal(target):
    target.post("/v1/traces", otlp.traces("listed", [
        otlp.span(os.urandom(16), os.urandom(8), "slow op", NOW - 2 * 10**9, NOW)]))
    done = run_cli("traces", "list", "--service", "listed", "--min-latency", "1s", "--server", target.http)
    assert "slow op" in done.stdout
    done = run_cli("traces", "list", "--service", "listed", "--server", target.http, "--output", "json",
                   "--limit", "5")
    assert json.loads(done.stdout)["traces"][0]["root"]["name"] == "slow op"
    run_cli("traces", "list", "--service", "absent", "--server", target.http, expect=1)
