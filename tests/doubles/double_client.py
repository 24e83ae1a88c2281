"""Starts a ComfyUI double for a test and speaks with it.

    with Comfy(world="/tmp/x/world", gpu=0, hold_gpu=15 << 30) as comfy:      # or start() and stop(); options of comfyui.py, _ for -
        comfy.url, comfy.port, comfy.pid
        comfy.set(delay=6.5, stay_gpu=3 << 30)                                # behaviour, see README.md
        comfy.hold(ram_bytes=512 << 20)                                       # holds exactly that, now
        comfy.prompt(seconds=2, gpu_bytes=8 << 30, ram_bytes=1 << 30)         # queues one; its id
        comfy.state()["acted"]                                                # releases carried out; see comfyui.py
        comfy.wait(lambda state: state["running"] == 0 and state["pending"] == 0)
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Comfy:
    def __init__(self, **options):
        self.options = {"port": 0, **options}
        self.process = self.port = None
        self._folder = tempfile.TemporaryDirectory(prefix="comfyui-double-")

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    @property
    def pid(self):
        return self.process.pid

    def command(self, port_file):
        words = [sys.executable, os.path.join(HERE, "comfyui.py"), "--port-file", port_file]
        for name, value in self.options.items():
            words += ["--" + name.replace("_", "-"), json.dumps(value) if isinstance(value, dict) else str(value)]
        return words

    def start(self, wait=True):
        """Again after stop() or kill(): at the same port, as a restarted server would be."""
        if self.port:
            self.options["port"] = self.port
        port_file = os.path.join(self._folder.name, "port")
        if os.path.exists(port_file):
            os.unlink(port_file)
        self.process = subprocess.Popen(self.command(port_file), stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while wait and not os.path.exists(port_file):
            if self.process.poll() is not None:
                raise RuntimeError("the double ended with %d" % self.process.returncode)
            if time.monotonic() > deadline:
                raise RuntimeError("the double did not open its port within 60 s")
            time.sleep(0.02)
        if wait:
            with open(port_file, encoding="ascii") as file:
                self.port = int(file.read())
        return self

    def request(self, path, body=None, timeout=30):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers={"Content-Type": "application/json"})
        with _open(request, timeout=timeout) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def set(self, **behaviour):
        return self.request("/_double", behaviour)

    def hold(self, **amounts):
        return self.set(hold=amounts)

    def state(self):
        return self.request("/_double")

    def prompt(self, **double):
        graph = {"1": {"class_type": "Double", "inputs": {}}}
        return self.request("/prompt", {"prompt": graph, "double": double})["prompt_id"]

    def free(self, unload_models=True, free_memory=True):
        return self.request("/free", {"unload_models": unload_models, "free_memory": free_memory})

    def wait(self, condition, timeout=30):
        """The first state for which `condition` holds."""
        deadline = time.monotonic() + timeout
        while True:
            state = self.state()
            if condition(state):
                return state
            if time.monotonic() > deadline:
                raise AssertionError("the double did not get there within %g s: %s" % (timeout, state))
            time.sleep(0.02)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
        if self.process:
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        self._folder.cleanup()
