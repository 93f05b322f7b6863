// --plugin over MPI: every rank loads it.
#include "clusters/launched.hpp"

namespace ticopd {
namespace {

class LaunchedPlugin : public Launched {
 protected:
  const Arguments own{"--plugin", places::plugins() + "/diffusion.so",
                      "--set",    "algorithm={name=\"diffusion\",mu=0.1}",
                      "--set",    "codec.kind=identity"};
};

TEST_F(LaunchedPlugin, HasTheDigestOfOneProcess) {
  const nlohmann::json one = alone("one", own), three = launched(3, "three", own);
  EXPECT_EQ(three["digest"], one["digest"]);
  EXPECT_EQ(three["plugins"], one["plugins"]);
  EXPECT_EQ(three["plugins"].size(), 1u);
}

TEST_F(LaunchedPlugin, MayBeGivenToLaunch) {
  Arguments all = launch(2, "out", {own.begin() + 2, own.end()});
  all.insert(all.begin() + 1, {own[0], own[1]});
  const Outcome o = ticopd(all);
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(LaunchedPlugin, RefusalIsSaidOnce) {
  const Outcome o = ticopd(launch(2, "out", {"--plugin", "./nowhere.so"}));
  EXPECT_EQ(o.code, 78);
  EXPECT_EQ(lines_of(o.err).size(), 1u) << o.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace ticopd
