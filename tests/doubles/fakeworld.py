"""Writes the world file of the fake NVML library (fake_nvml/README.md), so that a test or a double can move GPU memory.

    world = World(path)                 # reads the file if there is one
    world.gpu(0, total=32 * GIB, base=2 * GIB, reserved=0, name="RTX 5090", uuid="GPU-0")   # new card, or changes the named keys
    world.process(0, 1234, 4 * GIB)     # a static row (bytes None: presence without an amount); lists="compute,graphics"
    world.forget(0, 1234)               # removes it
    world.fail("memory_v2", 999)        # also: hang("memory_v2", 5), hang("compute"), crash("memory"); gpu=N for one card
    world.well()                        # removes every fault
    world.set("symbols", "v1")          # also "row_size" 32, "driver" "535.54"
    world.remove_gpu(0)
    world.save()                        # atomically; nothing above is seen before

    world.hold(pid, 0, 3 * GIB)         # at once, no save(): that process holds this until it ends or the amount changes
    world.hold(pid, 0, None)            # present, without an amount
    world.drop(pid)                     # at once: it holds nothing and has no row
    world.held(pid)                     # {0: 3221225472}

    subprocess.Popen([...], env={**os.environ, **world.env()})

Keys of gpu(): total, base, reserved, name, uuid, v2, used_counts_reserved, amounts, mig (bool), lost (a return code, 0 for well).
hold() and drop() touch only the folder PATH.holders, so another process may call them with a World of its own on the same path
(`World(os.environ["JIPSA_FAKE_NVML"]).hold(os.getpid(), 0, n)`), once save() has been called by whoever made the world.
From a shell: `python3 fakeworld.py WORLD hold PID GPU BYTES|none` and `... drop PID`.
"""

import os
import sys

MIB = 1 << 20
GIB = 1 << 30


def _replace(path, text):
    temporary = os.path.join(os.path.dirname(path), ".%s.%d" % (os.path.basename(path), os.getpid()))
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


class World:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.holder_dir = self.path + ".holders"
        self._gpus, self._faults, self._settings = {}, [], {}
        if os.path.exists(self.path):
            self._read()

    def _read(self):
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                words = line.split(None, 3)
                if not words or words[0].startswith("#"):
                    continue
                if words[0] == "gpu":
                    card = self._gpus.setdefault(int(words[1]), {"process": {}})
                    value = words[3].strip()
                    if words[2] == "process":
                        pid, bytes_, lists = (value.split() + ["compute"])[:3]
                        card["process"][int(pid)] = (bytes_, lists)
                    else:
                        card[words[2]] = value
                elif words[0] in ("return", "hang", "crash"):
                    self._faults.append(line.strip())
                elif words[0] != "holder_dir":
                    self._settings[words[0]] = line.split(None, 1)[1].strip()

    def gpu(self, index, **keys):
        known = {"total", "base", "reserved", "name", "uuid", "v2", "used_counts_reserved", "amounts", "mig", "lost"}
        unknown = set(keys) - known
        if unknown:
            raise TypeError("no such key of a card: " + ", ".join(sorted(unknown)))
        card = self._gpus.setdefault(index, {"process": {}, "total": str(32 * GIB)})
        for key, value in keys.items():
            card[key] = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        return self

    def remove_gpu(self, index):
        self._gpus.pop(index, None)
        return self

    def process(self, gpu, pid, bytes_, lists="compute"):
        self._gpus[gpu]["process"][pid] = ("none" if bytes_ is None else str(bytes_), lists)
        return self

    def forget(self, gpu, pid):
        self._gpus[gpu]["process"].pop(pid, None)
        return self

    def _fault(self, line, gpu):
        self._faults.append(line if gpu is None else "%s %d" % (line, gpu))
        return self

    def fail(self, call, code, gpu=None):
        return self._fault("return %s %d" % (call, code), gpu)

    def hang(self, call, seconds=None, gpu=None):
        return self._fault("hang %s %s" % (call, "forever" if seconds is None else seconds), gpu)

    def crash(self, call, gpu=None):
        return self._fault("crash %s" % call, gpu)

    def well(self):
        self._faults = []
        return self

    def set(self, key, value):
        self._settings[key] = str(value)
        return self

    def save(self):
        os.makedirs(self.holder_dir, exist_ok=True)
        lines = ["%s %s" % item for item in self._settings.items()]
        lines.append("holder_dir " + self.holder_dir)
        for index, card in sorted(self._gpus.items()):
            lines += ["gpu %d %s %s" % (index, key, value) for key, value in card.items() if key != "process"]
            lines += ["gpu %d process %d %s %s" % (index, pid, *row) for pid, row in card["process"].items()]
        _replace(self.path, "\n".join(lines + self._faults) + "\n")
        return self

    def held(self, pid):
        try:
            with open(os.path.join(self.holder_dir, str(pid)), encoding="utf-8") as file:
                rows = [line.split() for line in file if line.strip()]
        except FileNotFoundError:
            return {}
        return {int(row[0]): None if row[1] == "none" else int(row[1]) for row in rows}

    def hold(self, pid, gpu, bytes_):
        held = self.held(pid)
        held[gpu] = bytes_
        os.makedirs(self.holder_dir, exist_ok=True)
        text = "".join("%d %s\n" % (g, "none" if b is None else b) for g, b in sorted(held.items()))
        _replace(os.path.join(self.holder_dir, str(pid)), text)

    def drop(self, pid):
        try:
            os.unlink(os.path.join(self.holder_dir, str(pid)))
        except FileNotFoundError:
            pass

    def env(self):
        return {"JIPSA_FAKE_NVML": self.path}


def main(arguments):
    if len(arguments) == 5 and arguments[1] == "hold":
        World(arguments[0]).hold(int(arguments[2]), int(arguments[3]), None if arguments[4] == "none" else int(arguments[4]))
    elif len(arguments) == 3 and arguments[1] == "drop":
        World(arguments[0]).drop(int(arguments[2]))
    else:
        sys.exit("usage: fakeworld.py WORLD hold PID GPU BYTES|none\n       fakeworld.py WORLD drop PID")


if __name__ == "__main__":
    main(sys.argv[1:])
