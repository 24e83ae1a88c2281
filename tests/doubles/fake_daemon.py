"""A daemon that answers as docs/api.md says, from what a test puts into it, and misbehaves when told to."""

import json
import os
import socket
import socketserver
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler

GIB = 1 << 30


def utc(seconds_ago=0.0):
    at = time.time() - seconds_ago
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + ".%03dZ" % int(at % 1 * 1000)


def make_job(job_id, **changes):
    job = {"id": job_id, "name": None, "state": "waiting", "exit_code": None, "signal": None, "note": None, "needs": {},
           "pool": None, "priority": 0, "tenant": None, "bundle": None, "after": [], "command": ["true"], "dir": "/", "launcher": None,
           "output": "/nonexistent/%d.out" % job_id, "pid": None, "submitted_at": utc(), "started_at": None, "ended_at": None,
           "reason": None}
    job.update(changes)
    return job


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def address_string(self):
        return "local"

    def send(self, status, body, raw=False):
        data = body if raw else json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, code, what):
        self.send(status, {"error": {"code": code, "what": what}})

    def misbehave(self, how):
        if how == "close":
            pass
        elif how == "garbage":
            self.wfile.write(b"\x00\x01\x02 this is not HTTP at all\r\n\r\n")
        elif how == "continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
            self.send(200, {"jobs": [], "pools": [], "paused": False, "waiting": 0})
        elif how == "bad_json":
            self.send(200, b'{"jobs":[{"id":1,', raw=True)
        elif how == "not_object":
            self.send(200, b'[1,2]', raw=True)
        elif how == "wrong_shape":
            self.send(200, {"jobs": [{"name": "no id"}], "pools": 5, "id": "x"})
        elif how == "500":
            self.fail(500, "internal", "the daemon has a bug")
        elif how == "507":
            self.fail(507, "io", "the disk is full")
        elif how == "501":
            self.fail(501, "unsupported", "not on this machine")
        elif how == "html":
            self.send(500, b"<html>Internal Server Error</html>", raw=True)
        elif how == "half":
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"jobs":[')
        elif how == "silent":
            self.server.fake.stopping.wait(30)
        elif how == "slow_body":
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"jobs":[')
            self.wfile.flush()
            self.server.fake.stopping.wait(30)
        else:
            raise ValueError(how)
        self.close_connection = True

    def do_GET(self):
        self.answer()

    def do_POST(self):
        self.answer()

    def answer(self):
        fake = self.server.fake
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        fake.requests.append((self.command, self.path, body, dict(self.headers)))
        if fake.misbehaviour:
            return self.misbehave(fake.misbehaviour)
        parts = url.path.strip("/").split("/")
        if parts[0] != "v1":
            return self.fail(404, "not_found", "no such address")
        if self.command == "POST":
            return self.post(fake, [urllib.parse.unquote(p) for p in parts[1:]], body)
        return self.get(fake, parts[1:], query)

    def post(self, fake, parts, body):
        if parts == ["jobs"]:
            asked = json.loads(body.decode("utf-8"))
            if fake.refuse_add:
                return self.fail(*fake.refuse_add)
            job = fake.add(**{k: v for k, v in asked.items() if k not in ("env", "text")})
            return self.send(200, job)
        if parts[0] == "jobs" and parts[2] == "cancel":
            job = fake.jobs.get(int(parts[1]))
            if job is None:
                return self.fail(404, "not_found", "no job " + parts[1])
            if job["ended_at"]:
                return self.fail(409, "conflict", "job %s has ended" % parts[1])
            fake.end(job["id"], state="cancelled", note="by_person")
            return self.send(200, job)
        if parts in (["queue", "pause"], ["queue", "resume"]):
            fake.paused = parts[1] == "pause"
            return self.send(200, {"paused": fake.paused})
        if parts[0] == "tenants" and parts[2] == "release":
            if parts[1] not in [t["id"] for t in fake.tenants]:
                return self.fail(404, "not_found", "no tenant " + parts[1])
            if fake.refuse_release:
                return self.fail(409, "conflict", fake.refuse_release)
            return self.send(200, {"asked": True})
        return self.fail(404, "not_found", "no such address")

    def get(self, fake, parts, query):
        if parts == ["jobs"]:
            return self.send(200, fake.list(query))
        if parts[0] == "jobs":
            job = fake.wait(int(parts[1]), float(query.get("wait", 0)))
            return self.send(200, job) if job else self.fail(404, "not_found", "no job " + parts[1])
        if parts == ["events"] and query.get("follow"):
            return self.stream(fake)
        simple = {"whose": {"pools": fake.pools}, "tenants": {"tenants": fake.tenants}, "releases": fake.releases,
                  "doctor": {"checks": fake.checks}, "events": {"events": fake.events}}
        return self.send(200, simple[parts[0]]) if parts[0] in simple else self.fail(404, "not_found", "no such address")

    def stream(self, fake):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(fake.events):
            text = "id: %d\ndata: %s\n\n" % (number + 1, json.dumps(event, ensure_ascii=False))
            data = text.encode()
            for piece in (data[:7], data[7:]):  # a stream arrives in any pieces
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
        fake.stopping.wait(fake.stream_seconds)
        self.close_connection = True


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def get_request(self):
        request, _ = super().get_request()
        return request, ("local", 0)

    def handle_error(self, request, client_address):
        pass  # clients that leave early are part of the tests


class FakeDaemon:
    def __init__(self, path):
        self.path = path
        self.requests, self.jobs, self.pools, self.tenants, self.checks, self.events = [], {}, [], [], [], []
        self.releases = {"releases": [], "summary": []}
        self.paused, self.misbehaviour, self.refuse_add, self.refuse_release = False, None, None, None
        self.stream_seconds = 30
        self.changed = threading.Condition()
        self.start()

    def start(self):
        self.stopping = threading.Event()
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.server = Server(self.path, Handler)
        self.server.fake = self
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopping.set()
        with self.changed:
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def add(self, **changes):
        with self.changed:
            job_id = max(self.jobs, default=0) + 1
            self.jobs[job_id] = make_job(job_id, **changes)
            if self.on_add:
                self.on_add(self.jobs[job_id])
            return self.jobs[job_id]

    on_add = None

    def end(self, job_id, state="succeeded", **changes):
        with self.changed:
            self.jobs[job_id].update(state=state, ended_at=utc(), **changes)
            self.changed.notify_all()

    def wait(self, job_id, seconds):
        until = time.monotonic() + seconds
        with self.changed:
            job = self.jobs.get(job_id)
            while job and not job["ended_at"] and time.monotonic() < until and not self.stopping.is_set():
                self.changed.wait(min(0.5, max(0.0, until - time.monotonic())))
            return job

    def list(self, query):
        jobs = list(self.jobs.values())
        if "ids" in query:
            jobs = [self.jobs[int(i)] for i in query["ids"].split(",") if int(i) in self.jobs]
        waiting = sum(job["state"] in ("waiting", "held") for job in self.jobs.values())
        if "limit" in query:
            jobs = [j for j in jobs if not j["ended_at"]][:int(query["limit"])] + [j for j in jobs if j["ended_at"]]
        return {"paused": self.paused, "jobs": jobs, "waiting": waiting, "pools": self.pools}


def listen_without_answering(path):
    """A socket on which nobody accepts."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(1)
    return listener
