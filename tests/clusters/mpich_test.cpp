// The plug-in built with MPICH, opened by the same program.
#include "clusters/launched.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

class Mpich : public Launched {
 protected:
  void SetUp() override {
    Launched::SetUp();
    if (places::mpich_plugin().empty())
      GTEST_SKIP() << "MPICH is not installed (mpich, libmpich-dev)";
  }
  std::map<std::string, std::string> environment{{"TICOPD_MPI_PLUGIN", places::mpich_plugin()}};
};

TEST_F(Mpich, RunHasTheDigestOfOneProcess) {
  const auto one = alone("one", {"--set", "iterations=1000"});
  for (const int ranks : {1, 3}) {
    const std::string out = "on" + std::to_string(ranks);
    const Outcome o = ticopd(launch(ranks, out, {"--set", "iterations=1000"}), environment);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(summary(out)["digest"], one["digest"]);
    EXPECT_NE(summary(out)["transport"]["library"].get<std::string>().find("MPICH"),
              std::string::npos);
  }
}

// Otherwise each process would believe it is the only one, and all would write to one folder.
TEST_F(Mpich, MpirunOfAnotherMpiIsRejected) {
  ::setenv("TICOPD_MPI_PLUGIN", environment["TICOPD_MPI_PLUGIN"].c_str(), 1);
  const std::string command = "cd '" + folder_.string() + "' && " + places::mpirun() +
                              " --oversubscribe -n 2 " + places::binary() +
                              " run small.toml --out out 2> err.txt";
  const int status = std::system(command.c_str());
  ::unsetenv("TICOPD_MPI_PLUGIN");
  const std::string err = read_text(folder_ / "err.txt");
  EXPECT_EQ(WEXITSTATUS(status), 69) << err;
  EXPECT_NE(err.find("another MPI"), std::string::npos) << err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace ticopd
