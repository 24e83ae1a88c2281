#!/usr/bin/env python3
"""The queue beside its peers, in one run on one machine: task-spooler (tsp) and nq, where they are installed.

    bench/queue.py [--bin build/bin] [--jobs 200]

Prints one table. Times are wall clock, medians of three rounds; the ratio is Jipsa's time over the peer's. Loops run inside one shell,
so that each call costs what it costs a user's script: a fork, an exec, the call.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "system"))

parser = argparse.ArgumentParser()
parser.add_argument("--bin", default=os.path.join(os.path.dirname(HERE), "build", "bin"))
parser.add_argument("--jobs", type=int, default=200)
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
os.environ["JIPSA_BIN"] = os.path.abspath(options.bin)

from house import House  # noqa: E402

ROWS = []


def row(what, value, note=""):
    ROWS.append((what, value, note))
    print("%-66s %14s  %s" % ROWS[-1], flush=True)


def shell(script, env):
    began = time.perf_counter()
    subprocess.run(["bash", "-c", script], env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def median(function):
    return statistics.median(function() for _ in range(options.rounds))


def ms(seconds):
    return "%.2f ms" % (seconds * 1000)


def ratio(ours, theirs):
    return "%.2f of the peer's" % (ours / theirs)


def tsp_env(folder):
    return {**os.environ, "TS_SOCKET": os.path.join(folder, "tsp"), "TMPDIR": folder}


def tsp_add(folder, n):
    """One call at a time while the first job holds the queue, so that calls only enqueue."""
    env = tsp_env(folder)
    subprocess.run(["tsp", "sleep", "1000"], env=env, check=True, stdout=subprocess.DEVNULL)
    spent = shell("for i in $(seq %d); do tsp true; done" % n, env) / n
    subprocess.run(["tsp", "-K"], env=env, check=False)
    subprocess.run(["pkill", "-f", "^sleep 1000$"], check=False)
    return spent


def tsp_cycle(folder, n):
    env = tsp_env(folder)
    spent = shell("for i in $(seq %d); do tsp -n true; done; tsp -w" % n, env) / n
    subprocess.run(["tsp", "-K"], env=env, check=False)
    return spent


def nq_cycle(folder, n):
    env = {**os.environ, "NQDIR": os.path.join(folder, "nq")}
    os.makedirs(env["NQDIR"], exist_ok=True)
    spent = shell("for i in $(seq %d); do nq -q -c true; done; nq -w" % n, env) / n
    shutil.rmtree(env["NQDIR"])
    return spent


def jipsa_add(house, n):
    house.jipsa("pause")
    env = {**house.env(), "J": os.path.join(options.bin, "jipsa")}
    spent = shell("for i in $(seq %d); do $J add -- true; done" % n, env) / n
    return spent


def one_at_a_time(house):
    """A need of more than half of what is there: two never fit together."""
    free = house.pool("ram")["free"]
    return str(int(free * 0.6))


def jipsa_cycle(house, n):
    env = {**house.env(), "J": os.path.join(options.bin, "jipsa"), "N": one_at_a_time(house)}
    return shell("for i in $(seq %d); do id=$($J add --ram $N -- true); done; $J wait $id" % n, env) / n


def jipsa_gap(house, n):
    """From one job's end to the next one's exec: each job writes when it begins and ends."""
    house.jipsa("pause")
    need = one_at_a_time(house)
    ids = [house.add("--ram", need, "--", "sh", "-c", "date +%s%N") for _ in range(n)]
    house.jipsa("resume")
    house.jipsa("wait", *ids)
    times = sorted(int(house.jipsa("log", i).stdout) for i in ids)
    return statistics.median(b - a for a, b in zip(times, times[1:])) / 1e9


def floor_gap(n):
    """The same command again and again from a shell: what a queue that costs nothing would show."""
    out = subprocess.run(["bash", "-c", "for i in $(seq %d); do sh -c 'date +%%s%%N'; done" % n], check=True, capture_output=True).stdout
    times = [int(line) for line in out.split()]
    return statistics.median(b - a for a, b in zip(times, times[1:])) / 1e9


def idle(house, seconds=20):
    pid = house.daemon.pid
    helpers = [int(p) for p in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, check=False).stdout.split()]

    def cpu():
        ticks = 0
        for one in [pid, *helpers]:
            with open("/proc/%d/stat" % one, encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    time.sleep(5)
    before = cpu()
    time.sleep(seconds)
    share = (cpu() - before) / seconds
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        rss = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return share, rss / 1024


def main():
    n = options.jobs
    with tempfile.TemporaryDirectory(prefix="jipsa-bench-") as folder:
        peers = {name: shutil.which(name) for name in ("tsp", "nq")}
        add_tsp = median(lambda: tsp_add(folder, n)) if peers["tsp"] else None
        cycle_tsp = median(lambda: tsp_cycle(folder, n)) if peers["tsp"] else None
        cycle_nq = median(lambda: nq_cycle(folder, n)) if peers["nq"] else None
        row("fork and exec of true, from the same shell loop", ms(shell("for i in $(seq %d); do /bin/true; done" % n, os.environ) / n))

        with House() as house:
            house.start()
            ours = median(lambda: jipsa_add(house, n))
            row("add, on disk before it answers", ms(ours))
        if add_tsp:
            row("  task-spooler's, in memory", ms(add_tsp), ratio(ours, add_tsp))

        with House() as house:
            house.start()
            ours = median(lambda: jipsa_cycle(house, n))
            row("a job of `true`, %d of them one at a time, from add to the last end" % n, ms(ours))
            if cycle_tsp:
                row("  task-spooler's", ms(cycle_tsp), ratio(ours, cycle_tsp))
            if cycle_nq:
                row("  nq's", ms(cycle_nq), ratio(ours, cycle_nq))
            gap, floor = jipsa_gap(house, 100), floor_gap(100)
            row("from one job's time stamp to the next one's, one at a time", ms(gap))
            row("  the same command in a shell loop", ms(floor), "beyond it: " + ms(gap - floor))

        with House() as house:
            house.start()
            house.jipsa("pause")
            env = {**house.env(), "J": os.path.join(options.bin, "jipsa")}
            shell("for i in $(seq 10000); do $J add --ram 1G -- true; done", env)
            row("list, 10,000 waiting", ms(median(lambda: shell("$J list", env))))
            row("list --json, 10,000 waiting", ms(median(lambda: shell("$J list --json", env))))
            share, rss = idle(house)
            row("the daemon's memory with them", "%.1f MiB" % rss)

        with House(card=True) as house:
            house.comfyui()
            house.start()
            share, rss = idle(house)
            row("idle, one card, one tenant: share of a core, driver helper included", "%.2f %%" % (share * 100))
            row("idle: resident memory of the daemon", "%.1f MiB" % rss)


if __name__ == "__main__":
    main()
