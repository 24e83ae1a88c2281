"""A double of a ComfyUI server: the same questions, the same answers (wrong ones too), memory that is really held and given back.

    python3 comfyui.py --port 0 --port-file F [--device cpu|cuda] [--world WORLD --gpu 0] [--hold-ram N] [--hold-gpu N] [--set JSON]

Behaviour can be changed at run time: POST /_double {"delay": 6.5}; GET /_double tells what it holds and what it was asked.
See README.md for the list. Python's standard library is all it needs.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import comfyui_memory
import comfyui_worker

GIB = 1 << 30

BEHAVIOUR = {
    "delay": 0.0,           # seconds between taking the flags and the fall of memory
    "burst": 0.15,          # CPU seconds used when the flags are taken (the garbage collector)
    "stay_ram": 0,          # bytes that /free can't reach
    "stay_gpu": 0,
    "moves": False,         # what leaves the card goes to host memory and stays there
    "ignores_free": False,  # /free answers 200, the worker lives, nothing happens and no CPU time is used
    "dead": False,          # the worker has ended: /free and /prompt answer 200, prompts stay pending for ever
    "dead_on_free": False,  # the worker ends at the next /free
    "die_on_free": "",      # "silent": the process ends without an answer; "answered": it answers 200 first
    "refuse": 0,            # /free answers this status (403, 500, 405, …)
    "race": None,           # {"seconds": 2, "gpu_bytes": N}: such a prompt comes in together with the next /free
    "silence": 0.0,         # for so many seconds from now connections are accepted and nothing is answered; then all of it is
    "answers": {},          # {"GET /queue": [500, "text"]} instead of the real answer
    "torch": None,          # bytes that torch says it reserved; default: all that is held on the card
    "torch_free": 0,        # … of which unused
}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options):
        self.options = options
        self.behaviour = dict(BEHAVIOUR)
        gpu = None
        if options.device == "cuda":
            gpu = comfyui_memory.Gpu(options.world, options.gpu, options.floor_gpu, options.vram_total)
        self.memory = comfyui_memory.Memory(gpu)
        self.worker = comfyui_worker.Worker(self.memory, self.behaviour)
        self.requests, self.asked, self.silent_until = [], 0, 0.0
        self.change(json.loads(options.set))
        super().__init__((options.host, options.port), Handler)

    def change(self, wanted):
        unknown = set(wanted) - set(BEHAVIOUR) - {"hold"}
        if unknown:
            raise ValueError("no such behaviour: " + ", ".join(sorted(unknown)))
        hold = wanted.pop("hold", None)
        self.behaviour.update(wanted)
        if "silence" in wanted:
            self.silent_until = time.monotonic() + float(wanted["silence"])
        if hold is not None:
            self.memory.set(hold.get("ram_bytes"), hold.get("gpu_bytes"), hold.get("ram_kind", "mapped"))
        self.worker.wake()

    def state(self):
        ram, gpu = self.memory.held()
        running, pending = self.worker.queue()
        return {"pid": os.getpid(), "ram_bytes": ram, "gpu_bytes": gpu, "running": len(running), "pending": len(pending),
                "asked": self.asked, "acted": self.worker.acted, "finished": len(self.worker.history),
                "requests": self.requests[-10000:], "behaviour": self.behaviour}

    def system_stats(self):
        new = self.options.shape == "new"
        total, free = comfyui_memory.host()
        system = {"os": "posix", "python_version": sys.version, "embedded_python": False}
        if new:
            system.update(ram_total=total, ram_free=free, comfyui_version="0.3.64", required_frontend_version="1.27.10",
                          installed_templates_version=None, required_templates_version="0.1.95", pytorch_version="2.8.0+cu128",
                          argv=["main.py"] + (["--cpu"] if not self.memory.gpu else []))
        if not self.memory.gpu:
            device = {"name": "cpu", "type": "cpu", "index": None, "vram_total": total, "vram_free": free,
                      "torch_vram_total": total, "torch_vram_free": free}
        else:
            total, free = self.memory.gpu.device()
            own = self.behaviour["torch"]
            own = self.memory.gpu.bytes if own is None else int(own)
            unused = int(self.behaviour["torch_free"])
            device = {"name": "cuda:%d NVIDIA Double : cudaMallocAsync" % self.options.cuda_index, "type": "cuda",
                      "index": self.options.cuda_index, "vram_total": total, "vram_free": free + unused,
                      "torch_vram_total": own, "torch_vram_free": unused}
        return {"system": system, "devices": [device]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Python/3.11 aiohttp/3.8.4", ""
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer goes out in one piece

    def log_message(self, *_):
        pass

    # -- answers --

    def say(self, status, body=b"", kind="application/octet-stream", **headers):
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def say_json(self, value, status=200):
        self.say(status, json.dumps(value), "application/json; charset=utf-8")

    def not_found(self):
        self.say(404, "404: Not Found", "text/plain; charset=utf-8")

    def not_allowed(self, allow="GET,HEAD"):
        self.say(405, "405: Method Not Allowed", "text/plain; charset=utf-8", Allow=allow)

    def trouble(self):
        self.close_connection = True
        self.say(500, "500 Internal Server Error\n\nServer got itself in trouble", "text/plain; charset=utf-8", Connection="close")

    # -- requests --

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        if parts.path == "/_double":
            return self.control(body)
        while time.monotonic() < self.server.silent_until:
            time.sleep(0.02)
        self.server.requests.append(self.command + " " + self.path)
        said = self.server.behaviour["answers"].get(self.command + " " + parts.path)
        if said:
            return self.say(said[0], said[1], "application/json; charset=utf-8")
        path = parts.path
        if path.startswith("/api/") and self.server.options.shape == "new":
            path = path[4:]
        if self.foreign():
            return self.say(403)
        if self.command in ("GET", "HEAD"):
            return self.get(path, parse_qs(parts.query))
        if path == "/free" and self.server.options.shape != "nofree":
            return self.free_route(body)
        if self.command == "POST":
            return self.post(path, body)
        return self.not_allowed()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = handle_one

    def foreign(self):
        """The origin check of 2024-09-08 and newer: a browser's page from elsewhere must not talk to a server on loopback."""
        origin = self.headers.get("Origin")
        return self.server.options.shape == "new" and origin is not None and urlsplit(origin).netloc != self.headers.get("Host", "")

    def get(self, path, query):
        worker = self.server.worker
        if path == "/system_stats":
            return self.say_json(self.server.system_stats())
        if path == "/prompt":
            running, pending = worker.queue()
            return self.say_json({"exec_info": {"queue_remaining": len(running) + len(pending)}})
        if path == "/queue":
            running, pending = worker.queue()
            return self.say_json({"queue_running": running, "queue_pending": pending})
        if path == "/history" or path.startswith("/history/"):
            return self.get_history(path[len("/history/"):], query)
        if path == "/features":
            return self.say_json({"supports_preview_metadata": True, "max_upload_size": 104857600})
        return self.not_found()

    def get_history(self, wanted, query):
        with self.server.worker.changed:
            rows = dict(self.server.worker.history)
        if wanted:
            return self.say_json({wanted: rows[wanted]} if wanted in rows else {})
        try:
            most = int(query["max_items"][0]) if "max_items" in query else len(rows)
        except ValueError:
            return self.trouble()
        return self.say_json(dict(list(rows.items())[max(0, len(rows) - most):]))

    def free_route(self, body):
        if self.command == "OPTIONS":
            return self.say(200)
        if self.command != "POST":
            return self.not_allowed("GET,HEAD,POST")
        self.server.asked += 1
        behaviour = self.server.behaviour
        if behaviour["refuse"]:
            return self.trouble() if behaviour["refuse"] == 500 else self.say(int(behaviour["refuse"]))
        try:
            wanted = json.loads(body.decode("utf-8"))
            unload, free = wanted.get("unload_models", False), wanted.get("free_memory", False)
        except (ValueError, AttributeError):
            return self.trouble()
        if behaviour["die_on_free"] == "silent":
            os._exit(1)
        race, behaviour["race"] = behaviour["race"], None
        self.server.worker.free(unload, free, race)
        self.say(200)
        if behaviour["die_on_free"] == "answered":
            os._exit(1)

    def post(self, path, body):
        worker = self.server.worker
        if path not in ("/prompt", "/interrupt", "/queue", "/history"):
            return self.not_allowed()
        try:
            wanted = json.loads(body.decode("utf-8"))
        except ValueError:
            return self.post_interrupt() if path == "/interrupt" else self.trouble()
        if path == "/interrupt":
            return self.post_interrupt() if isinstance(wanted, dict) else self.trouble()
        if path == "/prompt":
            return self.post_prompt(wanted)
        if not isinstance(wanted, dict):
            return self.trouble()
        if path == "/queue" and (wanted.get("clear") or wanted.get("delete")):
            worker.delete(None if wanted.get("clear") else wanted["delete"])
        if path == "/history" and wanted.get("clear"):
            with worker.changed:
                worker.history.clear()
        return self.say(200)

    def post_interrupt(self):
        self.server.worker.interrupt()
        self.say(200)

    def post_prompt(self, wanted):
        if not isinstance(wanted, dict) or "prompt" not in wanted:
            return self.say_json({"error": {"type": "no_prompt", "message": "No prompt provided", "details": "", "extra_info": {}},
                                  "node_errors": {}}, 400)
        if not isinstance(wanted["prompt"], dict):
            return self.trouble()
        if not wanted["prompt"]:
            return self.say_json({"error": {"type": "prompt_no_outputs", "message": "Prompt has no outputs", "details": "",
                                            "extra_info": {}}, "node_errors": {}}, 400)
        item = self.server.worker.put(wanted["prompt"], wanted.get("double") or {}, wanted.get("prompt_id"))
        return self.say_json({"prompt_id": item[1], "number": item[0], "node_errors": {}})

    def control(self, body):
        try:
            if self.command == "POST":
                self.server.change(json.loads(body))
        except (ValueError, TypeError) as error:
            return self.say_json({"error": str(error)}, 400)
        return self.say_json(self.server.state())


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8188, help="0: any free one")
    parser.add_argument("--port-file", help="written, whole, once requests are answered")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda with --world, else cpu")
    parser.add_argument("--shape", choices=("new", "old", "nofree"), default="new", help="old: as 2024-01-04; nofree: as 2024-01-02")
    parser.add_argument("--world", help="world file of the fake driver")
    parser.add_argument("--gpu", type=int, default=0, help="the card in that world")
    parser.add_argument("--cuda-index", type=int, default=0, help="what the server itself calls that card")
    parser.add_argument("--floor-gpu", type=int, default=300 << 20, help="held on the card as long as the process lives")
    parser.add_argument("--vram-total", type=int, default=32 * GIB, help="without a world")
    parser.add_argument("--hold-ram", type=int, default=0)
    parser.add_argument("--hold-gpu", type=int, default=0)
    parser.add_argument("--start-delay", type=float, default=0.0, help="seconds before the port is opened")
    parser.add_argument("--set", default="{}", help="behaviour from the start, as for POST /_double")
    options = parser.parse_args(arguments)
    options.device = options.device or ("cuda" if options.world else "cpu")
    return options


def main(arguments):
    options = parse(arguments)
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    time.sleep(options.start_delay)
    try:
        server = Server(options)
    except OSError as error:
        sys.exit("comfyui double: %s:%d: %s" % (options.host, options.port, error.strerror))
    server.memory.set(options.hold_ram, options.hold_gpu)
    server.worker.start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if options.port_file:
        with open(options.port_file + ".new", "w", encoding="ascii") as file:
            file.write("%d\n" % server.server_address[1])
        os.replace(options.port_file + ".new", options.port_file)
    while True:
        signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])
