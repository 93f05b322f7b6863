#pragma once

#include <random>

#include "cli/program.hpp"
#include "places.hpp"

namespace ticopd {

// Starts the real program under the real mpirun, through `ticopd launch`.
class Launched : public CommandLine {
 protected:
  Arguments launch(int ranks, const std::string& out, const Arguments& more = {}) const {
    Arguments all{"launch", "-n",    std::to_string(ranks), "--", "run", "small.toml", "--out",
                  out,      "--set", "log.every=500"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  nlohmann::json launched(int ranks, const std::string& out, const Arguments& more = {}) const {
    const Outcome o = ticopd(launch(ranks, out, more));
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? summary(out) : nlohmann::json();
  }

  // The same run without MPI.
  nlohmann::json alone(const std::string& out, const Arguments& more = {}) const {
    Arguments all{"run", "small.toml", "--out", out, "--set", "log.every=500"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = ticopd(all);
    EXPECT_EQ(o.code, 0) << o.err;
    return summary(out);
  }

  // The process id of a rank that runs in our folder; 0 if there is none (yet, or any more).
  pid_t process_of(int rank) const {
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code error;
      if (std::filesystem::read_symlink(entry.path() / "cwd", error) != folder_) continue;
      if (std::filesystem::read_symlink(entry.path() / "exe", error) != places::binary()) continue;
      std::ifstream in(entry.path() / "environ", std::ios::binary);
      for (std::string variable; std::getline(in, variable, '\0');)
        if (variable == wanted) return std::stoi(name);
    }
    return 0;
  }
};

}  // namespace ticopd
