#!/usr/bin/env python3
"""Runs the demo's services and its load generator without a server, and looks at their answers.

usage: services_test.py hotspan_demo_service hotspan_demo_load
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_demo  # noqa: E402

SERVICE, LOAD = sys.argv[1:3]


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port, target):
    """Status and body."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}{target}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Services(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.children = []
        cls.ports = {}
        # Nobody listens there: the services must not mind.
        environment = dict(os.environ)
        environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{unused_port()}"
        for name, _, peers in run_demo.SERVICES:
            arguments = [SERVICE, "--service", name, "--port", "0", "--data", cls.folder.name]
            arguments += ["--order-ms", "20"]
            for peer in peers:
                arguments += ["--peer", f"{peer}=127.0.0.1:{cls.ports[peer]}"]
            child = run_demo.Child(name, arguments, cls.folder.name, environment)
            cls.children.append(child)
            cls.ports[name] = child.json_line(60)["port"]

    @classmethod
    def tearDownClass(cls):
        run_demo.end_all(cls.children)
        codes = {child.name: child.process.returncode for child in cls.children}
        cls.folder.cleanup()
        assert all(code == 0 for code in codes.values()), codes

    def frontend(self, target):
        return get(self.ports["frontend"], target)

    def test_every_service_answers_health(self):
        for name, port in self.ports.items():
            status, body = get(port, "/health")
            self.assertEqual((status, json.loads(body)), (200, {"status": "ok", "service": name}))

    def test_home_goes_through_gateway_and_data_service(self):
        status, body = self.frontend("/")
        self.assertEqual(status, 200, body)
        self.assertEqual(json.loads(body)["data"]["products"], 250)

    def test_a_bad_token_is_refused(self):
        self.assertEqual(self.frontend("/?token=stale")[0], 401)

    def test_order_is_complete(self):
        status, body = self.frontend("/order?id=17")
        order = json.loads(body)
        self.assertEqual((status, order["id"], len(order["items"])), (200, "17", 24))
        self.assertEqual(self.frontend("/order?id=0")[0], 400)
        self.assertEqual(self.frontend("/order?id=%27--")[0], 400)
        self.assertEqual(self.frontend("/order?id=1%20HTTP/1.1%0d%0a%0d%0aGET%20/")[0], 400)

    def test_users_and_their_healthy_twin_agree(self):
        slow = self.frontend("/users")
        self.assertEqual(slow[0], 200, slow[1])
        self.assertEqual(json.loads(slow[1]), {"users": 52, "preferences": 52 * 56})
        self.assertEqual(self.frontend("/users?batch=1"), slow)

    def test_domain_must_be_a_domain(self):
        self.assertEqual(get(self.ports["user-db"], "/users/by-email?domain=%27")[0], 400)

    def test_checkout_prices_and_report(self):
        self.assertEqual(len(json.loads(self.frontend("/checkout")[1])), 40)
        self.assertGreater(json.loads(self.frontend("/prices")[1])["sum_cents"], 0)
        self.assertEqual(self.frontend("/prices?refresh=1")[0], 200)
        self.assertEqual(len(json.loads(self.frontend("/report")[1])), 5)

    def test_unknown_routes_and_bad_targets(self):
        self.assertEqual(self.frontend("/nothing")[0], 404)
        self.assertEqual(self.frontend("/%zz")[0], 400)

    def test_an_unreachable_peer_is_a_bad_gateway(self):
        arguments = [SERVICE, "--service", "api_server", "--port", "0"]
        arguments += ["--peer", f"user-db=127.0.0.1:{unused_port()}"]
        child = run_demo.Child("lonely", arguments, self.folder.name, dict(os.environ))
        try:
            self.assertEqual(get(child.json_line(60)["port"], "/users")[0], 502)
        finally:
            run_demo.end_all([child])

    def test_a_taken_port_is_skipped_or_named(self):
        taken = self.ports["data-service"]
        base = [SERVICE, "--service", "auth-service", "--port", str(taken)]
        refused = subprocess.run(base, capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"port {taken} is in use", refused.stderr)
        child = run_demo.Child("next", base + ["--port-tries", "40"], self.folder.name, None)
        try:
            self.assertGreater(child.json_line(60)["port"], taken)
        finally:
            run_demo.end_all([child])

    def test_wrong_use_exits_with_2(self):
        for arguments in (["--service", "nothing"], [], ["--service", "frontend"], ["--x", "1"]):
            done = subprocess.run([SERVICE, *arguments], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, arguments)

    def load(self, *arguments):
        target = f"127.0.0.1:{self.ports['frontend']}"
        return [LOAD, "--target", target, *arguments]

    def test_load_sends_its_burst_and_sums_up(self):
        done = subprocess.run(
            self.load("--requests", "60", "--once", "--json"), capture_output=True, text=True, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["all"]["ok"], summary["all"]["failed"]), (60, 0))
        self.assertEqual(summary["routes"]["order"]["ok"], 16)
        self.assertIn("p99", done.stderr)

    def test_load_trickles_until_it_is_stopped(self):
        arguments = self.load("--requests", "1", "--mix", "report=1", "--trickle", "20000", "--json")
        child = run_demo.Child("trickle", arguments, self.folder.name, None)
        child.json_line(60)
        child.signal(signal.SIGINT)
        self.assertEqual(child.process.wait(30), 0)
        run_demo.end_all([child])

    def test_load_reports_failures(self):
        done = subprocess.run(
            [LOAD, "--target", f"127.0.0.1:{unused_port()}", "--requests", "3", "--once"],
            capture_output=True, text=True, timeout=60,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("last failure", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
