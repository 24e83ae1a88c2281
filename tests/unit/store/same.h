// Field by field, so that a failure names the field.
#pragma once

#include <gtest/gtest.h>

#include "store/store.h"

namespace jipsa::test {

inline void expect_same(const JobRecord& a, const JobRecord& b) {
  EXPECT_EQ(a.job.id, b.job.id);
  EXPECT_EQ(a.job.name, b.job.name);
  EXPECT_EQ(a.job.needs, b.job.needs);
  EXPECT_EQ(a.job.priority, b.job.priority);
  EXPECT_EQ(a.job.tenant, b.job.tenant);
  EXPECT_EQ(a.job.bundle, b.job.bundle);
  EXPECT_EQ(a.job.after, b.job.after);
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.dir, b.dir);
  EXPECT_EQ(a.env, b.env);
  EXPECT_EQ(a.launcher, b.launcher);
  EXPECT_EQ(a.text, b.text);
  EXPECT_STREQ(name(a.state), name(b.state));
  EXPECT_EQ(a.gpu_pool, b.gpu_pool);
  EXPECT_EQ(a.exit_code, b.exit_code);
  EXPECT_EQ(a.signal, b.signal);
  EXPECT_EQ(a.note, b.note);
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.submitted_ms, b.submitted_ms);
  EXPECT_EQ(a.started_ms, b.started_ms);
  EXPECT_EQ(a.ended_ms, b.ended_ms);
  EXPECT_EQ(a.shim_pid, b.shim_pid);
  EXPECT_EQ(a.pid, b.pid);
  EXPECT_EQ(a.shim_start, b.shim_start);
  EXPECT_EQ(a.boot_id, b.boot_id);
}

inline void expect_same(const ReleaseRecord& a, const ReleaseRecord& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.tenant, b.tenant);
  EXPECT_EQ(a.asked_ms, b.asked_ms);
  EXPECT_EQ(a.job, b.job);
  EXPECT_EQ(a.asked_by, b.asked_by);
  EXPECT_EQ(a.restart, b.restart);
  EXPECT_EQ(a.error, b.error);
  ASSERT_EQ(a.pools.size(), b.pools.size());
  for (std::size_t i = 0; i < a.pools.size(); ++i) {
    EXPECT_EQ(a.pools[i].pool, b.pools[i].pool);
    EXPECT_EQ(a.pools[i].before, b.pools[i].before);
    EXPECT_EQ(a.pools[i].after, b.pools[i].after);
    EXPECT_EQ(a.pools[i].verdict, b.pools[i].verdict);
    EXPECT_EQ(a.pools[i].settled_s, b.pools[i].settled_s);
  }
}

}  // namespace jipsa::test
