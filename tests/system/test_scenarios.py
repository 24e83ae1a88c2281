"""Every scenario in tests/scenarios/ holds: what the core sees, says and does, case by case."""

import json
import os
import pathlib
import subprocess
import unittest

JIPSA = os.path.join(os.environ["JIPSA_BIN"], "jipsa")
SCENARIOS = sorted((pathlib.Path(__file__).resolve().parents[1] / "scenarios").glob("*.jsonl"))


class Scenarios(unittest.TestCase):
    def test_there_are_some(self):
        self.assertTrue(SCENARIOS)

    def test_each_holds(self):
        for path in SCENARIOS:
            with self.subTest(path.name):
                done = subprocess.run([JIPSA, "replay", "--check", str(path)], capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_replay_checks_against_itself(self):
        """What a replay puts out, written into the recording, is what the next replay puts out."""
        for path in SCENARIOS:
            with self.subTest(path.name):
                lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
                outputs = subprocess.run([JIPSA, "replay", str(path)], capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()
                merged = merge([line for line in lines if '"type":"expect"' not in line], outputs)
                done = subprocess.run([JIPSA, "replay", "--check", "-"], input="\n".join(merged), capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (0, ""))


def merge(inputs, outputs):
    """Outputs stand behind the last input of their time."""
    timed = [(json.loads(line).get("t", 0), 0, n, line) for n, line in enumerate(inputs)]
    timed += [(json.loads(line)["t"], 1, n, line) for n, line in enumerate(outputs)]
    return [line for _, _, _, line in sorted(timed)]


if __name__ == "__main__":
    unittest.main()
