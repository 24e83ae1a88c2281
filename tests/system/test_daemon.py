"""jipsad as a whole: real processes, its own state folder and socket for each test, the fake driver library, the ComfyUI double."""

import glob
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "doubles"))
from double_client import Comfy  # noqa: E402
from fakeworld import GIB, MIB, World  # noqa: E402

BIN = os.environ["JIPSA_BIN"]
LIB = os.environ["JIPSA_LIB"]
PATIENCE = 60  # seconds; for a loaded machine


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__("%d %s" % (status, body))
        self.status, self.error = status, body.get("error", {})


class Jipsad:
    """A daemon in a folder of its own; start() again after stop() or kill() goes on with the same state."""

    def __init__(self, config="", cards=1, total=32 * GIB):
        self.folder = tempfile.TemporaryDirectory(prefix="jipsad-")
        self.root = self.folder.name
        self.state, self.socket = os.path.join(self.root, "state"), os.path.join(self.root, "run", "socket")
        self.world = World(os.path.join(self.root, "world"))
        for card in range(cards):
            self.world.gpu(card, total=total, base=256 * MIB, uuid="GPU-%d" % card)
        self.world.save()
        self.config = os.path.join(self.root, "config.toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write('[driver]\nnvml = "%s"\n%s\n' % (os.path.join(LIB, "libfake_nvml.so"), config))
        self.process = None

    def command(self):
        return [os.path.join(BIN, "jipsad"), "--config", self.config, "--state", self.state, "--socket", self.socket]

    def start(self):
        self.log = open(os.path.join(self.root, "log"), "ab")
        self.process = subprocess.Popen(self.command(), env={**os.environ, **self.world.env()}, stdin=subprocess.DEVNULL,
                                        stderr=self.log, start_new_session=True)
        self.until(self.answers, "the daemon answers")
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError("jipsad ended with %s:\n%s" % (self.process.returncode, self.read_log()))
        try:
            return self.get("/v1/status")
        except (OSError, http.client.HTTPException):
            return None

    def read_log(self):
        with open(os.path.join(self.root, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self.log.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.log.close()

    def close(self):
        if self.process.poll() is None:
            for job in self.jobs():
                if job["state"] in ("starting", "running"):
                    self.post("/v1/jobs/%d/cancel" % job["id"])
            self.stop()
        self.folder.cleanup()

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        if kind is not None:
            sys.stderr.write(self.read_log()[-8000:])
        self.close()

    def call(self, method, path, body=None, timeout=PATIENCE):
        connection = UnixConnection(self.socket, timeout)
        try:
            connection.request(method, path, None if body is None else body if isinstance(body, bytes) else json.dumps(body))
            answer = connection.getresponse()
            data = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            raise Refused(answer.status, data)
        return data

    def get(self, path, timeout=PATIENCE):
        return self.call("GET", path, timeout=timeout)

    def post(self, path, body=None):
        return self.call("POST", path, body)

    def add(self, *command, **keys):
        return self.post("/v1/jobs", {"command": list(command), "dir": self.root, "env": ["PATH=/usr/local/bin:/usr/bin:/bin"], **keys})["id"]

    def sh(self, script, **keys):
        return self.add("sh", "-c", script, **keys)

    def job(self, job):
        return self.get("/v1/jobs/%d" % job)

    def jobs(self):
        return self.get("/v1/jobs?finished=1000")["jobs"]

    def ended(self, job):
        answer = self.get("/v1/jobs/%d?wait=%d" % (job, PATIENCE), PATIENCE + 10)
        if answer["state"] in ("waiting", "held", "starting", "running"):
            raise AssertionError("job %d has not ended: %s" % (job, answer))
        return answer

    def until(self, what, words, patience=PATIENCE):
        deadline = time.monotonic() + patience
        while True:
            value = what()
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError("not within %d s: %s" % (patience, words))
            time.sleep(0.02)

    def reason(self, job, code):
        return self.until(lambda: ((self.job(job)["reason"] or {}).get("code") == code) and self.job(job)["reason"],
                          "job %d waits with %s; it is %s" % (job, code, self.job(job)))

    def output(self, job):
        with open(os.path.join(self.state, "jobs", "%d.out" % job), encoding="utf-8") as file:
            return file.read()

    def pool(self, name):
        return next((pool for pool in self.get("/v1/whose")["pools"] if pool["id"] == name), {"used": None})

    def see(self, *pools):
        self.until(lambda: all(self.pool(name)["used"] is not None for name in pools), "%s are measured" % (pools,))


def read_pids(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Jobs(unittest.TestCase):
    def test_exit_codes_signals_and_what_can_not_start(self):
        with Jipsad() as daemon:
            good, bad, cut = daemon.sh("echo out; echo err >&2"), daemon.sh("exit 7"), daemon.sh("kill -9 $$")
            none, nowhere = daemon.add("/no/such/program"), daemon.add("true", dir="/no/such/folder")
            job = daemon.ended(good)
            self.assertEqual((job["state"], job["exit_code"], job["signal"]), ("succeeded", 0, None))
            self.assertIsNone(job["reason"])
            self.assertEqual(daemon.output(good), "out\nerr\n")
            self.assertTrue(job["submitted_at"] <= job["started_at"] <= job["ended_at"], job)
            job = daemon.ended(bad)
            self.assertEqual((job["state"], job["exit_code"], job["note"]), ("failed", 7, None))
            job = daemon.ended(cut)
            self.assertEqual((job["state"], job["exit_code"], job["signal"]), ("failed", None, 9))
            for job in (daemon.ended(none), daemon.ended(nowhere)):
                self.assertEqual((job["state"], job["exit_code"]), ("failed", None))
                self.assertTrue(job["note"].startswith("not_started: "), job)
            self.assertEqual(os.stat(daemon.socket).st_mode & 0o777, 0o600)
            self.assertEqual(os.stat(os.path.dirname(daemon.socket)).st_mode & 0o777, 0o700)

    def test_the_environment_of_a_job(self):
        with Jipsad(cards=2) as daemon:
            daemon.see("gpu0", "gpu1")
            job = daemon.sh("env", needs={"gpu1": GIB}, env=["PATH=/usr/bin:/bin", "MINE=1"])
            plain = daemon.sh("env", needs={"ram": 1})
            self.assertEqual(daemon.ended(job)["pool"], "gpu1")
            lines = daemon.output(job).split("\n")
            for line in ("MINE=1", "JIPSA_JOB_ID=%d" % job, "JIPSA_SOCKET=" + daemon.socket, "CUDA_VISIBLE_DEVICES=GPU-1"):
                self.assertIn(line, lines)
            daemon.ended(plain)
            self.assertNotIn("CUDA_VISIBLE_DEVICES", daemon.output(plain))

    def test_dependencies(self):
        with Jipsad() as daemon:
            go = os.path.join(daemon.root, "go")
            first = daemon.sh("while ! [ -e %s ]; do sleep 0.05; done; exit 3" % go)
            second = daemon.sh("true", after=[first])
            third = daemon.sh("true", after=[second])
            other = daemon.sh("true")
            later = daemon.sh("true", after=[other])
            self.assertEqual(daemon.reason(second, "dependency")["owner"], "job:%d" % first)
            self.assertEqual(daemon.ended(later)["state"], "succeeded")
            open(go, "w", encoding="ascii").close()
            self.assertEqual(daemon.ended(first)["exit_code"], 3)
            for job, cause in ((second, first), (third, second)):
                ended = daemon.ended(job)
                self.assertEqual((ended["state"], ended["note"]), ("cancelled", "dependency:%d" % cause))
            late = daemon.sh("true", after=[first])
            self.assertEqual(daemon.ended(late)["note"], "dependency:%d" % first)
            self.assertEqual(daemon.ended(daemon.sh("true", after=[other]))["state"], "succeeded")
            with self.assertRaises(Refused) as refused:
                daemon.sh("true", after=[999])
            self.assertEqual((refused.exception.status, refused.exception.error["code"]), (400, "bad_input"))

    def test_pause_outlives_the_daemon(self):
        with Jipsad() as daemon:
            self.assertEqual(daemon.post("/v1/queue/pause"), {"paused": True})
            job = daemon.sh("true")
            daemon.reason(job, "paused")
            self.assertEqual(daemon.stop(), 0)
            daemon.start()
            self.assertTrue(daemon.get("/v1/status")["paused"])
            daemon.reason(job, "paused")
            daemon.post("/v1/queue/resume")
            self.assertEqual(daemon.ended(job)["state"], "succeeded")

    def test_cancel_reaches_grandchildren(self):
        with Jipsad("[queue]\nkill_grace = 1") as daemon:
            pids = os.path.join(daemon.root, "pids")
            job = daemon.sh("trap '' TERM; (trap '' TERM; setsid sleep 600 & echo $! >> %s; wait) & sleep 600 & echo $! >> %s; wait" % (pids, pids))
            children = daemon.until(lambda: len(read_pids(pids)) == 2 and read_pids(pids), "the job's children are there")
            daemon.post("/v1/jobs/%d/cancel" % job)
            ended = daemon.ended(job)
            self.assertEqual((ended["state"], ended["note"]), ("cancelled", "by_person"))
            daemon.until(lambda: not any(alive(pid) for pid in children), "the grandchildren are gone")
            with self.assertRaises(Refused) as refused:
                daemon.post("/v1/jobs/%d/cancel" % job)
            self.assertEqual(refused.exception.error["code"], "conflict")
            with self.assertRaises(Refused) as refused:
                daemon.post("/v1/jobs/77/cancel")
            self.assertEqual(refused.exception.error["code"], "not_found")

    def test_launchers(self):
        config = ('[launcher.arg]\ncommand = ["printf", "%s", "{text}"]\n[launcher.file]\ncommand = ["cat", "{file}"]\n'
                  '[launcher.input]\ncommand = ["cat"]\n')
        with Jipsad(config) as daemon:
            text = "line\n'quotes' \"and\" {file} $HOME 집사"
            for launcher in ("arg", "file", "input"):
                job = daemon.post("/v1/jobs", {"launcher": launcher, "text": text, "dir": "/"})
                self.assertEqual(job["launcher"], launcher)
                self.assertEqual(daemon.ended(job["id"])["state"], "succeeded")
                self.assertEqual(daemon.output(job["id"]), text)
            with self.assertRaises(Refused) as refused:
                daemon.post("/v1/jobs", {"launcher": "none", "text": text})
            self.assertEqual(refused.exception.error["code"], "not_found")
            self.assertIn("arg, file, input", refused.exception.error["what"])

    def test_bad_requests_are_answered(self):
        with Jipsad() as daemon:
            for method, path, body, status in (
                    ("GET", "/", None, 404), ("PUT", "/v1/jobs", {}, 404), ("GET", "/v1/jobs/x", None, 400), ("GET", "/v1/jobs/5", None, 404),
                    ("GET", "/v1/jobs?finished=-1", None, 400), ("GET", "/v1/jobs?ids=1,,2", None, 400), ("POST", "/v1/jobs", b"{", 400),
                    ("POST", "/v1/jobs", b"\xff\x00", 400), ("POST", "/v1/tenants/x/release", None, 404),
                    ("GET", "/v1/events?follow=2", None, 400)):
                with self.subTest(path=path, body=body), self.assertRaises(Refused) as refused:
                    daemon.call(method, path, body)
                self.assertEqual(refused.exception.status, status)
                self.assertTrue(refused.exception.error["what"])
            with self.assertRaises((Refused, OSError)):
                daemon.post("/v1/jobs", b"x" * (17 * MIB))
            self.assertEqual(daemon.get("/v1/jobs")["jobs"], [])

    def test_waiting_clients_and_streams(self):
        with Jipsad() as daemon:
            stream = UnixConnection(daemon.socket, PATIENCE)
            stream.request("GET", "/v1/events?follow=1")
            lines = stream.getresponse()
            go = os.path.join(daemon.root, "go")
            job = daemon.sh("while ! [ -e %s ]; do sleep 0.05; done" % go)
            self.assertIn(daemon.get("/v1/jobs/%d?wait=1" % job)["state"], ("starting", "running"))
            answers = []
            waiters = [threading.Thread(target=lambda: answers.append(daemon.ended(job)["state"])) for _ in range(8)]
            for waiter in waiters:
                waiter.start()
            gone = UnixConnection(daemon.socket, PATIENCE)
            gone.request("GET", "/v1/jobs/%d?wait=600" % job)
            time.sleep(0.2)
            gone.close()
            open(go, "w", encoding="ascii").close()
            for waiter in waiters:
                waiter.join(PATIENCE)
            self.assertEqual(answers, ["succeeded"] * 8)
            seen = []
            while "exit" not in seen:
                line = lines.readline().decode().strip()
                if line.startswith("data: "):
                    event = json.loads(line[6:])
                    if event.get("job") == job:
                        seen.append(event["type"])
            self.assertEqual([kind for kind in seen if kind != "wait"], ["submit", "admit", "started", "exit"])
            stream.close()
            kinds = [event["type"] for event in daemon.get("/v1/events")["events"]]
            self.assertIn("exit", kinds)

    def test_a_long_queue_is_listed_quickly(self):
        with Jipsad() as daemon:
            daemon.post("/v1/queue/pause")
            count = 300
            for i in range(count):
                daemon.sh("true", priority=i % 3)
            jobs = daemon.get("/v1/jobs")
            self.assertEqual((jobs["waiting"], len(jobs["jobs"])), (count, count))
            ranks = [(-job["priority"], job["id"]) for job in jobs["jobs"]]
            self.assertEqual(ranks, sorted(ranks))
            self.assertEqual(len(daemon.get("/v1/jobs?limit=5")["jobs"]), 5)


class Restarts(unittest.TestCase):
    def test_a_second_daemon_is_refused(self):
        with Jipsad() as daemon:
            second = subprocess.run(daemon.command(), env={**os.environ, **daemon.world.env()}, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(second.returncode, 9)
            self.assertIn("pid %d" % daemon.process.pid, second.stderr)
            self.assertTrue(daemon.get("/v1/status"))

    def test_jobs_outlive_a_clean_stop(self):
        with Jipsad() as daemon:
            go = os.path.join(daemon.root, "go")
            ends, runs = daemon.sh("sleep 0.5; exit 5"), daemon.sh("while ! [ -e %s ]; do sleep 0.05; done; exit 6" % go)
            daemon.until(lambda: all(daemon.job(job)["state"] == "running" for job in (ends, runs)), "both run")
            pid = daemon.job(runs)["pid"]
            self.assertEqual(daemon.stop(), 0)
            self.assertTrue(alive(pid))
            self.assertFalse(os.path.exists(daemon.socket))
            time.sleep(0.8)
            daemon.start()
            self.assertEqual(daemon.ended(ends)["exit_code"], 5)
            self.assertEqual(daemon.job(runs)["state"], "running")
            open(go, "w", encoding="ascii").close()
            self.assertEqual(daemon.ended(runs)["exit_code"], 6)

    def test_killed_at_random_points_no_job_is_lost_and_none_starts_twice(self):
        rng = random.Random(20261028)
        daemon = Jipsad()
        ran = os.path.join(daemon.root, "ran")
        jobs = {}
        with daemon:
            for _ in range(12):
                for _ in range(4):
                    code = rng.randrange(0, 50)
                    job = daemon.sh("echo $JIPSA_JOB_ID >> %s; sleep 0.%d; exit %d" % (ran, rng.randrange(0, 4), code), needs={"ram": MIB})
                    jobs[job] = code
                time.sleep(rng.random() * 0.25)
                daemon.kill()
                time.sleep(rng.random() * 0.2)
                daemon.start()
            for job, code in jobs.items():
                ended = daemon.ended(job)
                self.assertEqual((ended["exit_code"], ended["note"]), (code, None), ended)
            with open(ran, encoding="ascii") as file:
                started = sorted(int(line) for line in file)
            self.assertEqual(started, sorted(jobs))

    def test_a_killed_shim_is_a_lost_job(self):
        with Jipsad() as daemon:
            job = daemon.sh("sleep 600")
            pid = daemon.until(lambda: daemon.job(job)["pid"], "it runs")
            with open("/proc/%d/stat" % pid, encoding="ascii") as file:
                shim = int(file.read().rsplit(")", 1)[1].split()[1])
            os.kill(shim, signal.SIGKILL)
            ended = daemon.ended(job)
            self.assertEqual((ended["state"], ended["note"]), ("lost", "shim_died"))
            daemon.until(lambda: not alive(pid), "what was left of it is gone")

    def test_its_own_recordings_replay(self):
        jipsa = os.path.join(BIN, "jipsa")
        if not os.path.exists(jipsa):
            self.skipTest("no client in this build")
        with Jipsad("[recording]\nmax_size = \"512KiB\"") as daemon:
            go = os.path.join(daemon.root, "go")
            daemon.sh("while ! [ -e %s ]; do sleep 0.05; done" % go, needs={"gpu": 20 * GIB})
            waits = daemon.sh("true", needs={"gpu": 20 * GIB})
            daemon.reason(waits, "running_job")
            daemon.stop()
            daemon.start()
            open(go, "w", encoding="ascii").close()
            self.assertEqual(daemon.ended(waits)["state"], "succeeded")
            daemon.stop()
            files = glob.glob(os.path.join(daemon.state, "recordings", "*.jsonl"))
            self.assertGreaterEqual(len(files), 2)
            checked = subprocess.run([jipsa, "replay", "--check", *files], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            for path in files:
                with open(path, encoding="utf-8") as file:
                    recorded = [json.loads(line) for line in file]
                again = subprocess.run([jipsa, "replay", path], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(again.returncode, 0, again.stderr)
                outputs = [line for line in recorded if line["type"] in ("admit", "wait", "release", "restart", "verdict")]
                self.assertEqual([json.loads(line) for line in again.stdout.splitlines() if line.startswith("{")], outputs)
            daemon.start()


class Memory(unittest.TestCase):
    def tenant(self, comfy):
        # Little host memory: the test machine's need not hold what a card does.
        return '[policy]\nidle_grace = 0.5\nram_headroom = "64M"\n[[tenant]]\nid = "comfyui"\nkind = "comfyui"\nurl = "%s"\n' % comfy.url


    def test_cards_that_are_silent_admit_nothing(self):
        with Jipsad() as daemon:
            daemon.see("gpu0")
            daemon.world.fail("memory_v2", 999).fail("memory", 999).save()
            job = daemon.sh("true", needs={"gpu": GIB})
            if daemon.job(job)["state"] == "waiting":
                daemon.reason(job, "stale")
            daemon.until(lambda: daemon.pool("gpu0")["used"] is None, "the card is unknown, not what it was")
            self.assertTrue(daemon.pool("gpu0")["trouble"])
            blocked = daemon.sh("true", needs={"gpu": GIB})
            daemon.reason(blocked, "stale")
            daemon.world.well().save()
            self.assertEqual(daemon.ended(blocked)["state"], "succeeded")

    def test_a_release_makes_room_and_is_on_record(self):
        probe = Jipsad(total=4 * GIB)
        with Comfy(world=probe.world.path, gpu=0, hold_gpu=2 * GIB) as comfy:
            with open(probe.config, "a", encoding="utf-8") as file:
                file.write(self.tenant(comfy))
            with probe as daemon:
                job = daemon.sh("echo fits", needs={"gpu": 2560 * MIB})
                self.assertEqual(daemon.ended(job)["state"], "succeeded")
                self.assertGreaterEqual(comfy.state()["acted"], 1)
                release = daemon.until(
                    lambda: next((r for r in daemon.get("/v1/releases")["releases"] if r["pools"] and r["pools"][0]["verdict"]), None),
                    "a verdict is given")
                self.assertEqual((release["tenant"], release["for"], release["by"]), ("comfyui", job, "queue"))
                self.assertIn(release["pools"][0]["verdict"], ("released", "late"))
                tenant = daemon.get("/v1/tenants")["tenants"][0]
                self.assertEqual(tenant["pid"], comfy.pid)
                checks = {check["id"]: check["state"] for check in daemon.get("/v1/doctor")["checks"]}
                self.assertEqual((checks["driver"], checks["tenant:comfyui"], checks["store"], checks["recording"]), ("ok",) * 4, checks)

    def test_a_person_may_ask(self):
        probe = Jipsad(total=4 * GIB)
        with Comfy(world=probe.world.path, gpu=0, hold_gpu=1 * GIB) as comfy:
            with open(probe.config, "a", encoding="utf-8") as file:
                file.write(self.tenant(comfy))
            with probe as daemon:
                daemon.until(lambda: (daemon.get("/v1/tenants")["tenants"][0]["holds"].get("gpu0") or 0) > GIB // 2, "what it holds is known")
                self.assertEqual(daemon.post("/v1/tenants/comfyui/release"), {"asked": True})
                daemon.until(lambda: comfy.state()["acted"] == 1, "it has acted")
                release = daemon.until(lambda: next(iter(daemon.get("/v1/releases?tenant=comfyui")["releases"]), None), "it is on record")
                self.assertEqual((release["by"], release["for"]), ("person", None))


if __name__ == "__main__":
    unittest.main()
