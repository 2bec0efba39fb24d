#!/usr/bin/env python3
"""Runs the whole demo: the server, the services, the load; prints a link to a slow span.

Starts `hotspan serve` on a data folder (a temporary one unless --data-dir is given), then the demo
services, then the load generator. When the burst of requests is over it looks for the slowest
order.calculate_totals span that has samples and prints the address of its explanation. Then a
trickle of requests goes on until Ctrl-C, which ends everything that was started.

Needs nothing but Python's standard library.
"""

import argparse
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

# Name, offset from --base-port, the services it calls. Each stands after those it calls.
SERVICES = [
    ("data-service", 3, []),
    ("auth-service", 2, []),
    ("order-service", 4, []),
    ("user-db", 5, []),
    ("api_server", 6, ["user-db"]),
    ("checkout-service", 7, []),
    ("api-gateway", 1, ["auth-service", "data-service"]),
    ("frontend", 0, ["api-gateway", "order-service", "api_server", "checkout-service"]),
]
# What to look for, by the name of its story in truth.json.
STORIES = {
    "order": ("order-service", "order.calculate_totals"),
    "users": ("user-db", "UserRepository.FindByEmail"),
    "checkout": ("checkout-service", "calculate-total"),
    "prices": ("checkout-service", "price_list"),
}
PORT_TRIES = 40
READY_SECONDS = 60
# How long spans and samples may take from a service to an answer of the server.
ARRIVAL_SECONDS = 30
END_SECONDS = 15


class DemoError(Exception):
    """One line that says what went wrong."""


class Stopped(Exception):
    """A signal asked for the end."""


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In the child: ends it when this program goes without saying so."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Ending:
    """Turns SIGINT and SIGTERM into Stopped, but not while a child is half started."""

    def __init__(self):
        self.wanted = False
        self.held = False

    def handle(self, number, frame):
        self.wanted = True
        if not self.held:
            raise Stopped()

    def __enter__(self):
        self.held = True

    def __exit__(self, kind, error, trace):
        self.held = False
        if self.wanted:
            raise Stopped()


class Child:
    """A program in a process group of its own, so that Ctrl-C reaches this one alone."""

    def __init__(self, name, arguments, log_dir, environment, error_to_terminal=False):
        self.name = name
        self.log_path = os.path.join(log_dir, name + ".log")
        self.lines = []
        self.changed = threading.Condition()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if error_to_terminal else log,
                env=environment,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.decode("utf-8", "replace").strip())
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def json_line(self, seconds):
        """The first line of standard output that is a JSON object."""
        deadline = time.monotonic() + seconds
        seen = 0
        while True:
            with self.changed:
                while seen == len(self.lines):
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise DemoError(f"{self.name} was not ready after {seconds} s\n{self.tail()}")
                    self.changed.wait(min(left, 1))
                line = self.lines[seen]
                seen += 1
            if line is None:
                code = self.process.wait()
                raise DemoError(f"{self.name} ended with exit code {code}\n{self.tail()}")
            if line.startswith("{"):
                try:
                    return json.loads(line)
                except ValueError:
                    continue

    def tail(self):
        with open(self.log_path, "rb") as log:
            text = log.read()[-2000:].decode("utf-8", "replace").strip()
        return text or "(it said nothing)"

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def wait(self, deadline):
        """True when it is over by then."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
            return True
        except subprocess.TimeoutExpired:
            return False


def end_all(children):
    """Ends the children in waves, the last started first, and waits for each wave.

    The server comes last, so that the services can hand their last spans over.
    """
    server = [child for child in children if child.name == "hotspan"]
    load = [child for child in children if child.name == "load"]
    services = [child for child in children if child not in server and child not in load]
    for wave in (load, services, server):
        for child in wave:
            child.signal(signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS
        for child in wave:
            if not child.wait(deadline):
                child.signal(signal.SIGKILL)
                child.process.wait()
            child.reader.join(1)
            child.process.stdout.close()


def free_port(wanted):
    """The port if it can be bound, else 0: any."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            return 0
    return wanted


def get_json(url):
    # Straight to the loopback address, whatever proxy the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=20) as answer:
        return json.load(answer)


def slowest_spans(api, service, name, start):
    """(duration, trace, span) of the slowest spans of an operation, longest first."""
    query = urllib.parse.urlencode(
        {"service": service, "name": name, "start": start, "order": "longest", "limit": 20}
    )
    found = []
    for trace in get_json(f"{api}/traces?{query}")["traces"]:
        for span in trace.get("matched", []):
            if span["name"] == name:
                found.append((span["duration_ns"], trace["trace_id"], span["span_id"]))
    return sorted(found, reverse=True)


def has_samples(api, trace_id, span_id):
    for span in get_json(f"{api}/traces/{trace_id}")["spans"]:
        if span["span_id"] == span_id:
            return any(count > 0 for count in span.get("samples", {}).values())
    return False


def find_story(api, service, name, start, wants_samples, deadline):
    """(trace, span) of the slowest span, waiting until it and its samples have arrived."""
    found = []
    while True:
        try:
            found = slowest_spans(api, service, name, start)
            for _, trace_id, span_id in found[:5]:
                if not wants_samples or has_samples(api, trace_id, span_id):
                    return trace_id, span_id
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() >= deadline:
                raise DemoError(f"the server does not answer: {error}") from error
        if time.monotonic() >= deadline:
            return found[0][1:] if found else None
        time.sleep(0.5)


class Demo:
    def __init__(self, options, ending):
        self.options = options
        self.ending = ending
        self.children = []
        self.scratch = tempfile.mkdtemp(prefix="hotspan-demo-")
        self.data_dir = options.data_dir or os.path.join(self.scratch, "store")
        self.log_dir = os.path.join(self.scratch, "logs")
        self.service_dir = os.path.join(self.scratch, "services")
        for folder in (self.data_dir, self.log_dir, self.service_dir):
            os.makedirs(folder, exist_ok=True)

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def start(self, name, arguments, environment=None, error_to_terminal=False):
        with self.ending:
            child = Child(name, arguments, self.log_dir, environment, error_to_terminal)
            self.children.append(child)
        return child

    def start_server(self):
        arguments = [self.options.hotspan, "serve", "--data-dir", self.data_dir]
        for flag, wanted in (
            ("--http-addr", self.options.http_port),
            ("--otlp-grpc-addr", self.options.otlp_grpc_port),
            ("--otlp-http-addr", self.options.otlp_http_port),
        ):
            port = free_port(wanted)
            if port != wanted:
                self.say(f"port {wanted} is in use, taking a free one")
            arguments += [flag, f"127.0.0.1:{port}"]
        self.server = self.start("hotspan", arguments).json_line(READY_SECONDS)
        self.url = "http://" + self.server["http"]
        self.api = self.url + "/api/hotspan/v1"

    def start_services(self):
        environment = dict(os.environ)
        environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + self.server["otlp_http"]
        self.ports = {}
        base = self.options.base_port
        for name, offset, peers in SERVICES:
            arguments = [
                os.path.join(self.options.bin_dir, "hotspan_demo_service"),
                "--service", name,
                "--port", str(base + offset if base else 0),
                "--port-tries", str(PORT_TRIES if base else 1),
                "--data", self.service_dir,
                "--order-ms", str(self.options.order_ms),
            ]
            for peer in peers:
                arguments += ["--peer", f"{peer}=127.0.0.1:{self.ports[peer]}"]
            self.ports[name] = self.start(name, arguments, environment).json_line(READY_SECONDS)["port"]

    def run_load(self):
        """Runs the burst to its end; the load generator then goes on with its trickle."""
        arguments = [
            os.path.join(self.options.bin_dir, "hotspan_demo_load"),
            "--target", f"127.0.0.1:{self.ports['frontend']}",
            "--requests", str(self.options.requests),
            "--concurrency", str(self.options.concurrency),
            "--trickle", str(round(1000 * self.options.trickle)),
            "--json",
        ]
        if self.options.mix:
            arguments += ["--mix", self.options.mix]
        if self.options.once or self.options.trickle == 0:
            arguments.append("--once")
        load = self.start("load", arguments, error_to_terminal=not self.options.quiet)
        # Two heavy requests at a time of half a second each, with room for a slow machine.
        return load.json_line(120 + 4 * self.options.requests)

    def result(self, summary, started):
        stories = {}
        deadline = time.monotonic() + ARRIVAL_SECONDS
        for story, (service, name) in STORIES.items():
            if self.options.mix and story + "=" not in self.options.mix:
                continue
            wants_samples = story != "prices"
            found = find_story(self.api, service, name, started, wants_samples, deadline)
            if found is not None:
                trace_id, span_id = found
                stories[story] = {
                    "trace": trace_id,
                    "span": span_id,
                    "url": f"{self.url}/trace/{trace_id}?span={span_id}",
                }
        first = stories.get("order") or next(iter(stories.values()), None)
        if first is None:
            raise DemoError("the server knows none of the demo's spans")
        return {
            "url": first["url"],
            "trace": first["trace"],
            "span": first["span"],
            "server": self.server,
            "ports": self.ports,
            "pids": {child.name: child.process.pid for child in self.children},
            "pid": os.getpid(),
            "data_dir": self.data_dir,
            "stories": stories,
            "load": summary,
        }

    def run(self):
        self.say("starting the server and the services")
        self.start_server()
        self.start_services()
        started = int(time.time())
        self.say(
            f"sending {self.options.requests} requests to http://127.0.0.1:{self.ports['frontend']}"
        )
        summary = self.run_load()
        self.say("looking for the slowest order.calculate_totals")
        result = self.result(summary, started)
        if self.options.json:
            print(json.dumps(result), flush=True)
        else:
            print(f"\nA slow span and the code that made it slow:\n\n  {result['url']}\n", flush=True)
            for story, found in result["stories"].items():
                if found["url"] != result["url"]:
                    self.say(f"  {story + ':':10} {found['url']}")
        if self.options.once:
            return
        self.say("\nCtrl-C ends everything.")
        while True:
            time.sleep(1)
            for child in self.children:
                over = child.process.poll()
                if over is not None and child.name != "load":
                    raise DemoError(f"{child.name} ended with exit code {over}\n{child.tail()}")

    def close(self):
        end_all(self.children)
        shutil.rmtree(self.scratch, ignore_errors=True)


def parse_arguments():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    build = os.path.join(root, "build", "release")
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--hotspan", default=os.path.join(build, "hotspan"), metavar="PATH")
    parser.add_argument(
        "--bin-dir", default=os.path.join(build, "demo"), metavar="DIR",
        help="folder of hotspan_demo_service and hotspan_demo_load",
    )
    parser.add_argument("--data-dir", metavar="DIR", help="keep the store here (default: temporary)")
    parser.add_argument("--http-port", type=int, default=4040, metavar="P")
    parser.add_argument("--otlp-grpc-port", type=int, default=4317, metavar="P")
    parser.add_argument("--otlp-http-port", type=int, default=4318, metavar="P")
    parser.add_argument(
        "--base-port", type=int, default=8080, metavar="P",
        help="the frontend's port; the others follow, taken ones are skipped; 0: any free ones",
    )
    parser.add_argument("--requests", type=int, default=150, metavar="N")
    parser.add_argument("--concurrency", type=int, default=15, metavar="N")
    parser.add_argument("--mix", help="weights of the routes, e.g. order=4,users=1")
    parser.add_argument(
        "--trickle", type=float, default=1.0, metavar="RATE",
        help="requests a second after the burst; 0: none",
    )
    parser.add_argument(
        "--order-ms", type=int, default=550, metavar="MS", help="CPU time of one order's totals"
    )
    parser.add_argument("--once", action="store_true", help="end after the burst")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--quiet", action="store_true", help="without the load's progress")
    options = parser.parse_args()
    for path in (
        options.hotspan,
        os.path.join(options.bin_dir, "hotspan_demo_service"),
        os.path.join(options.bin_dir, "hotspan_demo_load"),
    ):
        if not os.access(path, os.X_OK):
            parser.error(f"{path} is missing; build it with ./dev build release")
    if options.requests < 1:
        parser.error("--requests must be at least 1")
    if options.data_dir:
        options.data_dir = os.path.abspath(options.data_dir)
    return options


def main():
    options = parse_arguments()

    ending = Ending()
    demo = Demo(options, ending)
    code = 0
    try:
        signal.signal(signal.SIGINT, ending.handle)
        signal.signal(signal.SIGTERM, ending.handle)
        demo.run()
    except Stopped:
        print("\nending", file=sys.stderr)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        code = 1
    finally:
        # A second Ctrl-C must not leave anything behind.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        demo.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
