#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/experiment/run_set.hpp"

namespace ticopd {

// Gives each test its own folder, which is the current one, and a run set of two methods on a
// problem whose runs take a millisecond.
class SmallStudy : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "ticopd_studies_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(base_);
    std::ofstream("two.toml") << R"(iterations = 40
[problem]
objective = "softmax"
data = "synthetic"
samples = 100
features = 4
classes = 3
partition = "sorted"
[graph]
agents = 5
[report]
targets = { loss_max = 1.0 }
[[run]]
label = "CHOCO"
algorithm = { name = "choco_sgd", eta = 0.1, gamma = 0.4 }
codec = { kind = "qsgd" }
[[run]]
label = "DGD"
algorithm = { name = "dgd", eta = 0.2 }
)";
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(base_);
  }

  static RunSet two(const std::vector<std::string>& set = {}) {
    const std::filesystem::path file = "two.toml";
    return read_run_set(std::span(&file, 1), set);
  }

  // All files below a folder, by their names in it.
  static std::vector<std::string> files(const std::filesystem::path& folder) {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) all.push_back(entry.path().lexically_relative(folder).string());
    return all;
  }

  std::filesystem::path base_, before_;
};

}  // namespace ticopd
