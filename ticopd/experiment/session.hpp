#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/transport/processes.hpp"

namespace ticopd {

// Metrics that a program computes (run/own_metrics.hpp), for a config of either precision.
struct SessionMetrics {
  std::vector<std::string> names = {};
  // `rows` models of `columns` numbers in the run's precision, of agents `first` and behind it, or
  // the average model if `first` is -1; values[row * names.size() + metric].
  std::function<void(const void* x, std::size_t rows, std::size_t columns, int first,
                     std::span<double> values)>
      measure = {};
};

struct SessionOptions {
  PrepareOptions prepare = {};
  SessionMetrics metrics = {};
  Processes* processes = nullptr;  // all processes of this run; each has a session
};

// The models of the hosted agents, in the run's precision.
struct SessionRows {
  const void* data;
  int first_agent;
  std::size_t rows, columns;
};

// A config as an object that is stepped, measured and saved by hand: `ticopd run` without a command
// line. What it saves are the files of a run folder, which the command line can report or go on
// with, and the other way round. With several processes all of them make the same calls.
class Session {
 public:
  static std::unique_ptr<Session> open(const Config& config, const SessionOptions& options);
  virtual ~Session() = default;

  virtual std::uint32_t step(std::uint32_t rounds) = 0;  // returns how many it made
  virtual Metrics measure(MetricLevel level) = 0;
  // Writes a run folder. UsageError if the folder holds anything but an earlier state of this run.
  virtual void save(const std::filesystem::path& folder) = 0;
  // The same, of the last snapshot: it may be called while another thread is below step(), if that
  // thread does nothing meanwhile. Returns the round that was saved.
  virtual std::uint32_t save_snapshot(const std::filesystem::path& folder) = 0;
  virtual void resume(const std::filesystem::path& folder) = 0;  // before the first step
  virtual void log_every(std::uint32_t rounds) = 0;              // before the first step

  virtual bool finished() const = 0;
  virtual std::uint32_t round() const = 0;
  virtual SessionRows x() = 0;
  virtual std::string digest() const = 0;
  virtual nlohmann::json summary() = 0;  // as run.json

  const Config& config() const { return config_; }
  const MetricColumns& columns() const { return columns_; }
  // Every logged row, one number a column; nan for an empty cell.
  const std::vector<std::vector<double>>& logged() const { return logged_; }
  std::vector<double> cells(const Metrics& m) const;

 protected:
  Session(const Config& config, const SessionOptions& options);

  Config config_;
  MetricColumns columns_;
  std::vector<std::vector<double>> logged_;
  std::vector<std::string> lines_;  // the same, as they stand in metrics.csv
};

}  // namespace ticopd
