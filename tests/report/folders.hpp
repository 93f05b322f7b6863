#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/temporary.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// Makes run folders for the reports to read: real runs, and folders written by hand.
class Folders : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "ticopd_report_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(base_); }

  // A real run of a few rounds.
  std::filesystem::path run(const std::string& folder, const std::string& label,
                            std::vector<std::string> set = {}) const {
    set.push_back("name=" + nlohmann::json(label).dump());
    const Config config = Config::parse(R"(
iterations = 20
[problem]
objective = "softmax"
data = "synthetic"
samples = 100
features = 5
classes = 3
partition = "iid"
[graph]
agents = 4
[codec]
kind = "qsgd"
[algorithm]
name = "choco_sgd"
eta = 0.1
gamma = 0.4
)",
                                        ".", set);
    RunOptions options;
    options.prepare.threads = 1;
    options.out = base_ / folder;
    run_experiment(config, options);
    return base_ / folder;
  }

  // A folder with these rows. Each row gives iteration, loss and accuracy; the other columns
  // follow.
  std::filesystem::path made_up(const std::string& folder, const std::string& label,
                                const std::vector<std::vector<std::string>>& rows,
                                const std::string& algorithm = "ticopd", int bits = 8,
                                const std::string& status = "finished") const {
    std::string text = csv_header() + "\n";
    for (const auto& row : rows) {
      const double round = std::strtod(row[0].c_str(), nullptr);
      text += fmt::format("{0},{1},{2},{3},{4},{4},{4},{5},{4},{4},{5},,,{6:.3f}\n", row[0],
                          90 * round, 100 * round, 200 * round, row[1], row[2], round / 10);
    }
    write(folder + "/metrics.csv", text);
    const nlohmann::json config = {{"name", label},
                                   {"algorithm", {{"name", algorithm}}},
                                   {"codec", {{"kind", "qsgd"}, {"bits", bits}}}};
    const nlohmann::json summary = {{"status", status},     {"digest", "00ff"}, {"config", config},
                                    {"config_folder", "."}, {"dimension", 10},  {"agents", 2},
                                    {"edges", {{0, 1}}},    {"iterations", 0}};
    write(folder + "/run.json", summary.dump());
    return base_ / folder;
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((base_ / name).parent_path());
    std::ofstream(base_ / name, std::ios::binary) << bytes;
  }

  static std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path base_;
};

}  // namespace ticopd
