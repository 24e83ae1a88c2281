"""The ComfyUI double's queue and its single worker thread, in the order of events of the real one.

Wait for work or a flag; run the *whole* prompt if there is one; mark it done; take and clear the flags; act on them; again. A flag that
is set while the worker acts wakes nobody and stays parked until the next event, as in the real server.
"""

import threading
import time
import uuid

PARKED = 1000.0  # seconds after which the real worker looks at its flags unasked


def spin(seconds):
    """Uses that much CPU time of this thread, as a pass of the garbage collector does."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(2000))


def now_ms():
    return int(time.time() * 1000)


class Worker(threading.Thread):
    def __init__(self, memory, behaviour):
        super().__init__(daemon=True)
        self.memory, self.behaviour = memory, behaviour
        self.changed = threading.Condition()
        self.pending, self.running, self.history = [], None, {}
        self.flags, self.number, self.acted = {}, 0, 0
        self._interrupt = threading.Event()

    # -- called by the request threads --

    def put(self, prompt, double, client_id=None):
        with self.changed:
            return self._put(prompt, double, client_id)

    def _put(self, prompt, double, client_id=None):
        item = [self.number, client_id or str(uuid.uuid4()), prompt, {}, list(prompt)]
        self.number += 1
        self.pending.append((item, double))
        self.changed.notify()
        return item

    def free(self, unload, free, race):
        """Sets the flags that are true; with `race` a prompt comes in the same instant, and wins."""
        with self.changed:
            if race:
                self._put({"race": {"class_type": "Race", "inputs": {}}}, race)
            for name, wanted in (("unload_models", unload), ("free_memory", free)):
                if wanted:
                    self.flags[name] = True
                    self.changed.notify()

    def interrupt(self):
        with self.changed:
            if self.running:
                self._interrupt.set()

    def delete(self, ids):
        with self.changed:
            self.pending = [entry for entry in self.pending if ids is not None and entry[0][1] not in ids]

    def wake(self):
        with self.changed:
            self.changed.notify()

    def queue(self):
        with self.changed:
            return ([self.running] if self.running else []), [entry[0] for entry in self.pending]

    # -- the thread --

    def run(self):
        while True:
            entry = self._next()
            if self.behaviour["dead"]:
                return
            if entry:
                self._execute(*entry)
            with self.changed:
                flags, self.flags = self.flags, {}
            if flags and not self._act(flags):
                return

    def _next(self):
        with self.changed:
            if not self.pending and not self.behaviour["dead"]:
                self.changed.wait(PARKED)
            if self.behaviour["dead"] or not self.pending:
                return None
            item, double = self.pending.pop(0)
            self.running = item
            self._interrupt.clear()
            return item, double

    def _execute(self, item, double):
        started, messages = now_ms(), []
        messages.append(["execution_start", {"prompt_id": item[1], "timestamp": started}])
        self.memory.set(double.get("ram_bytes"), double.get("gpu_bytes"), double.get("ram_kind", "mapped"))
        if double.get("cpu"):
            spin(float(double.get("seconds", 0)))
            stopped = False
        else:
            stopped = self._interrupt.wait(float(double.get("seconds", 0)))
        ending = "execution_interrupted" if stopped else "execution_error" if double.get("fail") else "execution_success"
        messages.append([ending, {"prompt_id": item[1], "timestamp": now_ms()}])
        good = ending == "execution_success"
        with self.changed:
            self.history[item[1]] = {
                "prompt": item, "outputs": {}, "meta": {},
                "status": {"status_str": "success" if good else "error", "completed": good, "messages": messages}}
            self.running = None

    def _act(self, flags):
        """Carries the release out. False: the exception that ends the real worker."""
        if self.behaviour["dead_on_free"]:
            return False
        if self.behaviour["ignores_free"]:
            return True
        spin(float(self.behaviour["burst"]))
        time.sleep(float(self.behaviour["delay"]))
        ram, gpu = self.memory.held()
        gpu_left = min(gpu, int(self.behaviour["stay_gpu"]))
        ram_left = min(ram, int(self.behaviour["stay_ram"])) if "free_memory" in flags else ram
        if self.behaviour["moves"]:
            ram_left += gpu - gpu_left
        self.memory.set(ram_left, gpu_left)
        self.acted += 1
        return True
