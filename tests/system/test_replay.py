"""`jipsa replay` as a user meets it: outputs, ledgers, checks, exit codes."""

import json
import os
import subprocess
import tempfile
import unittest

JIPSA = os.path.join(os.environ["JIPSA_BIN"], "jipsa")
GIB = 1 << 30
HEADER = '{"type":"recording","version":1,"started":"2026-10-28T12:04:00+09:00","host":"home","config":{}}'


def look(t, used):
    return json.dumps({"t": t, "type": "observe",
                       "pools": [{"id": "gpu0", "kind": "gpu", "total": 32 * GIB, "used": used, "processes": []},
                                 {"id": "ram", "kind": "ram", "total": 64 * GIB, "available": 60 * GIB}],
                       "processes": [], "tenants": []})


RECORDING = [HEADER, look(0, 0), '{"t":1,"type":"submit","job":{"id":1,"name":"a","needs":{"gpu":1073741824}}}', look(2, GIB)]


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        return path

    def replay(self, *args, stdin=None):
        return subprocess.run([JIPSA, "replay", *args], input=stdin, capture_output=True, text=True, timeout=60)

    def test_outputs_are_json_lines(self):
        done = self.replay(self.file("a.jsonl", RECORDING))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], [{"t": 1, "type": "admit", "job": 1, "pool": "gpu0"}])

    def test_standard_input(self):
        done = self.replay("-", stdin="\n".join(RECORDING))
        self.assertEqual(done.returncode, 0)
        self.assertIn('"admit"', done.stdout)

    def test_ledger_gives_every_pool_at_every_look(self):
        done = self.replay("--ledger", self.file("a.jsonl", RECORDING))
        ledgers = [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "ledger"]
        self.assertEqual([(line["t"], line["pool"]) for line in ledgers], [(0, "gpu0"), (0, "ram"), (2, "gpu0"), (2, "ram")])
        for line in ledgers:
            self.assertEqual(sum(claim["bytes"] for claim in line["claims"]), line["used"])

    def test_check_says_what_does_not_hold(self):
        good = '{"type":"expect","by":1,"output":{"type":"admit","job":1}}'
        bad = '{"type":"expect","never":{"type":"admit"}}'
        self.assertEqual(self.replay("--check", self.file("good.jsonl", RECORDING + [good])).returncode, 0)
        path = self.file("bad.jsonl", [HEADER, bad] + RECORDING[1:] + [good])
        done = self.replay("--check", path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, f'{path}:2: expected never {{"type":"admit"}}; seen {{"t":1,"type":"admit","job":1,"pool":"gpu0"}}\n')

    def test_recorded_outputs_are_compared(self):
        same = '{"t":1,"type":"admit","job":1,"pool":"gpu0"}'
        other = '{"t":1,"type":"admit","job":1,"pool":"gpu1"}'
        self.assertEqual(self.replay("--check", self.file("same.jsonl", RECORDING[:3] + [same] + RECORDING[3:])).returncode, 0)
        done = self.replay("--check", self.file("other.jsonl", RECORDING[:3] + [other] + RECORDING[3:]))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f":4: recorded {other}; the replay gives {same}", done.stdout)

    def test_an_unreadable_file_does_not_hide_the_others(self):
        broken = self.file("broken.jsonl", RECORDING + ["{"])
        differs = self.file("differs.jsonl", RECORDING + ['{"type":"expect","never":{"type":"admit"}}'])
        done = self.replay("--check", broken, os.path.join(self.folder, "missing.jsonl"), differs)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{broken}:5: ", done.stderr)
        self.assertIn("missing.jsonl: No such file", done.stderr)
        self.assertIn(f"{differs}:5: expected never", done.stdout)

    def test_outputs_before_an_error_are_kept(self):
        done = self.replay(self.file("a.jsonl", RECORDING + ["nonsense"]))
        self.assertEqual(done.returncode, 2)
        self.assertIn('"admit"', done.stdout)
        self.assertIn("a.jsonl:5: not an object", done.stderr)

    def test_nothing_to_check_is_said(self):
        done = self.replay("--check", self.file("a.jsonl", RECORDING))
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing to check", done.stderr)

    def test_stats_go_to_standard_error(self):
        done = self.replay("--stats", self.file("a.jsonl", RECORDING))
        self.assertRegex(done.stderr, r"a\.jsonl: 2 looks in [0-9.]+ s, [0-9]+ looks/s")

    def test_a_full_disk_is_no_success(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([JIPSA, "replay", self.file("a.jsonl", RECORDING)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 6)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
