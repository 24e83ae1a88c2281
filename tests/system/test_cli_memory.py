"""The client's commands for memory, servers and the daemon."""

import json
import os
import subprocess
import time
import unittest

from cli_case import GIB, PATIENCE, CliCase, noon_pools, utc


class Memory(CliCase):
    def test_whose(self):
        self.daemon.pools = noon_pools()
        out = self.good("whose")
        self.assertIn("13.3 GiB free", out)
        self.assertRegex(out, r"(?m)^gpu0  comfyui +15\.5  idle 2 h 35 min, left by #41$")
        self.assertRegex(out, r"(?m)^gpu0  desktop +2\.0$")
        self.assertNotIn("gone", out)
        verbose = self.good("whose", "-v")
        self.assertRegex(verbose, r"(?m)^gpu0  comfyui +15\.5 +15\.0 to 16\.0  by elimination +idle")
        self.assertIn("gone", verbose)
        self.assertIn("소거", self.good("whose", "-v", "--lang", "ko"))
        self.assertEqual(json.loads(self.good("whose", "--json")), {"pools": self.daemon.pools})

    def test_what_is_not_measured_is_not_zero(self):
        self.daemon.pools = [{"id": "gpu0", "kind": "gpu", "name": None, "total": None, "used": None, "free": None, "age_s": None,
                              "trouble": "no_permission", "claims": []}]
        for command in ([], ["whose"]):
            out = self.good(*command)
            self.assertIn("not measured: no permission to read it", out)
            self.assertNotIn("0.0", out)

    def test_an_old_figure_says_its_age(self):
        self.daemon.pools = noon_pools()[:1]
        self.daemon.pools[0]["age_s"] = 75.0
        self.assertIn("measured 1 min 15 s ago", self.good())

    def tenant(self, **changes):
        tenant = {"id": "comfyui", "kind": "comfyui", "url": "http://127.0.0.1:8188", "pid": 4242, "reachable": True, "running": 0,
                  "pending": 0, "idle_since": utc(9305), "left_by": 41, "bundle": None, "holds": {"gpu0": 16642998272, "ram": 19 * GIB},
                  "floor": {"gpu0": GIB}, "stuck": False, "restart": "never", "keep": False, "releasing": False, "asked_at": None,
                  "not_before": None, "version": "0.3.64", "trouble": None}
        tenant.update(changes)
        return tenant

    def test_tenants(self):
        for changes, expected in (({}, "idle 2 h 35 min, left by #41"), ({"reachable": False}, "does not answer"),
                                  ({"running": 1, "pending": 3}, "works (1 running, 3 pending)"), ({"stuck": True}, "stuck"),
                                  ({"releasing": True, "asked_at": utc(2.2)}, "asked to release 2 s ago"), ({"keep": True}, "never asked"),
                                  ({"running": None, "pending": None, "idle_since": None, "left_by": None}, "not known"),
                                  ({"not_before": utc(-300)}, "not asked again before"), ({"trouble": "GET /queue: \x1bodd"}, "\\x1bodd"),
                                  ({"bundle": "wan"}, "wan")):
            with self.subTest(changes=changes):
                self.daemon.tenants = [self.tenant(**changes)]
                out = self.good("tenants")
                self.assertIn(expected, out)
                self.assertIn("15.5 gpu0 + 19.0 ram", out)
                self.assertNotIn("\x1b", out)

    def test_no_tenants(self):
        self.assertIn("[[tenant]]", self.good("tenants"))

    def test_release(self):
        self.daemon.tenants = [self.tenant(id="my server/1")]
        self.assertIn("asked my server/1", self.good("release", "my server/1"))
        self.assertIn("nobody", self.fails(3, "release", "nobody"))
        self.daemon.refuse_release = "comfyui is not asked: it works"
        self.assertIn("it works", self.fails(4, "release", "my server/1"))
        self.assertIn("which server", self.fails(2, "release"))

    def test_releases(self):
        at = utc(60)
        self.daemon.releases = {
            "releases": [{"id": 9, "tenant": "comfyui", "asked_at": at, "for": 42, "by": "queue", "restart": False, "error": None,
                          "pools": [{"pool": "gpu0", "before": 16642998272, "after": 751619277, "verdict": "released", "settled_s": 1.4},
                                    {"pool": "ram", "before": 20830591386, "after": 3221225472, "verdict": None, "settled_s": None}]},
                         {"id": 8, "tenant": "comfyui", "asked_at": at, "for": None, "by": "person", "restart": False,
                          "error": "HTTP 500", "pools": []}],
            "summary": [{"tenant": "comfyui", "pool": "gpu0", "verdict": "kept_by_allocator", "count": 43, "freed": 0}]}
        out = self.good("releases")
        self.assertRegex(out, r"(?m)\d\d:\d\d:\d\d comfyui for #42: gpu0 15\.5 → 0\.7 GiB in 1\.4 s, released; ram 19\.4 → 3\.0 GiB$")
        self.assertRegex(out, r"(?m)comfyui \(asked by hand\): nothing measured yet; error: HTTP 500$")
        self.assertRegex(out, r"(?m)^comfyui +gpu0 +kept by its allocator +43 +0\.0  freed inside the process")
        self.assertEqual(self.last_request()[1], "/v1/releases?limit=50")
        self.good("releases", "--tenant", "a b", "--limit", "3")
        self.assertEqual(self.last_request()[1], "/v1/releases?limit=3&tenant=a%20b")
        self.assertIn("comfyui #42를 위해: gpu0 15.5 → 0.7 GiB, 1.4초, 반납함", self.good("releases", "--lang", "ko"))

    def test_no_releases(self):
        self.assertIn("No release", self.good("releases"))


class Daemon(CliCase):
    def happenings(self):
        return [{"id": 1, "at": utc(5), "type": "submit", "job": 42, "name": "영상"},
                {"id": 2, "at": utc(5), "type": "wait", "job": 42, "code": "leftover", "pool": "gpu0", "short": GIB,
                 "owner": "tenant:comfyui"},
                {"id": 3, "at": utc(4), "type": "release", "tenant": "comfyui", "for": 42, "pool": "gpu0", "held": 15 * GIB},
                {"id": 4, "at": utc(3), "type": "verdict", "tenant": "comfyui", "pool": "gpu0", "verdict": "released", "before": 15 * GIB,
                 "after": GIB, "settled_s": 1.4},
                {"id": 5, "at": utc(3), "type": "admit", "job": 42, "pool": "gpu0"},
                {"id": 6, "at": utc(2), "type": "exit", "job": 42, "code": 3, "signal": None},
                {"id": 7, "at": utc(1), "type": "restarted", "tenant": "comfyui", "ok": False},
                {"id": 8, "at": utc(1), "type": "pause"}, {"id": 9, "at": utc(1), "type": "eclipse", "of": "\x1b[1mmoon"}]

    EXPECTED = ["#42 added: 영상", "#42 waits: 1.0 GiB short on gpu0: comfyui", "comfyui: asked to release gpu0 for #42 (15.0 GiB held)",
                "comfyui: gpu0 15.0 GiB → 1.0 GiB in 1.4 s, released", "#42 may start on gpu0", "#42 ended with 3", "comfyui: restart failed",
                "queue paused", "eclipse"]

    def test_events(self):
        self.daemon.events = self.happenings()
        lines = self.good("events").splitlines()
        for line, expected in zip(lines, self.EXPECTED, strict=True):
            self.assertIn(expected, line)
            self.assertNotIn("\x1b", line)
        self.assertEqual(json.loads(self.good("events", "--json")), {"events": self.daemon.events})

    def test_events_follow_and_take_up_a_broken_stream(self):
        self.daemon.events = self.happenings()
        self.daemon.stream_seconds = 0
        follow = subprocess.Popen(self.command("events", "-f"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
        try:
            for expected in self.EXPECTED:
                self.assertIn(expected, follow.stdout.readline().decode())
            until = time.monotonic() + PATIENCE
            while len(self.daemon.requests) < 2 and time.monotonic() < until:
                time.sleep(0.02)
            headers = {name.lower(): value for name, value in self.daemon.requests[1][3].items()}
            self.assertEqual(headers.get("last-event-id"), "9")
        finally:
            follow.kill()
            follow.communicate()

    def test_events_follow_in_json_is_one_object_a_line(self):
        self.daemon.events = self.happenings()
        follow = subprocess.Popen(self.command("events", "-f", "--json"), stdout=subprocess.PIPE, env=self.env)
        try:
            for event in self.daemon.events:
                self.assertEqual(json.loads(follow.stdout.readline()), event)
        finally:
            follow.kill()
            follow.communicate()

    def test_doctor(self):
        self.daemon.checks = [{"id": "driver", "state": "ok", "detail": {"state": "ok", "version": "581.29", "trouble": None}},
                              {"id": "gpu:gpu0", "state": "limited", "detail": {"name": "RTX 5090", "processes": "presence", "trouble": None}},
                              {"id": "cgroup", "state": "missing", "detail": {"trouble": "as usual"}}, {"id": "moon", "state": "ok", "detail": {}}]
        out = self.good("doctor")
        self.assertIn("the driver answers (version 581.29)", out)
        self.assertIn("owners are found by elimination; RTX 5090", out)
        self.assertIn("moon", out)
        self.assertNotIn("as usual", out)
        self.assertIn("Everything that matters works.", out)
        self.daemon.checks.append({"id": "store", "state": "broken", "detail": {"dir": "/x", "trouble": "disk \x1bfull"}})
        done = self.jipsa("doctor")
        self.assertEqual(done.returncode, 1)
        self.assertIn("disk \\x1bfull", done.out)
        self.assertIn("고장 1건", self.jipsa("doctor", "--lang", "ko").out)
        self.assertEqual(json.loads(self.jipsa("doctor", "--json").out), {"checks": self.daemon.checks})


class WithoutDaemon(CliCase):
    def setUp(self):
        super().setUp()
        self.stop_daemon()

    def test_version_and_help(self):
        self.assertRegex(self.good("--version"), r"^jipsa \d+\.\d+\.\d+\n$")
        self.assertIn("jipsa add --vram", self.good("--help"))
        self.assertEqual(self.good("help", "add"), self.good("add", "--help"))
        self.assertEqual(self.good("add", "-h"), self.good("add", "--help"))
        self.assertIn("작업 대기열", self.good("--help", "--lang", "ko"))
        self.assertIn("nonsense", self.fails(2, "help", "nonsense"))

    def test_unknown_words(self):
        self.assertIn("frobnicate", self.fails(2, "frobnicate"))
        self.assertIn("--frob", self.fails(2, "--frob"))
        self.assertIn("--frob", self.fails(2, "list", "--frob"))
        self.assertIn("extra", self.fails(2, "list", "extra"))
        self.assertIn("--json", self.fails(2, "list", "--json=yes"))
        self.assertIn("xx", self.fails(2, "--lang", "xx", "list"))
        self.assertIn("--timeout", self.fails(2, "--timeout", "0", "list"))
        self.assertNotIn("\x1b", self.fails(2, "\x1b[31mred"))

    def test_config_check(self):
        good = os.path.join(self.folder, "good.toml")
        with open(good, "w", encoding="utf-8") as out:
            out.write("[policy]\nheadroom = \"1G\"\n")
        self.assertIn("good", self.good("config", "check", good))
        bad = os.path.join(self.folder, "bad.toml")
        with open(bad, "w", encoding="utf-8") as out:
            out.write("[policy]\nheadrom = \"1G\"\n")
        done = self.jipsa("config", "check", bad)
        self.assertEqual(done.returncode, 2)
        self.assertIn("bad.toml:2", done.out)
        self.assertIn("headrom", done.out)
        findings = json.loads(self.jipsa("config", "check", bad, "--json").out)["findings"]
        self.assertEqual(findings[0]["line"], 2)
        self.assertEqual(self.jipsa("config", "check", os.path.join(self.folder, "none.toml")).returncode, 2)
        self.assertIn("check", self.fails(2, "config"))
        self.good("config", "check", env={"XDG_CONFIG_HOME": self.folder})


if __name__ == "__main__":
    unittest.main()
