"""A daemon that is not there, does not answer, or answers nonsense: always one clear line and the right exit code."""

import json
import os
import subprocess
import sys
import time
import unittest

from cli_case import PATIENCE, CliCase, utc
from fake_daemon import listen_without_answering

READERS = (["list"], [], ["show", "1"], ["why", "1"], ["whose"], ["tenants"], ["releases"], ["events"], ["doctor"], ["wait", "1"],
           ["log", "1"])
WRITERS = (["add", "--", "x"], ["run", "--", "x"], ["cancel", "1"], ["pause"], ["release", "x"])


class NoDaemon(CliCase):
    def setUp(self):
        super().setUp()
        self.stop_daemon()

    def test_says_where_it_looked_and_how_to_start_it(self):
        for command in (*READERS, *WRITERS, ["events", "-f"]):
            with self.subTest(command=command):
                error = self.fails(8, *command)
                self.assertIn(self.socket, error)
                self.assertIn("start it with: jipsad --socket " + self.socket, error)

    def test_in_korean(self):
        self.assertIn("시작하려면: jipsad --socket", self.fails(8, "list", "--lang", "ko"))

    def test_a_socket_that_nobody_serves(self):
        import socket
        left = socket.socket(socket.AF_UNIX)
        left.bind(self.socket)
        left.close()
        self.assertIn("refused", self.fails(8, "list"))

    def test_a_path_that_is_too_long(self):
        done = subprocess.run([self.command()[0], "--socket", "/tmp/" + "x" * 200, "list"], capture_output=True, text=True, env=self.env,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("socket", done.stderr)

    def test_start_command_is_quoted(self):
        done = subprocess.run([self.command()[0], "--state", "/tmp/my state", "list"], capture_output=True, text=True, env=self.env,
                              timeout=PATIENCE)
        self.assertIn("jipsad --state '/tmp/my state'", done.stderr)


class Nonsense(CliCase):
    def test_each_kind_of_nonsense(self):
        for how, code in (("garbage", 7), ("bad_json", 7), ("not_object", 7), ("half", 7), ("html", 7), ("500", 7), ("507", 6), ("501", 5),
                          ("close", 8)):
            self.daemon.misbehaviour = how
            for command in (*READERS, *WRITERS):
                with self.subTest(how=how, command=command):
                    self.fails(code, *command)

    def test_preliminary_answers_are_passed_over(self):
        self.daemon.misbehaviour = "continue"
        self.assertIn("The queue is empty", self.good("list"))

    def test_answers_of_the_wrong_shape(self):
        self.daemon.misbehaviour = "wrong_shape"
        for command in (["list"], ["show", "1"], ["why", "1"], ["whose"], ["tenants"], ["releases"], ["events"], ["doctor"], ["add", "x"]):
            with self.subTest(command=command):
                self.fails(7, *command)

    def test_the_daemons_words_are_shown_and_harmless(self):
        self.daemon.refuse_add = (409, "conflict", "no \x1b[31mway\n")
        error = self.fails(4, "add", "x")
        self.assertIn("no \\x1b[31mway\\n", error)
        self.assertIn("지금은 할 수 없음: no", self.fails(4, "--lang", "ko", "add", "x"))

    def test_with_json_the_error_is_json(self):
        done = self.jipsa("show", "9", "--json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(json.loads(done.out)["error"]["code"], "not_found")


class Silence(CliCase):
    def timed(self, *command):
        start = time.monotonic()
        error = self.fails(8, "--timeout", "1", *command)
        self.assertLess(time.monotonic() - start, 25)
        self.assertIn("within 1 s", error)
        return error

    def test_a_daemon_that_says_nothing(self):
        self.daemon.misbehaviour = "silent"
        self.assertNotIn("may still have been done", self.timed("list"))
        self.assertIn("may still have been done", self.timed("add", "x"))

    def test_a_daemon_that_stops_in_the_middle(self):
        self.daemon.misbehaviour = "slow_body"
        self.timed("list")

    def test_a_daemon_that_lets_nobody_in(self):
        self.stop_daemon()
        listener = listen_without_answering(self.socket)
        self.addCleanup(listener.close)
        self.timed("list")


class Output(CliCase):
    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_a_full_disk_is_not_a_success(self):
        self.daemon.add(name="x", started_at=utc())
        with open("/dev/full", "wb") as full:
            for command in (["list"], ["add", "x"], ["--help"], ["list", "--json"]):
                done = subprocess.run(self.command(*command), stdout=full, stderr=subprocess.PIPE, env=self.env, timeout=PATIENCE)
                self.assertEqual(done.returncode, 6, command)
                self.assertIn(b"cannot write", done.stderr)


class Speed(CliCase):
    def test_a_call_sets_up_nothing_that_it_does_not_need(self):
        strace = next((p for p in ("/usr/bin/strace", "/bin/strace") if os.path.exists(p)), None)
        if strace is None or sys.platform != "linux":
            self.skipTest("no strace here")
        done = subprocess.run([strace, "-f", "-qq", "-e", "trace=openat,open,clone,clone3,mmap", *self.command("add", "x")],
                              capture_output=True, text=True, env=self.env, timeout=PATIENCE)
        if done.returncode != 0 and "ptrace" in done.stderr:
            self.skipTest("no tracing here")
        calls = done.stderr.splitlines()
        if any("/etc/ld.so.cache" in call for call in calls):
            self.skipTest("linked dynamically: a sanitizer's build")
        self.assertEqual([c for c in calls if "open" in c.split("(")[0]], [], "no file is opened to add a job")
        self.assertEqual([c for c in calls if c.startswith("clone")], [], "no thread or process is started")


if __name__ == "__main__":
    unittest.main()
