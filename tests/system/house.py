"""An isolated Jipsa for a test: its own state, socket and configuration, the built programs, a simulated card.

    with House(card=True) as house:
        comfy = house.comfyui(hold_gpu=15 * GIB)       # a ComfyUI double on the simulated card, named in the configuration
        house.start()
        job = house.add("--vram", "16G", "--", "true")
        house.until(lambda: house.job(job)["state"] == "succeeded")
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doubles"))

from double_client import Comfy  # noqa: E402
from fakeworld import GIB, MIB, World  # noqa: E402,F401

BIN = os.environ.get("JIPSA_BIN", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "bin"))
LIB = os.environ.get("JIPSA_LIB", os.path.join(os.path.dirname(BIN), "lib"))

# A sanitizer build answers more slowly: every deadline of the tests is a multiple of this.
PATIENCE = float(os.environ.get("JIPSA_PATIENCE", "1"))


class House:
    def __init__(self, card=False, policy=None, **card_keys):
        # The socket's path must stay short, so not below a deep folder.
        self.folder = tempfile.mkdtemp(prefix="jipsa-")
        self.state = os.path.join(self.folder, "state")
        self.socket = os.path.join(self.folder, "s")
        self.config_file = os.path.join(self.folder, "config.toml")
        self.policy = {"idle_grace": 0, "ram_headroom": 0, **(policy or {})}
        self.sections = []
        self.daemon = None
        self.doubles = []
        self.world = None
        if card:
            self.world = World(os.path.join(self.folder, "world"))
            self.world.gpu(0, **{"total": 34190917632, "base": 2 * GIB, "name": "RTX 5090", "uuid": "GPU-0", **card_keys})
            self.world.save()

    # ---- what is in the house ----

    def comfyui(self, configured=True, tenant=None, **options):
        """Starts a ComfyUI double; `tenant`: further keys of its [[tenant]] section. Its floor on a card is part of what it holds."""
        if self.world is not None:
            options = {"world": self.world.path, "gpu": 0, **options}
        comfy = Comfy(**options)
        self.doubles.append(comfy)
        comfy.start()
        if configured:
            self.tenant(comfy, **(tenant or {}))
        return comfy

    def tenant(self, comfy, **keys):
        lines = ['[[tenant]]', 'id = "comfyui"', 'kind = "comfyui"', 'url = "%s"' % comfy.url]
        lines += ["%s = %s" % (key, value) for key, value in keys.items()]
        self.sections.append("\n".join(lines))

    def write_config(self):
        text = ["[policy]"] + ["%s = %s" % item for item in self.policy.items()]
        if self.world is not None:
            text += ["[driver]", 'nvml = "%s"' % os.path.join(LIB, "libfake_nvml.so")]
        else:
            text += ["[driver]", 'nvml = "%s"' % os.path.join(self.folder, "no-such-library.so")]
        with open(self.config_file, "w", encoding="utf-8") as file:
            file.write("\n".join(text + self.sections) + "\n")

    def env(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("JIPSA_") and k not in ("LC_ALL", "LC_MESSAGES", "LANG")}
        env.update(JIPSA_CONFIG=self.config_file, JIPSA_STATE=self.state, JIPSA_SOCKET=self.socket, LC_ALL="C.UTF-8")
        if self.world is not None:
            env.update(self.world.env())
        return env

    # ---- the daemon ----

    def start(self, wait=True):
        if not os.path.exists(self.config_file):
            self.write_config()
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.daemon = subprocess.Popen([os.path.join(BIN, "jipsad")], env=self.env(), stdin=subprocess.DEVNULL, stderr=log,
                                           stdout=log)
        if wait:
            self.until(self.answers, 30)
        return self

    def answers(self):
        if self.daemon.poll() is not None:
            raise AssertionError("jipsad ended with %s:\n%s" % (self.daemon.returncode, self.log()))
        return self.jipsa("list", check=False).returncode == 0

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def stop(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(30 * PATIENCE)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    # ---- the client ----

    def jipsa(self, *words, check=True, **keys):
        done = subprocess.run([os.path.join(BIN, "jipsa"), *map(str, words)], env=self.env(), stdin=keys.pop("stdin", subprocess.DEVNULL),
                              capture_output=True, timeout=120 * PATIENCE, **keys)
        if check and done.returncode != 0:
            raise AssertionError("jipsa %s: exit %d\n%s\n%s" % (" ".join(map(str, words)), done.returncode,
                                                               done.stderr.decode(errors="replace"), self.log()[-4000:]))
        return done

    def json(self, *words):
        return json.loads(self.jipsa(*words, "--json").stdout)

    def add(self, *words, **keys):
        return int(self.jipsa("add", *words, **keys).stdout)

    def job(self, job):
        return self.json("show", job)

    def reason(self, job):
        return self.job(job)["reason"] or {}

    def pool(self, name):
        nothing = {"id": name, "used": None, "claims": []}  # before the first look
        return next((pool for pool in self.json("whose")["pools"] if pool["id"] == name), nothing)

    def claims(self, name):
        return {claim["owner"]: claim for claim in self.pool(name)["claims"]}

    def releases(self):
        return self.json("releases")["releases"]

    def verdict(self, pool="gpu0"):
        """The newest request's verdict on the pool; None while it is being watched."""
        for release in [r for r in self.releases() if not r["restart"]][:1]:
            for entry in release["pools"]:
                if entry["pool"] == pool:
                    return entry["verdict"]
        return None

    def until(self, condition, seconds=20, what=""):
        """Waits for the condition; what it returned. A failure shows the daemon's log."""
        deadline = time.monotonic() + seconds * PATIENCE
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError("not within %g s %s\n%s\n%s" % (seconds, what, self.jipsa("list", check=False).stdout.decode(),
                                                                    self.log()[-6000:]))
            time.sleep(0.03)

    def recordings(self):
        folder = os.path.join(self.state, "recordings")
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jsonl"))

    def replay(self):
        """The daemon's own recordings, through `jipsa replay --check`: the decisions must come out again."""
        return subprocess.run([os.path.join(BIN, "jipsa"), "replay", "--check", *self.recordings()], capture_output=True, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.daemon and self.daemon.poll() is None:
                for job in self.json("list")["jobs"]:
                    if job["state"] in ("starting", "running"):
                        self.jipsa("cancel", job["id"], check=False)
                self.stop()
        finally:
            if self.daemon and self.daemon.poll() is None:
                self.kill()
            for comfy in self.doubles:
                comfy.__exit__()
            shutil.rmtree(self.folder, ignore_errors=True)
