#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "dense/problem.hpp"
#include "network/every_algorithm.hpp"
#include "ticopd/capi/ticopd.h"

// A run through the C interface, whose questions a test answers with an objective in C++.
namespace ticopd::capi {

using nlohmann::json;

inline std::string text_of(char* text) {
  std::string copy = text != nullptr ? text : "";
  tc_free(text);
  return copy;
}

inline json config_for(std::string_view algorithm, int agents) {
  const AlgorithmOptions o = dense::options_of(algorithm);
  json steps{{"name", o.name}};
  for (const auto& [name, value] : o.parameters) steps[name] = value(1);
  for (const auto& [name, value] : o.flags) steps[name] = value;
  json config{{"problem", {{"objective", "external"}, {"name", "least squares"}, {"batch", 4}}},
              {"precision", "double"},
              {"iterations", 25},
              {"graph", {{"kind", "ring"}, {"agents", agents}}},
              {"algorithm", steps}};
  if (algorithm_needs(o).centre) config["graph"]["kind"] = "star";
  if (!algorithm_info(algorithm).uncompressed && !algorithm_info(algorithm).own_codec)
    config["codec"] = {{"kind", "qsgd"}, {"bits", 4}};
  return config;
}

class AskedRun {
 public:
  static constexpr int agents = 7;

  explicit AskedRun(json config) : config_(std::move(config)) {}
  ~AskedRun() { tc_run_close(run); }
  AskedRun(const AskedRun&) = delete;
  AskedRun& operator=(const AskedRun&) = delete;

  // The code of tc_run_open, or of the set-up.
  int open(const std::vector<std::string>& metrics = {}) {
    samples_.assign(agents, f.samples(0));
    start_.resize(f.dimension());
    f.start(1, start_);
    for (const std::string& name : metrics) metric_names_.push_back(name.c_str());
    problem.struct_size = sizeof problem;
    problem.dimension = f.dimension();
    problem.agents = agents;
    problem.has_values = 1;
    problem.samples = samples_.data();
    problem.start = start_.data();
    problem.metrics = metric_names_.data();
    problem.metric_count = metric_names_.size();
    if (const int code = tc_run_open(config_.dump().c_str(), nullptr, &problem, nullptr, &run))
      return code;
    return answer_all();
  }

  int step(std::uint32_t rounds) {
    if (const int code = tc_run_step(run, rounds)) return code;
    return answer_all();
  }

  // Answers until the work is done, or until `most` questions were answered: then TC_ASKS.
  int answer_all(int most = 1 << 30) {
    tc_question q{};
    for (std::uint64_t answered = 0;;) {
      const int code = tc_run_next(run, answered, 0.1, &q);
      answered = 0;
      if (code == TC_WAIT) continue;
      if (code != TC_ASKS) return code;
      if (most-- == 0) return TC_ASKS;
      if (ask_again_ > 0 && random_() % 100 < ask_again_) continue;
      answer(q);
      answered = q.number;
      ++answers;
    }
  }

  void ask_again(unsigned percent) { ask_again_ = percent; }

  void answer(const tc_question& q) {
    const auto* x = static_cast<const double*>(q.x);
    auto* g = static_cast<double*>(q.g);
    for (int r = 0; r < q.rows; ++r) {
      const std::span row(x + static_cast<std::size_t>(r) * q.x_stride, f.dimension());
      if (q.kind == TC_METRICS) {
        for (std::size_t m = 0; m < metric_names_.size(); ++m)
          q.values[static_cast<std::size_t>(r) * metric_names_.size() + m] =
              row[0] + static_cast<double>(m);
        continue;
      }
      Batch batch;
      if (q.batch != nullptr) {
        batch.full = false;
        batch.samples.assign(q.batch + (r == 0 ? 0 : q.batch_ends[r - 1]),
                             q.batch + q.batch_ends[r]);
      }
      evaluate(q.first + r, batch, row,
               g == nullptr
                   ? std::span<double>()
                   : std::span(g + static_cast<std::size_t>(r) * q.g_stride, f.dimension()),
               q.values == nullptr ? nullptr : &q.values[r]);
    }
  }

  std::string digest() {
    char* hex = nullptr;
    EXPECT_EQ(tc_run_digest(run, &hex), TC_OK) << tc_message();
    return text_of(hex);
  }

  std::vector<std::string> columns() {
    char* names = nullptr;
    EXPECT_EQ(tc_run_columns(run, &names), TC_OK) << tc_message();
    return json::parse(text_of(names));
  }

  // The logged rows, one after the other.
  std::vector<double> rows() {
    std::vector<double> cells(tc_run_logged(run) * columns().size());
    EXPECT_EQ(tc_run_rows(run, 0, tc_run_logged(run), cells.data()), TC_OK) << tc_message();
    return cells;
  }

  dense::LeastSquares<double> f{dense::ProblemSize{agents, 21, 12}};
  tc_run* run = nullptr;
  tc_problem problem{};
  int answers = 0;

 private:
  void evaluate(int agent, const Batch& batch, std::span<const double> x, std::span<double> g,
                double* value) {
    double sum = 0;
    std::vector<double> part(g.size());
    for (std::size_t b = 0; b < f.blocks(agent, batch); ++b) {
      sum += f.evaluate(agent, b, batch, x, b == 0 ? g : std::span<double>(part));
      if (b > 0)
        for (std::size_t k = 0; k < g.size(); ++k) g[k] += part[k];
    }
    if (value != nullptr) *value = sum;
  }

  json config_;
  std::vector<std::uint64_t> samples_;
  std::vector<double> start_;
  std::vector<const char*> metric_names_;
  unsigned ask_again_ = 0;
  std::mt19937 random_{3};
};

}  // namespace ticopd::capi
