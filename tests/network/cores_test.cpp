// The number of usable cores, from the affinity mask and cgroups, and pinned threads.
#include "ticopd/system/cores.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/temporary.hpp"
#include "ticopd/system/pool.hpp"

namespace ticopd {
namespace {

using Cores = TemporaryFolder;

TEST_F(Cores, SmallestQuotaOfAGroupAndItsParentsCounts) {
  write("cpu.max", "max 100000\n");
  write("site/cpu.max", "150000 100000\n");
  write("site/job/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpus("0::/site/job\n", folder_), 1.5);
  EXPECT_DOUBLE_EQ(cgroup_cpus("0::/site\n", folder_), 1.5);
  EXPECT_TRUE(std::isinf(cgroup_cpus("0::/\n", folder_)));
}

TEST_F(Cores, CgroupsOfVersionOneAreReadToo) {
  write("cpu/job/cpu.cfs_quota_us", "250000\n");
  write("cpu/job/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/other/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/other/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpus("3:cpuset:/\n2:cpu,cpuacct:/job\n", folder_), 2.5);
  EXPECT_TRUE(std::isinf(cgroup_cpus("1:cpu:/other\n", folder_)));
}

TEST_F(Cores, MissingOrInvalidGroupsSetNoLimit) {
  write("cpu.max", "many\n");
  for (const char* groups : {"", "nonsense", "0::/gone/away\n", "7:cpu:\n"})
    EXPECT_TRUE(std::isinf(cgroup_cpus(groups, folder_))) << groups;
}

TEST_F(Cores, AffinityMaskLimitsTheCores) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(allowed_cpus().size()));
}

TEST_F(Cores, PinnedPoolBindsEachThreadToOneProcessorAndRestoresTheCaller) {
  const std::vector<int> before = allowed_cpus();
  if (before.size() < 2) GTEST_SKIP() << "one processor: nothing to pin";
  {
    Pool pool(2, true);
    EXPECT_EQ(allowed_cpus().size(), 1u);
    pool.run(64, [&](std::size_t) { EXPECT_EQ(allowed_cpus().size(), 1u); });
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST_F(Cores, MoreThreadsThanProcessorsAreNeverPinned) {
  const int allowed = static_cast<int>(allowed_cpus().size());
  EXPECT_FALSE(may_pin(allowed + 1));
  Pool pool(allowed + 1, true);
  EXPECT_EQ(static_cast<int>(allowed_cpus().size()), allowed);
}

}  // namespace
}  // namespace ticopd
