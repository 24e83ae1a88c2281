"""The incident that Jipsa was made for, played against the built programs: a card whose memory an idle ComfyUI holds, listed without an
amount, and a job that waits for it. And its relatives: late, kept, dead, raced, at the end of a bundle and at its change."""

import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from house import GIB, HERE, House  # noqa: E402

FLOOR = 300 << 20  # the double's own context on the card
HELD = int(15.5 * GIB) - FLOOR
JOB = ("--vram", "16G", "--", sys.executable, os.path.join(HERE, "gpu_job.py"), str(12 * GIB), "0.3")


def house_with_comfyui(tenant=None, policy=None, **options):
    """The card of the incident: 2 GiB for the desktop, 15.5 for ComfyUI, rows without amounts as under WSL."""
    house = House(card=True, amounts=False, policy=policy)
    house.sections.append('[pool.gpu0]\nbaseline = "2GiB"')
    house.comfy = house.comfyui(tenant=tenant, hold_gpu=HELD, set={"torch": 100 << 20}, **options)
    return house.start()


class Incident(unittest.TestCase):
    def see(self, house, job, code, seconds=20):
        def look():
            return house.reason(job).get("code") == code

        house.until(look, seconds, "for the reason %s, which is %s" % (code, house.reason(job)))

    def replays(self, house):
        done = house.replay()
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())

    def test_the_owner_is_named_asked_once_and_the_job_starts(self):
        with house_with_comfyui(policy={"idle_grace": 1}) as house:
            house.comfy.set(delay=1.0)
            house.until(lambda: "tenant:comfyui" in house.claims("gpu0"))
            claims = house.claims("gpu0")
            self.assertAlmostEqual(claims["tenant:comfyui"]["bytes"] / GIB, 15.5, delta=0.1)
            self.assertEqual(claims["tenant:comfyui"]["how"], "eliminated")
            self.assertAlmostEqual(claims["baseline"]["bytes"] / GIB, 2.0, delta=0.1)
            self.assertNotIn("unexplained", claims)
            pool = house.pool("gpu0")
            self.assertEqual(sum(claim["bytes"] for claim in pool["claims"]), pool["used"])

            job = house.add("--name", "영상", *JOB)
            reason = house.reason(job)
            self.assertIn(reason["code"], ("leftover", "releasing"))
            self.assertEqual(reason["owner"], "tenant:comfyui")
            self.assertEqual(reason["pool"], "gpu0")
            self.assertGreater(reason["short"], 2 * GIB)
            self.see(house, job, "releasing")
            line = house.jipsa("why", job).stdout.decode()
            for word in ("16.0 GiB", "gpu0", "comfyui", "15.5 GiB"):
                self.assertIn(word, line)
            korean = house.jipsa("list", "--lang", "ko").stdout.decode()
            self.assertIn("comfyui", korean)
            self.assertIn("영상", korean)

            house.until(lambda: house.job(job)["state"] == "succeeded")
            house.until(lambda: house.verdict() == "released")
            self.assertEqual(len(house.releases()), 1)
            self.assertEqual(house.comfy.state()["asked"], 1)
            release = house.releases()[0]
            self.assertEqual(release["for"], job)
            entry = next(p for p in release["pools"] if p["pool"] == "gpu0")
            self.assertGreater(entry["before"] - entry["after"], 14 * GIB)
            self.assertIn("holding", house.jipsa("log", job).stdout.decode())
            house.stop()
            self.replays(house)

    def test_memory_that_returns_after_6_5_seconds_is_late_not_kept(self):
        with house_with_comfyui() as house:
            house.comfy.set(delay=6.5)
            job = house.add(*JOB)
            house.until(lambda: house.job(job)["state"] == "succeeded", 30)
            house.until(lambda: house.verdict() == "late")
            self.assertEqual(house.comfy.state()["asked"], 1)
            self.replays(house)

    def test_memory_that_stays_is_partial_or_kept_and_not_asked_for_again(self):
        with house_with_comfyui(policy={"release_deadline": 4, "ask_deadline": 3}) as house:
            house.comfy.set(stay_gpu=int(2.9 * GIB))
            job = house.add("--vram", "29G", "--", "true")
            house.until(lambda: house.verdict() in ("partial", "kept"), 30)
            self.assertEqual(house.verdict(), "partial")
            self.see(house, job, "kept")
            self.assertEqual(house.reason(job)["owner"], "tenant:comfyui")
            time.sleep(2)
            self.assertEqual(house.comfy.state()["asked"], 1)
            self.assertEqual(house.job(job)["state"], "waiting")
            small = house.add("--vram", "1G", "--priority", "1", "--", "true")
            house.until(lambda: house.job(small)["state"] == "succeeded")
            self.replays(house)

    def test_a_dead_worker_is_not_acted_and_a_restart_with_leave_clears_it(self):
        policy = {"release_deadline": 6, "ask_deadline": 3}
        with House(card=True, amounts=False, policy=policy) as house:
            house.sections.append('[pool.gpu0]\nbaseline = "2GiB"')
            comfy = house.comfyui(configured=False, hold_gpu=HELD)
            script = os.path.join(house.folder, "restart.sh")
            with open(script, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nkill -9 %d\necho >'%s/restarted'\n" % (comfy.pid, house.folder))
            os.chmod(script, 0o700)
            house.tenant(comfy, restart='"auto"', restart_command='["%s"]' % script, restart_deadline=60)
            house.start()
            comfy.set(dead=True)
            job = house.add(*JOB)
            house.until(lambda: house.verdict() == "not_acted", 30)
            house.until(lambda: os.path.exists(os.path.join(house.folder, "restarted")), 30)
            comfy.options.pop("hold_gpu")
            comfy.process.wait()
            comfy.start()  # as its service manager would
            house.until(lambda: house.job(job)["state"] == "succeeded", 60)
            self.replays(house)

    def test_a_prompt_that_races_in_is_not_held_against_anybody(self):
        with house_with_comfyui(policy={"idle_grace": 1}) as house:
            house.comfy.set(race={"seconds": 2, "gpu_bytes": HELD})
            job = house.add(*JOB)
            house.until(lambda: house.verdict() == "raced", 30)
            house.until(lambda: house.job(job)["state"] == "succeeded", 60)
            verdicts = [p["verdict"] for release in house.releases() for p in release["pools"] if p["pool"] == "gpu0"]
            self.assertNotIn("kept", verdicts)
            self.replays(house)

    def test_a_refusal_and_silence_are_told_apart(self):
        with house_with_comfyui() as house:
            house.comfy.set(refuse=403)
            job = house.add(*JOB)
            house.until(lambda: house.verdict() == "refused")
            self.see(house, job, "kept")
            self.assertIn("403", house.releases()[0]["error"])
            self.replays(house)

    def test_the_end_of_a_bundle_releases_and_so_does_its_change(self):
        with House(card=True, policy={"idle_grace": 60}) as house:
            comfy = house.comfyui()
            house.start()
            prompt = ("--tenant", "comfyui", "--", sys.executable, os.path.join(HERE, "prompt_job.py"), comfy.url, "0.5")
            house.jipsa("pause")
            first = house.add("--vram", "15G", "--bundle", "lora", *prompt, str(13 * GIB))
            second = house.add("--vram", "15G", "--bundle", "lora", *prompt, str(13 * GIB))
            third = house.add("--vram", "22G", "--bundle", "video", *prompt, str(20 * GIB))
            house.jipsa("resume")
            house.until(lambda: house.job(third)["state"] == "succeeded", 60)
            house.until(lambda: len(house.releases()) == 2, 30)
            house.until(lambda: house.verdict() == "released", 30)
            self.assertEqual([release["for"] for release in house.releases()], [None, third])
            self.assertEqual(house.job(first)["state"], "succeeded")
            self.assertEqual(house.job(second)["state"], "succeeded")
            self.assertEqual(comfy.state()["gpu_bytes"], 0)
            tenant = house.json("tenants")["tenants"][0]
            self.assertEqual(tenant["left_by"], third)
            self.replays(house)

    def test_what_was_left_says_which_job_left_it(self):
        with House(card=True, amounts=False, policy={"idle_grace": 60}) as house:
            house.sections.append('[pool.gpu0]\nbaseline = "2GiB"')
            comfy = house.comfyui()
            house.start()
            comfy.set(stay_gpu=int(5 * GIB))
            job = house.add("--vram", "15G", "--tenant", "comfyui", "--bundle", "voice", "--", sys.executable,
                            os.path.join(HERE, "prompt_job.py"), comfy.url, "0.3", str(5 * GIB))
            house.until(lambda: house.job(job)["state"] == "succeeded", 30)
            big = house.add("--vram", "29G", "--", "true")
            house.until(lambda: house.reason(big).get("left_by") == job, 30)
            self.assertEqual(house.claims("gpu0")["tenant:comfyui"]["left_by"], job)
            self.assertIn("#%d" % job, house.jipsa("why", big).stdout.decode())


if __name__ == "__main__":
    unittest.main()
