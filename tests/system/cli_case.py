"""What the tests of the client share: a fake daemon, a clean environment, the program."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "doubles"))
from fake_daemon import FakeDaemon, GIB, make_job, utc  # noqa: E402,F401

JIPSA = os.path.join(os.environ["JIPSA_BIN"], "jipsa")
PATIENCE = 120  # a loaded machine


class CliCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = os.path.join(self.folder, "s")
        self.daemon = FakeDaemon(self.socket)
        self.addCleanup(self.stop_daemon)
        self.env = {"PATH": os.environ["PATH"], "HOME": self.folder, "TZ": "KST-9", "LANG": "C.UTF-8",
                    "XDG_RUNTIME_DIR": self.folder}

    def stop_daemon(self):
        if self.daemon:
            self.daemon.stop()
            self.daemon = None

    def command(self, *args):
        return [JIPSA, "--socket", self.socket, *args]

    def jipsa(self, *args, stdin=b"", env=None, cwd=None):
        done = subprocess.run(self.command(*args), input=stdin, capture_output=True, timeout=PATIENCE,
                              env=dict(self.env, **(env or {})), cwd=cwd or self.folder)
        done.out = done.stdout.decode("utf-8", "backslashreplace")
        done.err = done.stderr.decode("utf-8", "backslashreplace")
        return done

    def good(self, *args, **more):
        done = self.jipsa(*args, **more)
        self.assertEqual(done.returncode, 0, done.err)
        return done.out

    def fails(self, code, *args, **more):
        done = self.jipsa(*args, **more)
        self.assertEqual(done.returncode, code, done.out + done.err)
        self.assertTrue(done.err.startswith("jipsa: "), done.err)
        self.assertEqual(done.err.count("\n"), 1, "one line: " + done.err)
        return done.err

    def last_request(self):
        return self.daemon.requests[-1]


def noon_pools():
    return [{"id": "gpu0", "kind": "gpu", "name": "RTX 5090", "total": 34190917632, "used": 18792579072, "free": 14280766259, "age_s": 0.2,
             "trouble": None,
             "claims": [{"owner": "baseline", "bytes": 2149580800, "lo": 0, "hi": 2149580800, "how": "estimated", "capped": False,
                         "idle_since": None, "left_by": None},
                        {"owner": "tenant:comfyui", "bytes": 16642998272, "lo": 16 * GIB - GIB, "hi": 16 * GIB, "how": "eliminated",
                         "capped": False, "idle_since": utc(9305), "left_by": 41},
                        {"owner": "process:gone", "bytes": 0, "lo": 0, "hi": 0, "how": "measured", "capped": False, "idle_since": None,
                         "left_by": None}]},
            {"id": "ram", "kind": "ram", "name": None, "total": 67323860992, "used": 25877178778, "free": 41446682214, "age_s": 0.1,
             "trouble": None,
             "claims": [{"owner": "tenant:comfyui", "bytes": 20830591386, "lo": 0, "hi": 0, "how": "measured", "capped": False,
                         "idle_since": None, "left_by": None},
                        {"owner": "baseline", "bytes": 5046587392, "lo": 0, "hi": 0, "how": "measured", "capped": False, "idle_since": None,
                         "left_by": None}]}]


def noon_reason():
    return {"code": "releasing", "pool": "gpu0", "short": 2899102925, "owner": "tenant:comfyui", "need": 17179869184, "free": 14280766259,
            "held": 16642998272, "idle_since": utc(9305), "left_by": 41, "asked_at": utc(2.2)}
