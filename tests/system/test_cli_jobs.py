"""The client's commands for jobs, against a daemon that answers by docs/api.md."""

import json
import os
import signal
import subprocess
import threading
import time
import unittest

from cli_case import GIB, PATIENCE, CliCase, noon_pools, noon_reason, utc


class Add(CliCase):
    def asked(self):
        return json.loads(self.last_request()[2])

    def test_prints_the_number_and_nothing_else(self):
        done = self.jipsa("add", "--", "true")
        self.assertEqual((done.returncode, done.out, done.err), (0, "1\n", ""))

    def test_everything_that_can_be_said(self):
        self.good("add", "--name", "영상", "--vram", "16G", "--ram", "8GiB", "--priority", "-5", "--tenant", "comfyui", "--bundle", "wan",
                  "--after", "41", "#40", "--after=39", "--in", "/", "--env", "A=1", "B=x=y", "A=2", "--", "./run.sh", "--x", "a b", "")
        asked = self.asked()
        env = asked.pop("env")
        self.assertEqual(asked, {"name": "영상", "needs": {"gpu": 16 * GIB, "ram": 8 * GIB}, "priority": -5, "tenant": "comfyui",
                                 "bundle": "wan", "after": [41, 40, 39], "dir": "/", "command": ["./run.sh", "--x", "a b", ""]})
        self.assertEqual([e for e in env if e.startswith(("A=", "B="))], ["B=x=y", "A=2"])

    def test_dashes_are_not_needed_before_a_command(self):
        self.good("add", "--vram", "1G", "python3", "-c", "print(1)", "--name", "x")
        self.assertEqual(self.asked()["command"], ["python3", "-c", "print(1)", "--name", "x"])
        self.assertNotIn("name", self.asked())

    def test_a_card_by_name_or_number(self):
        for card in ("gpu1", "1"):
            self.good("add", "--vram", "2G", "--gpu", card, "--", "x")
            self.assertEqual(self.asked()["needs"], {"gpu1": 2 * GIB})

    def test_the_environment_and_the_directory_are_the_callers(self):
        where = os.path.join(self.folder, "여기")
        os.mkdir(where)
        self.good("add", "--env", "HOME=/elsewhere", "--", "x", env={"SAY": "안녕\n\"quoted\" \\"}, cwd=where)
        self.assertEqual(self.asked()["dir"], os.path.realpath(where))
        self.assertIn("SAY=안녕\n\"quoted\" \\", self.asked()["env"])
        self.assertEqual([e for e in self.asked()["env"] if e.startswith("HOME=")], ["HOME=/elsewhere"])
        self.assertIn("TZ=KST-9", self.asked()["env"])

    def test_an_environment_that_is_not_utf8_is_left_out_and_said(self):
        done = subprocess.run(self.command("add", "--", "x"), env=dict(self.env, **{"BAD": b"\xff\xfe"}), capture_output=True, timeout=PATIENCE,
                              cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, b"1\n"))
        self.assertIn(b"BAD", done.stderr)
        self.assertNotIn("BAD", json.dumps(self.asked()["env"]))

    def test_instructions_arrive_untouched(self):
        text = "\ufeff한글 지시문 \"quotes\" \\ \t\r\n\x01 끝\n\n".encode()
        path = os.path.join(self.folder, "task.md")
        with open(path, "wb") as out:
            out.write(text)
        for how, stdin in ((["-f", path], b""), (["-f", "-"], text), (["--file", path], b"")):
            self.good("add", "--with", "claude", *how, stdin=stdin)
            self.assertEqual(self.asked()["text"].encode(), text)
            self.assertEqual(self.asked()["launcher"], "claude")
            self.assertNotIn("command", self.asked())
        self.good("add", "--with", "claude", "--text", "짧게")
        self.assertEqual(self.asked()["text"], "짧게")

    def test_a_large_text(self):
        text = "가나다 " * 300000
        self.good("add", "--with", "claude", "-f", "-", stdin=text.encode())
        self.assertEqual(self.asked()["text"], text)

    def test_json_is_the_answer(self):
        self.assertEqual(json.loads(self.good("add", "--json", "--", "x")), self.daemon.jobs[1])

    def test_mistakes_are_told_before_anything_is_asked(self):
        latin = os.path.join(self.folder, "latin1")
        with open(latin, "wb") as out:
            out.write(b"caf\xe9")
        cases = [((), "no command"), (("--vram", "lots", "--", "x"), "--vram"), (("--vram", "-1G", "--", "x"), "--vram"),
                 (("--nonsense", "--", "x"), "--nonsense"), (("--name",), "--name"), (("--gpu", "1", "--", "x"), "--vram"),
                 (("--bundle", "b", "--", "x"), "--tenant"), (("--priority", "high", "--", "x"), "high"),
                 (("--after", "nobody", "--", "x"), "nobody"), (("--after", "0", "--", "x"), "0"), (("--env", "NOVALUE", "--", "x"), "NOVALUE"),
                 (("--env", "=x", "--", "x"), "=x"), (("--in", "/no/such/place", "--", "x"), "/no/such/place"),
                 (("--with", "c"), "--text"), (("--with", "c", "--text", "t", "--", "x"), "--with"), (("--text", "t", "--", "x"), "--with"),
                 (("-f", "x", "--", "x"), "--with"), (("--with", "c", "-f", latin), "UTF-8"),
                 (("--with", "c", "--text", "t", "-f", latin), "--text"), (("--name", b"\xff", "--", "x"), "UTF-8"),
                 (("--", "x", b"a\xff"), "argument 2")]
        for args, expected in cases:
            with self.subTest(args=args):
                self.assertIn(expected, self.fails(2, "add", *args))
        self.assertIn("no-such-file", self.fails(3, "add", "--with", "c", "-f", "no-such-file"))
        self.assertEqual(self.daemon.requests, [])

    def test_korean_mistakes_are_korean(self):
        self.assertIn("올바른 UTF-8이 아닙니다(4번째 바이트)", self.fails(2, "--lang", "ko", "add", "--with", "c", "-f", "-", stdin=b"caf\xe9"))

    def test_the_daemon_says_no(self):
        self.daemon.refuse_add = (404, "not_found", "no launcher \"nobody\"; there are: claude")
        self.assertIn("there are: claude", self.fails(3, "add", "--with", "nobody", "--text", "x"))
        self.daemon.refuse_add = (400, "bad_input", "needs.gpu9: no such pool")
        self.assertIn("needs.gpu9", self.fails(2, "add", "--", "x"))


class List(CliCase):
    def fill(self):
        self.daemon.pools = noon_pools()
        self.daemon.add(name="먼저", state="succeeded", exit_code=0, started_at=utc(200), ended_at=utc(8))
        self.daemon.add(name="bad", state="failed", exit_code=2, started_at=utc(75), ended_at=utc(5))
        self.daemon.add(name="영상", needs={"ram": 8 * GIB, "gpu": 16 * GIB}, reason=noon_reason())
        self.daemon.add(name="lora", needs={"gpu": 15 * GIB}, reason={"code": "order", "pool": None, "short": None, "owner": "job:3"})

    def test_the_picture_of_the_design(self):
        self.fill()
        lines = self.good().splitlines()
        self.assertRegex(lines[0], r"^gpu0  RTX 5090  17\.5 of 31\.8 GiB   comfyui 15\.5 \(idle 2 h 35 min, left by #41\) · desktop 2\.0$")
        self.assertRegex(lines[1], r"^ram             24\.1 of 62\.7 GiB   comfyui 19\.4 · other 4\.7$")
        self.assertEqual(lines[3].split(), ["ID", "NAME", "STATE", "NEEDS", "SINCE", "WHY"])
        self.assertRegex(lines[4], r"^ 3  영상  waits       16\.0 gpu \+ 8\.0 ram  \d\d:\d\d  2\.7 GiB short on gpu0: comfyui holds 15\.5, "
                                   r"idle 2 h 35 min \(left by #41\); asked to release 2 s ago$")
        self.assertRegex(lines[5], r"^ 4  lora  waits       15\.0 gpu            \d\d:\d\d  behind #3$")
        self.assertRegex(lines[6], r"^ 1  먼저  Done        -                   .*after 3 min 12 s$")
        self.assertRegex(lines[7], r"^ 2  bad   Failed \(2\)  -                   .*after 1 min 10 s$")

    def test_in_korean(self):
        self.fill()
        out = self.good("--lang", "ko")
        self.assertIn("gpu0 2.7 GiB 부족: comfyui 15.5 GiB, 2시간 35분째 쉬는 중(#41이 남김); 2초 전 반납 요청", out)
        self.assertIn("#3 다음 순서", out)
        self.assertIn("실패(2)", out)
        self.assertIn("31.8 GiB 중 17.5", out)
        self.assertEqual(out, self.good(env={"LC_ALL": "ko_KR.UTF-8"}))

    def test_columns_stand_only_where_used(self):
        self.daemon.add()
        self.assertNotIn("PRIO", self.good("list"))
        self.daemon.add(priority=3, tenant="comfyui")
        header = self.good("list").splitlines()[0].split()
        self.assertEqual(header, ["ID", "NAME", "STATE", "NEEDS", "PRIO", "TENANT", "SINCE", "WHY"])

    def test_columns_line_up_in_any_script(self):
        import unicodedata
        for name in ("a", "영상 편집", "e\u0301", "한a", "very-long-name-that-goes-on-and-on-and-on"):
            self.daemon.add(name=name)

        def columns(text):
            return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
        starts = {columns(line[:line.index("waits")]) for line in self.good("list").splitlines()[1:]}
        self.assertEqual(len(starts), 1, starts)

    def test_an_empty_list_tells_how_to_begin(self):
        self.assertIn("jipsa add", self.good("list"))

    def test_paused_is_said(self):
        self.daemon.paused = True
        self.assertIn("paused", self.good("list"))

    def test_limits_go_to_the_daemon_and_the_rest_is_counted(self):
        for _ in range(5):
            self.daemon.add()
        out = self.good("list", "--limit", "2", "--finished", "0")
        self.assertEqual(self.last_request()[1], "/v1/jobs?finished=0&limit=2&brief=1")
        self.assertIn("3 more wait", out)

    def test_names_cannot_touch_the_terminal(self):
        self.daemon.add(name="\x1b[2J\x1b]0;owned\x07evil\nrow", command=["x"], tenant="t\x9b31m",
                        reason={"code": "other_process", "pool": "gpu0", "owner": "process:\x1b[31m\u202eevil"})
        for command in ([], ["list"], ["show", "1"], ["why", "1"]):
            out = self.good(*command)
            self.assertFalse([c for c in out if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c == "\u202e"], out)
        self.assertEqual(len(self.good("list").splitlines()), 2)

    def test_color_when_asked(self):
        self.daemon.add()
        self.assertNotIn("\x1b", self.good("list"))
        self.assertIn("\x1b[33mwaits\x1b[0m", self.good("list", "--color", "always"))
        self.assertIn("bad", self.fails(2, "list", "--color", "bad"))

    def test_json_is_the_body_exactly(self):
        self.fill()
        self.assertEqual(json.loads(self.good("list", "--json")), self.daemon.list({}))
        self.assertEqual(self.good("--json"), self.good("list", "--json"))

    def test_ten_thousand_jobs(self):
        for number in range(10000):
            self.daemon.jobs[number + 1] = dict(self.daemon.add() if number == 0 else self.daemon.jobs[1], id=number + 1, name="job",
                                                reason={"code": "order", "pool": None, "short": None, "owner": "job:%d" % number})
        lines = self.good("list").splitlines()
        self.assertEqual(len(lines), 10001)
        self.assertTrue(lines[-1].startswith("10000  job"), lines[-1])


class One(CliCase):
    def test_show(self):
        self.daemon.add(name="영상", needs={"gpu": GIB}, command=["sh", "-c", "echo 'a b'"], dir="/home/나", after=[7], reason=noon_reason())
        out = self.good("show", "1")
        for part in ("#1", "영상", "waits", "1.0 gpu", "sh -c 'echo '\\''a b'\\'''", "/home/나", "#7", "needs 16.0 GiB on gpu0"):
            self.assertIn(part, out)
        self.assertEqual(json.loads(self.good("show", "#1", "--json")), self.daemon.jobs[1])

    def test_why(self):
        self.daemon.add(reason=noon_reason())
        self.assertRegex(self.good("why", "1"), r"^#1 waits: needs 16\.0 GiB on gpu0, 13\.3 free: comfyui holds 15\.5 GiB, "
                                                r"idle since [\w :]+ \(left by #41\); asked to release 2 s ago\n$")
        self.daemon.add(state="running", started_at=utc(65), pool="gpu0")
        self.assertEqual(self.good("why", "2"), "#2 does not wait: runs, on gpu0, 1 min 5 s\n")

    def test_numbers_are_checked(self):
        for command in ("show", "why", "log", "wait", "cancel"):
            self.assertIn("which job", self.fails(2, command))
            self.assertIn("abc", self.fails(2, command, "abc"))
            self.assertIn("#99", self.fails(3, command, "99"))
        self.assertIn("2", self.fails(2, "show", "1", "2"))

    def test_cancel_goes_on_after_a_failure(self):
        self.daemon.add()
        self.daemon.add(state="succeeded", ended_at=utc())
        self.daemon.add()
        done = self.jipsa("cancel", "1", "2", "3")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.out, "#1 cancelled\n#3 cancelled\n")
        self.assertIn("#2 has already ended", done.err)

    def test_pause_and_resume(self):
        self.good("pause")
        self.assertTrue(self.daemon.paused)
        self.assertEqual(json.loads(self.good("resume", "--json")), {"paused": False})
        self.assertFalse(self.daemon.paused)

    def test_wait(self):
        self.daemon.add(name="a", state="running", started_at=utc())
        self.daemon.add(name="b", state="running", started_at=utc())
        threading.Timer(0.3, self.daemon.end, [2], {"exit_code": 0}).start()
        threading.Timer(0.6, self.daemon.end, [1], {"exit_code": 0}).start()
        self.assertEqual(self.good("wait", "1", "2"), "#1 a Done\n#2 b Done\n")
        self.daemon.add(name="c", state="failed", exit_code=3, ended_at=utc())
        done = self.jipsa("wait", "1", "3")
        self.assertEqual((done.returncode, done.out), (1, "#1 a Done\n#3 c Failed (3)\n"))
        self.assertEqual(len(json.loads(self.jipsa("wait", "1", "3", "--json").out)["jobs"]), 2)

    def test_wait_outlives_the_daemon(self):
        self.daemon.add(name="a", state="running", started_at=utc())
        waiting = subprocess.Popen(self.command("wait", "1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
        while len(self.daemon.requests) < 2:
            time.sleep(0.01)
        self.daemon.stop()
        self.daemon.start()
        self.daemon.end(1, exit_code=0)
        out, err = waiting.communicate(timeout=PATIENCE)
        self.assertEqual((waiting.returncode, out), (0, b"#1 a Done\n"), err)


class Output(CliCase):
    def job(self, **changes):
        path = os.path.join(self.folder, "%d.out" % (len(self.daemon.jobs) + 1))
        return self.daemon.add(output=path, **changes), path

    def test_log_is_byte_for_byte(self):
        job, path = self.job(state="succeeded", started_at=utc(), ended_at=utc())
        content = bytes(range(256)) * 1000
        with open(path, "wb") as out:
            out.write(content)
        self.assertEqual(self.jipsa("log", "1").stdout, content)
        self.assertEqual(self.jipsa("log", "-f", "1").stdout, content)

    def test_log_of_a_job_that_has_not_begun(self):
        self.job()
        done = self.jipsa("log", "1")
        self.assertEqual((done.returncode, done.out), (0, ""))
        self.assertIn("#1 has no output yet", done.err)

    def test_log_that_is_lost(self):
        self.job(state="succeeded", started_at=utc(), ended_at=utc())
        self.assertIn("1.out", self.fails(3, "log", "1"))

    def test_log_follows(self):
        _, path = self.job(state="running", started_at=utc())
        follow = subprocess.Popen(self.command("log", "-f", "1"), stdout=subprocess.PIPE, env=self.env)
        with open(path, "wb", buffering=0) as out:
            for piece in (b"one\n", b"two\n", "셋\n".encode()):
                out.write(piece)
                self.assertEqual(follow.stdout.readline(), piece, "it comes while the job runs")
            out.write(b"last words")
            self.daemon.end(1)
        self.assertEqual(follow.communicate(timeout=PATIENCE)[0], b"last words")
        self.assertEqual(follow.returncode, 0)


class Run(CliCase):
    def setUp(self):
        super().setUp()
        self.output = os.path.join(self.folder, "out")
        self.daemon.on_add = lambda job: job.update(output=self.output, state="running", started_at=utc())

    def begin(self, *args, **more):
        run = subprocess.Popen(self.command("run", *args, "--", "x"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env, **more)
        while not self.daemon.jobs or len(self.daemon.requests) < 2:
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        return run

    def test_streams_and_ends_as_the_job_does(self):
        for ending, expected in (({"exit_code": 0}, 0), ({"exit_code": 7, "state": "failed"}, 7),
                                 ({"signal": 9, "state": "failed"}, 137), ({"state": "cancelled"}, 1), ({"state": "lost"}, 1)):
            with self.subTest(ending=ending):
                self.daemon.jobs.clear()
                self.daemon.requests.clear()
                if os.path.exists(self.output):
                    os.unlink(self.output)
                run = self.begin()
                with open(self.output, "wb", buffering=0) as out:
                    out.write(b"first\n")
                    self.assertEqual(run.stdout.readline(), b"first\n")
                    out.write(b"last")
                    self.daemon.end(1, **ending)
                out, err = run.communicate(timeout=PATIENCE)
                self.assertEqual((run.returncode, out), (expected, b"last"), err)

    def test_ctrl_c_without_a_terminal_leaves_it_running(self):
        run = self.begin(stdin=subprocess.DEVNULL)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 130)
        self.assertIn(b"#1 goes on without you", err)
        self.assertEqual(self.daemon.jobs[1]["state"], "running")

    def on_a_terminal(self, answer):
        import pty
        main, sub = pty.openpty()
        self.addCleanup(os.close, main)
        run = subprocess.Popen(self.command("run", "--", "x"), stdin=sub, stdout=subprocess.PIPE, stderr=sub, env=self.env)
        os.close(sub)
        while len(self.daemon.requests) < 2:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        seen = b""
        while b"? " not in seen:
            seen += os.read(main, 4096)
        os.write(main, answer)
        return run, seen

    def test_ctrl_c_on_a_terminal_asks(self):
        run, seen = self.on_a_terminal(b"c\n")
        self.assertIn(b"[c]ancel", seen)
        run.communicate(timeout=PATIENCE)
        self.assertEqual(self.daemon.jobs[1]["state"], "cancelled")
        self.assertEqual(run.returncode, 1)

    def test_ctrl_c_and_leave(self):
        run, _ = self.on_a_terminal(b"l\n")
        run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, self.daemon.jobs[1]["state"]), (130, "running"))

    def test_ctrl_c_and_go_on(self):
        run, _ = self.on_a_terminal(b"\n")
        self.daemon.end(1, exit_code=5, state="failed")
        run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 5)

    def test_json_gives_the_ended_job(self):
        run = self.begin("--json")
        self.daemon.end(1, exit_code=0)
        out, _ = run.communicate(timeout=PATIENCE)
        self.assertEqual(json.loads(out)["state"], "succeeded")

    def test_it_outlives_the_daemon(self):
        run = self.begin()
        self.daemon.stop()
        self.daemon.start()
        with open(self.output, "wb") as out:
            out.write(b"meanwhile")
        self.daemon.end(1, exit_code=0)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, out), (0, b"meanwhile"), err)


if __name__ == "__main__":
    unittest.main()
