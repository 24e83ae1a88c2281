"""A job that drives a ComfyUI double: queues a prompt that takes BYTES on the card, and ends when it has run.

    python3 prompt_job.py URL SECONDS BYTES
"""

import json
import sys
import time
import urllib.request

url, seconds, held = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with opener.open(urllib.request.Request(url + path, data=data, headers={"Content-Type": "application/json"}), timeout=30) as answer:
        return json.loads(answer.read())


prompt = call("/prompt", {"prompt": {"1": {"class_type": "Double", "inputs": {}}}, "double": {"seconds": seconds, "gpu_bytes": held}})
while not call("/history/" + prompt["prompt_id"]):
    time.sleep(0.05)
print("done", prompt["prompt_id"])
