"""What the ComfyUI double holds: host memory for real, GPU memory in the world of the fake driver (fakeworld.py)."""

import ctypes
import mmap
import os
import threading

import fakeworld

CHUNK = 16 << 20
PIECE = 64 << 10  # below the C library's mmap threshold: comes from its heap or an arena
PIN = 64          # one piece in so many is never freed, so that the freed ones between stay resident

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]


def _mapped(size):
    """A private anonymous mapping with every page touched; goes back to the system in one step when closed."""
    chunk = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    chunk[0:size:4096] = b"\1" * ((size + 4095) // 4096)
    return chunk


class Ram:
    """Anonymous memory. kind "mapped": freed means gone. kind "arena": freed inside, kept by the C library's allocator."""

    def __init__(self):
        self.bytes = 0
        self._chunks, self._pieces = [], []

    def set(self, size, kind="mapped"):
        if kind == "arena":
            self._close()
            self._pieces = [_libc.malloc(PIECE) for _ in range(size // PIECE)]
            for piece in self._pieces:
                ctypes.memset(piece, 1, PIECE)
        else:
            self._free_pieces()
            self._resize(size)
        self.bytes = size

    def _resize(self, size):
        while self._chunks and sum(len(chunk) for chunk in self._chunks) > size:
            self._chunks.pop().close()
        left = size - sum(len(chunk) for chunk in self._chunks)
        while left > 0:
            part = min(left, CHUNK)
            self._chunks.append(_mapped(part))
            left -= part

    def _close(self):
        self._resize(0)
        self._free_pieces()

    def _free_pieces(self):
        for place, piece in enumerate(self._pieces):
            if place % PIN != PIN - 1:
                _libc.free(piece)
        self._pieces = []


class Gpu:
    """GPU memory of this process: `floor` (context, kernels) for as long as it lives, and what it loaded on top."""

    def __init__(self, world_path, gpu, floor, total):
        self.bytes, self.floor, self.gpu, self._path, self._total = 0, floor, gpu, world_path, total
        self.set(0)

    def set(self, size):
        self.bytes = size
        if self._path:
            fakeworld.World(self._path).hold(os.getpid(), self.gpu, self.floor + size)

    def device(self):
        """(total, free) of the whole card, as the process would be told by the driver."""
        if not self._path:
            return self._total, max(0, self._total - self.floor - self.bytes)
        world = fakeworld.World(self._path)
        card = world._gpus.get(self.gpu, {})
        total = int(card.get("total", self._total))
        used = int(card.get("base", 0)) + int(card.get("reserved", 0))
        for name in os.listdir(world.holder_dir) if os.path.isdir(world.holder_dir) else []:
            if name.isdigit() and os.path.exists("/proc/" + name):
                used += world.held(int(name)).get(self.gpu) or 0
        return total, max(0, total - used)


class Memory:
    """Both, behind one lock: the worker and the control requests change them."""

    def __init__(self, gpu):
        self.lock, self.ram, self.gpu = threading.Lock(), Ram(), gpu

    def set(self, ram=None, gpu=None, kind="mapped"):
        with self.lock:
            if gpu is not None and self.gpu:
                self.gpu.set(gpu)
            if ram is not None:
                self.ram.set(ram, kind)

    def held(self):
        return self.ram.bytes, self.gpu.bytes if self.gpu else 0


def host():
    """(total, available) of the machine in bytes."""
    with open("/proc/meminfo", encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    return tuple(int(rows[key].split()[0]) * 1024 for key in ("MemTotal", "MemAvailable"))
