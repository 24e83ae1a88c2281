"""A job's work on the simulated card: takes BYTES on card 0 for SECONDS, then ends.

    python3 gpu_job.py BYTES SECONDS
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doubles"))

from fakeworld import World  # noqa: E402

world = World(os.environ["JIPSA_FAKE_NVML"])
world.hold(os.getpid(), 0, int(sys.argv[1]))
print("holding", sys.argv[1], flush=True)
time.sleep(float(sys.argv[2]))
world.drop(os.getpid())
