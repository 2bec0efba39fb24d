#!/usr/bin/env python3
"""Runs run_demo.py with the real services against a stand-in for the server.

usage: run_demo_test.py hotspan_demo_service hotspan_demo_load
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SERVICE, LOAD = [os.path.abspath(path) for path in sys.argv[1:3]]
RUN_DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_demo.py")
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

# Takes what the agents send, and knows one trace for every question.
STAND_IN = """#!{python}
import http.server, json, sys, urllib.parse
TRACE, SPAN = "{trace}", "{span}"
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass
    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reply(b"")
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path.endswith("/traces"):
            name = urllib.parse.parse_qs(query)["name"][0]
            other = {{"name": name, "span_id": "1111111111111111", "duration_ns": 5}}
            slow = {{"name": name, "span_id": SPAN, "duration_ns": 7}}
            answer = {{"traces": [{{"trace_id": TRACE, "matched": [other, slow]}}]}}
        else:
            answer = {{"spans": [{{"span_id": SPAN, "samples": {{"cpu": 3}}}}]}}
        self.reply(json.dumps(answer).encode())
assert sys.argv[1] == "serve" and "--data-dir" in sys.argv, sys.argv
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
address = "127.0.0.1:%d" % server.server_port
print(json.dumps({{"ready": True, "http": address, "otlp_http": address}}), flush=True)
server.serve_forever()
"""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class RunDemo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.scratch = os.path.join(self.folder, "tmp")
        self.bin_dir = os.path.join(self.folder, "bin")
        os.mkdir(self.scratch)
        os.mkdir(self.bin_dir)
        os.symlink(SERVICE, os.path.join(self.bin_dir, "hotspan_demo_service"))
        os.symlink(LOAD, os.path.join(self.bin_dir, "hotspan_demo_load"))
        self.stand_in = self.script(STAND_IN.format(python=sys.executable, trace=TRACE, span=SPAN))

    def script(self, text):
        path = os.path.join(self.folder, "hotspan")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def start(self, *arguments):
        command = [sys.executable, RUN_DEMO, "--hotspan", self.stand_in, "--bin-dir", self.bin_dir]
        command += ["--base-port", "0", "--http-port", "0", "--otlp-grpc-port", "0"]
        command += ["--otlp-http-port", "0", "--requests", "12", "--order-ms", "20"]
        process = subprocess.Popen(
            command + list(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": self.scratch},
        )
        self.addCleanup(process.kill)
        return process

    def assert_nothing_left(self, pids):
        self.assertEqual([name for name, pid in pids.items() if alive(pid)], [])
        self.assertEqual(os.listdir(self.scratch), [])

    def test_once_prints_one_object_and_ends_everything(self):
        output, errors = self.start("--once", "--json", "--quiet").communicate(timeout=120)
        result = json.loads(output)
        self.assertEqual((result["trace"], result["span"]), (TRACE, SPAN), errors)
        self.assertEqual(result["url"], f"http://{result['server']['http']}/trace/{TRACE}?span={SPAN}")
        self.assertEqual(len(result["ports"]), 8)
        self.assertEqual(len(result["pids"]), 10)
        self.assertEqual((result["load"]["all"]["ok"], result["load"]["all"]["failed"]), (12, 0))
        self.assert_nothing_left(result["pids"])

    def test_a_signal_ends_everything(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("--json", "--quiet", "--trickle", "5")
            result = json.loads(process.stdout.readline())
            self.assertTrue(all(alive(pid) for pid in result["pids"].values()))
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assert_nothing_left(result["pids"])

    def test_a_signal_while_it_starts_ends_everything(self):
        process = self.start("--quiet")
        deadline = time.monotonic() + 60
        while not os.listdir(self.scratch) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assert_nothing_left({})

    def test_a_killed_run_leaves_no_program_behind(self):
        process = self.start("--json", "--quiet")
        pids = json.loads(process.stdout.readline())["pids"]
        process.kill()
        process.communicate(timeout=60)
        deadline = time.monotonic() + 60
        while any(alive(pid) for pid in pids.values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([name for name, pid in pids.items() if alive(pid)], [])

    def test_keeps_the_data_folder_it_was_given(self):
        store = os.path.join(self.folder, "store")
        output, _ = self.start("--once", "--json", "--data-dir", store).communicate(timeout=120)
        self.assertEqual(json.loads(output)["data_dir"], store)
        self.assertTrue(os.path.isdir(store))

    def test_a_server_that_fails_is_named_with_its_words(self):
        self.stand_in = self.script("#!/bin/sh\necho 'the disk is full' >&2\nexit 3\n")
        process = self.start("--once")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("hotspan ended with exit code 3", errors)
        self.assertIn("the disk is full", errors)
        self.assert_nothing_left({})

    def test_a_missing_program_is_wrong_use(self):
        process = self.start("--bin-dir", self.folder)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn("is missing", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
