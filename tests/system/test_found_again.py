"""Defects that somebody ran into once: each is tried the way in which it was found."""

import os
import resource
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from house import House  # noqa: E402


class FoundAgain(unittest.TestCase):
    def test_a_job_that_ended_while_the_daemon_was_dead_has_its_start(self):
        with House() as house:
            house.start()
            job = house.add("--", "sh", "-c", "sleep 1; exit 4")
            house.kill()
            time.sleep(1.5)
            house.start()
            house.until(lambda: house.job(job)["state"] == "failed")
            found = house.job(job)
            self.assertEqual(found["exit_code"], 4)
            self.assertIsNotNone(found["started_at"])
            self.assertLessEqual(found["started_at"], found["ended_at"])
            self.assertNotIn("never ran", house.jipsa("list").stdout.decode())

    def test_where_there_is_no_card_the_reason_says_that(self):
        with House() as house:
            house.start()
            house.until(lambda: house.claims("ram"))
            job = house.add("--vram", "16G", "--", "true")
            house.until(lambda: house.reason(job).get("code") == "never_fits")
            self.assertIn("there is no gpu on this machine", house.jipsa("why", job).stdout.decode())
            self.assertIn("gpu 없음", house.jipsa("why", job, "--lang", "ko").stdout.decode())
            none = house.add("--vram", "0", "--", "true")
            house.until(lambda: house.job(none)["state"] == "succeeded")

    def test_a_file_size_limit_is_an_error_and_not_the_end(self):
        with House() as house:
            house.write_config()
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300 * 1024, before[1]))
            try:
                house.start()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            house.jipsa("pause")
            codes = {house.jipsa("add", "--env", "PAD=" + "x" * 20000, "--", "true", check=False).returncode for _ in range(40)}
            self.assertEqual(codes, {0, 6})
            self.assertIsNone(house.daemon.poll())

    def test_hundreds_that_start_at_once_all_run_once(self):
        with House() as house:
            house.start()
            house.jipsa("pause")
            out = os.path.join(house.folder, "ran")
            jobs = [house.add("--", "sh", "-c", "echo $JIPSA_JOB_ID >>%s" % out) for _ in range(150)]
            house.jipsa("resume")
            self.assertEqual(house.jipsa("list").returncode, 0)
            house.jipsa("wait", *jobs)
            with open(out, encoding="ascii") as file:
                self.assertEqual(sorted(int(line) for line in file), jobs)


if __name__ == "__main__":
    unittest.main()
