#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ticopd/data/dataset.hpp"
#include "ticopd/kernels/features.hpp"
#include "ticopd/objectives/model.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/objectives/sample_problem.hpp"
#include "ticopd/objectives/shards.hpp"

namespace ticopd {

// Options of every objective over samples.
struct SampleOptions {
  double l2 = 0.0;
  // false: f_i is the mean over agent i's samples. true: n m_i / m times that, so that (1/n) sum_i
  // f_i is the mean over all samples. Terms without samples (l2, a model's penalty) are never
  // weighted.
  bool weight_by_sample = false;
  bool start_at_zero = false;
};

// f_i = mean over agent i's samples of the model's loss + (l2/2) ||x||^2. The samples of an agent
// are cut into blocks, and those into tiles, by their number alone, and summed in order. So f_i and
// its gradient have the same bits with any number of threads.
template <class T>
class SampleObjective : public Objective<T> {
 public:
  // Throws ConfigError for an agent without samples, hosted or not.
  SampleObjective(std::unique_ptr<Model<T>> model, Shards<T> shards, Dataset<T> test,
                  SampleOptions options);

  int agents() const override { return static_cast<int>(sizes_.size()); }
  std::size_t dimension() const override { return dimension_; }
  double value(int agent, std::span<const T> x) const override;
  void gradient(int agent, std::span<const T> x, std::span<T> g) const override;
  void start(std::uint64_t seed, std::span<T> x) const override;

  std::size_t blocks(int agent, const Batch& batch) const override;
  // Like value and gradient, throws std::logic_error for an agent that is not hosted.
  double evaluate(int agent, std::size_t block, const Batch& batch, std::span<const T> x,
                  std::span<T> g) const override;

  std::unique_ptr<const Objective<T>> part(int first,
                                           std::span<const Batch> samples) const override;

  std::size_t samples(int agent) const override { return sizes_[static_cast<std::size_t>(agent)]; }
  std::size_t test_samples() const override;
  std::size_t test_blocks() const override;
  std::size_t correct(std::size_t block, std::span<const T> x) const override;
  SampleRecord sample_record(int agent) const override { return shard(agent).record; }
  SampleRecord test_record() const override { return test_.record; }
  std::vector<Segment> segments() const override { return model_->segments(); }
  std::vector<LayoutBytes> layouts() const override;
  // The samples are read back from the kernel's format when a device first asks, so that runs on
  // the CPU hold them once.
  std::shared_ptr<const SampleProblem> sample_problem() const override;
  // `outline` is the problem without its samples; null: devices have no kernels for it.
  void set_device_outline(std::unique_ptr<SampleProblem> outline) { outline_ = std::move(outline); }

 private:
  // Samples in the kernel's format, with their labels in its order.
  struct Shard {
    std::unique_ptr<Features<T>> features;
    std::vector<T> labels;
    std::vector<std::uint32_t> position;  // of each sample; empty: in the given order
    SampleRecord record = {};
  };

  SampleObjective(const SampleObjective& whole, int first, std::span<const Batch> samples);
  Dataset<T> read_back(const Shard& from, std::span<const std::uint32_t> positions) const;
  Dataset<T> read_back(const Shard& from) const;  // all samples, in the given order
  const Shard& shard(int agent) const;
  // How many samples a full evaluation of f_i sums. A part holds fewer than its agents have; for an
  // agent that another process hosts, only the number is known.
  std::size_t summed(int agent) const;
  Shard make_shard(Dataset<T> data, Sweeps sweeps) const;
  double sum_block(const Shard& mine, std::size_t block, std::span<const T> x, T* g, T scale) const;
  double sum_batch(const Shard& mine, const Batch& batch, std::span<const T> x, T* g,
                   T scale) const;
  double sampleless_terms(std::span<const T> x, T* g) const;

  std::shared_ptr<const Model<T>> model_;
  int first_;                       // the first hosted agent
  std::vector<Shard> shards_;       // of the hosted agents
  std::vector<std::size_t> sizes_;  // of all agents, whose weights they decide
  Shard test_;
  SampleOptions options_;
  std::size_t dimension_;
  std::size_t weights_;  // those of the first product; the other parameters follow
  std::size_t all_samples_ = 0;
  std::unique_ptr<const SampleProblem> outline_;
  mutable std::once_flag problem_made_;
  mutable std::shared_ptr<const SampleProblem> problem_;
};

extern template class SampleObjective<float>;
extern template class SampleObjective<double>;

}  // namespace ticopd
