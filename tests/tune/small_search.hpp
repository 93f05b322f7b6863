#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include "ticopd/error.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/tune/tune.hpp"

namespace ticopd {

using Set = std::vector<std::string>;

// Gives each test its own folder, removed afterwards, and a problem whose runs take a millisecond.
class SmallSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "ticopd_tune_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(base_); }

  static constexpr std::string_view problem = R"(iterations = 64
[problem]
objective = "softmax"
data = "synthetic"
samples = 100
features = 4
classes = 3
partition = "sorted"
[graph]
agents = 5
[codec]
kind = "qsgd"
)";

  static Config config(const Set& set = {}) {
    return Config::parse(std::string(problem) + "[algorithm]\nname = \"choco_sgd\"\n", ".", set);
  }

  TuneOptions into(const std::string& name, double runs = 8) const {
    TuneOptions options;
    options.prepare.threads = 1;
    options.out = base_ / name;
    options.runs = runs;
    return options;
  }

  std::string trials(const std::string& name) const {
    return read_file(base_ / name / "trials.csv");
  }

  // The cells of trials.csv without its header: bracket, trial, iterations, spent, axes, metric,
  // ...
  std::vector<std::vector<std::string>> rows(const std::string& name) const {
    std::vector<std::vector<std::string>> all;
    std::istringstream in(trials(name));
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      all.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) all.back().push_back(cell);
    }
    return all;
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((base_ / name).parent_path());
    std::ofstream(base_ / name, std::ios::binary) << text;
  }

  static void expect_same(const Tuned& a, const Tuned& b) {
    EXPECT_EQ(a.finished, b.finished);
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.metric, b.metric);
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.rounds, b.rounds);
    EXPECT_EQ(a.cost, b.cost);
    EXPECT_EQ(a.trials, b.trials);
    EXPECT_EQ(a.lost, b.lost);
  }

  static double final_loss(const Config& c, Device device = Device::cpu) {
    const Prepared<float> p = prepare<float>(c, {.threads = 1, .device = device});
    return solve(p.algorithm, p.setup).last.loss_max.value();
  }

  std::filesystem::path base_;
};

template <class Error>
std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.what();
  }
  return "not refused";
}

inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "`" << part << "` is not in: " << message;
}

}  // namespace ticopd
