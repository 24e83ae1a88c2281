"""The ComfyUI double behaves as the real server was measured to: what other tests rest on."""

import os
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doubles"))
import fakeworld
from double_client import Comfy, _open

MIB = 1 << 20


def anon(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) * 1024


def cpu(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def ask(comfy, method, path, body=None, **headers):
    request = urllib.request.Request(comfy.url + path, data=body, method=method, headers=headers)
    try:
        with _open(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


class Free(unittest.TestCase):
    def test_table_of_answers(self):
        with Comfy() as comfy:
            for body in (b"{}", b'{"free_memory": true}', b'{"unload_models": "false"}', b'{"x": 1}'):
                self.assertEqual(ask(comfy, "POST", "/free", body)[:2], (200, ""))
            for body in (b"", b"not json", b'{"free_memory": tr', b"[]", b"null", b'"x"', b"5", b"\xef\xbb\xbf{}", b"\xff"):
                status, text, headers = ask(comfy, "POST", "/free", body)
                self.assertEqual(status, 500, body)
                self.assertTrue(text.startswith("500 Internal Server Error"))
                self.assertEqual(headers["Connection"], "close")
            self.assertEqual(ask(comfy, "POST", "/free", b"{}", Origin="http://evil.example")[0], 403)
            self.assertEqual(ask(comfy, "POST", "/free", b"{}", Origin=comfy.url)[0], 200)
            self.assertEqual(ask(comfy, "POST", "/api/free", b"{}")[0], 200)
            self.assertEqual(ask(comfy, "GET", "/free")[0], 404)
            status, _, headers = ask(comfy, "PUT", "/free", b"{}")
            self.assertEqual((status, headers["Allow"]), (405, "GET,HEAD,POST"))
            self.assertEqual(ask(comfy, "OPTIONS", "/free")[0], 200)
            status, _, headers = ask(comfy, "POST", "/free/", b"{}")
            self.assertEqual((status, headers["Allow"]), (405, "GET,HEAD"))

    def test_server_without_the_route(self):
        with Comfy(shape="nofree") as comfy:
            self.assertEqual(ask(comfy, "POST", "/free", b"{}")[0], 405)
            self.assertEqual(ask(comfy, "GET", "/api/queue")[0], 404)
            self.assertNotIn("ram_total", comfy.request("/system_stats")["system"])

    def test_host_memory_is_held_and_given_back(self):
        with Comfy(hold_ram=256 * MIB) as comfy:
            held = anon(comfy.pid)
            self.assertGreater(held, 256 * MIB)
            comfy.free(free_memory=False)
            comfy.wait(lambda s: s["acted"] == 1)
            self.assertGreater(anon(comfy.pid), held - 32 * MIB)  # unload_models alone frees no RAM
            before = cpu(comfy.pid)
            comfy.free()
            comfy.wait(lambda s: s["acted"] == 2)
            self.assertLess(anon(comfy.pid), held - 224 * MIB)
            self.assertGreater(cpu(comfy.pid) - before, 0.09)

    def test_freed_inside_but_kept_by_the_allocator(self):
        with Comfy() as comfy:
            comfy.hold(ram_bytes=128 * MIB, ram_kind="arena")
            held = anon(comfy.pid)
            comfy.free()
            state = comfy.wait(lambda s: s["acted"] == 1)
            self.assertEqual(state["ram_bytes"], 0)
            self.assertGreater(anon(comfy.pid), held - 32 * MIB)

    def test_some_stays(self):
        with Comfy(hold_ram=64 * MIB, set={"stay_ram": 16 * MIB}) as comfy:
            comfy.free()
            self.assertEqual(comfy.wait(lambda s: s["acted"] == 1)["ram_bytes"], 16 * MIB)


class Worker(unittest.TestCase):
    def test_flags_wait_for_the_prompt(self):
        with Comfy(set={"burst": 0}) as comfy:
            comfy.prompt(seconds=1.5, ram_bytes=32 * MIB)
            comfy.wait(lambda s: s["running"] == 1 and s["ram_bytes"])
            comfy.free()
            time.sleep(0.3)
            self.assertEqual(comfy.state()["acted"], 0)
            comfy.wait(lambda s: s["finished"] == 1 and s["acted"] == 1 and s["ram_bytes"] == 0)

    def test_second_request_is_parked(self):
        with Comfy(set={"delay": 1.0}) as comfy:
            comfy.free()
            time.sleep(0.4)
            comfy.free()
            comfy.wait(lambda s: s["acted"] == 1)
            time.sleep(1.5)
            self.assertEqual(comfy.state()["acted"], 1)
            comfy.free()
            comfy.wait(lambda s: s["acted"] == 2)

    def test_racing_prompt_wins(self):
        with Comfy(set={"race": {"seconds": 0.5, "ram_bytes": 8 * MIB}, "burst": 0}) as comfy:
            comfy.free()
            comfy.wait(lambda s: s["running"] == 1)
            comfy.wait(lambda s: s["acted"] == 1 and s["finished"] == 1)

    def test_dead_worker_answers_as_before(self):
        with Comfy(hold_ram=8 * MIB, set={"dead_on_free": True}) as comfy:
            comfy.free()
            time.sleep(0.3)
            comfy.prompt(seconds=0)
            before = cpu(comfy.pid)
            time.sleep(0.5)
            state = comfy.state()
            self.assertEqual((state["running"], state["pending"], state["acted"], state["ram_bytes"]), (0, 1, 0, 8 * MIB))
            self.assertLess(cpu(comfy.pid) - before, 0.1)

    def test_history_tells_when(self):
        with Comfy() as comfy:
            self.assertEqual(comfy.request("/history?max_items=1"), {})
            first = comfy.prompt(seconds=0)
            second = comfy.prompt(seconds=0, fail=True)
            comfy.wait(lambda s: s["finished"] == 2)
            history = comfy.request("/history?max_items=1")
            self.assertEqual(list(history), [second])
            self.assertFalse(history[second]["status"]["completed"])
            self.assertLess(abs(history[second]["status"]["messages"][-1][1]["timestamp"] / 1000 - time.time()), 60)
            self.assertTrue(comfy.request("/history/" + first)[first]["status"]["completed"])

    def test_interrupt(self):
        with Comfy() as comfy:
            comfy.prompt(seconds=60)
            comfy.wait(lambda s: s["running"] == 1)
            ask(comfy, "POST", "/interrupt", b"")
            comfy.wait(lambda s: s["running"] == 0)


class Card(unittest.TestCase):
    def test_holding_is_seen_by_the_driver_and_goes_with_the_process(self):
        with tempfile.TemporaryDirectory() as folder:
            world = fakeworld.World(os.path.join(folder, "world")).gpu(0, total=32 << 30, base=2 << 30).save()
            with Comfy(world=world.path, hold_gpu=15 << 30, floor_gpu=500 * MIB, set={"torch": 100 * MIB}) as comfy:
                self.assertEqual(world.held(comfy.pid), {0: (15 << 30) + 500 * MIB})
                device = comfy.request("/system_stats")["devices"][0]
                self.assertEqual((device["type"], device["index"], device["vram_total"]), ("cuda", 0, 32 << 30))
                self.assertEqual(device["vram_free"], (15 << 30) - 500 * MIB)
                self.assertEqual(device["torch_vram_total"], 100 * MIB)
                comfy.set(stay_gpu=3 << 30)
                comfy.free()
                comfy.wait(lambda s: s["acted"] == 1)
                self.assertEqual(world.held(comfy.pid), {0: (3 << 30) + 500 * MIB})


class Trouble(unittest.TestCase):
    def test_silence_then_everything_is_answered(self):
        with Comfy() as comfy:
            comfy.set(silence=1.0)
            began = time.monotonic()
            self.assertEqual(ask(comfy, "POST", "/free", b'{"free_memory": true}')[0], 200)
            self.assertGreater(time.monotonic() - began, 0.5)
            comfy.wait(lambda s: s["acted"] == 1)

    def test_refusals_and_literal_answers(self):
        with Comfy() as comfy:
            for status in (403, 405, 500):
                comfy.set(refuse=status)
                self.assertEqual(ask(comfy, "POST", "/free", b"{}")[0], status)
            comfy.set(answers={"GET /queue": [200, "<html>"]})
            self.assertEqual(ask(comfy, "GET", "/queue")[1], "<html>")
            self.assertEqual(ask(comfy, "POST", "/_double", b'{"dealy": 1}')[0], 400)

    def test_dies_of_the_request(self):
        for how in ("silent", "answered"):
            with Comfy(set={"die_on_free": how}) as comfy:
                try:
                    comfy.free()
                except OSError:
                    self.assertEqual(how, "silent")
                comfy.process.wait(timeout=30)

    def test_restart_at_the_same_port_and_a_second_server(self):
        with Comfy(hold_ram=MIB) as comfy:
            port, pid = comfy.port, comfy.pid
            second = Comfy(port=port)
            self.addCleanup(second.__exit__)
            with self.assertRaises(RuntimeError):
                second.start()
            comfy.kill()
            comfy.start()
            self.assertEqual(comfy.port, port)
            self.assertNotEqual(comfy.pid, pid)


if __name__ == "__main__":
    unittest.main()
