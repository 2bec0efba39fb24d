"""The real binary on free ports and a folder of its own, for one test or for a module."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
import requests

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("HOTSPAN_BINARY", ROOT / "build/dev/hotspan"))


class Server:
    """A running `hotspan serve`."""

    def __init__(self, folder, *flags):
        self.folder = pathlib.Path(folder)
        self.flags = flags
        self.process = None
        self.start()

    def start(self):
        self.log = open(self.folder / "server.log", "ab")
        self.process = subprocess.Popen(
            [BINARY, "serve", "--data-dir", self.folder / "data", "--http-addr", "127.0.0.1:0",
             "--otlp-grpc-addr", "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0", *self.flags],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        assert line, (self.folder / "server.log").read_text()
        ready = json.loads(line)
        assert ready["ready"] is True
        self.http = "http://" + ready["http"]
        self.otlp_http = "http://" + ready["otlp_http"]
        self.otlp_grpc = ready["otlp_grpc"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.close()
        return code

    def get(self, path, **params):
        return requests.get(self.http + path, params=params, timeout=30)

    def api(self, path, **params):
        answer = self.get("/api/hotspan/v1" + path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, body, content_type="application/x-protobuf", base=None, **headers):
        headers = {"Content-Type": content_type, **{k.replace("_", "-"): v for k, v in headers.items()}}
        return requests.post((base or self.http) + path, data=body, headers=headers, timeout=60)


@contextlib.contextmanager
def running_server(*flags):
    folder = tempfile.mkdtemp(prefix="hotspan-e2e-")
    server = None
    try:
        server = Server(folder, *flags)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server():
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def shared_server():
    with running_server() as running:
        yield running


def wait_for(what, seconds=20.0):
    """Calls `what` until it returns something true; the answer, or an assertion."""
    deadline = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what} did not come true in {seconds} s"
        time.sleep(0.05)  # polling a server, bounded above


def run_cli(*arguments, expect=0, **kwargs):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          **kwargs)
    if expect is not None:
        assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    return done
