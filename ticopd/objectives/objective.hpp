#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/data/layout_bytes.hpp"

namespace ticopd {

// A named part of the parameter vector (W1, b1, ...), for layer-wise codecs and checkpoint readers.
struct Segment {
  std::string name;
  std::vector<std::size_t> shape;
};

struct SampleProblem;  // sample_problem.hpp

// The samples that an objective reads, so that a resumed run can tell if they are still the same.
struct SampleRecord {
  std::string fingerprint = {};  // numeric/fingerprint.hpp, of samples and labels as used; "": none
  std::vector<std::pair<double, std::size_t>> labels = {};  // how many of each, if there are few
};

// The samples of one gradient: all of them, or a list drawn for (seed, agent, round).
struct Batch {
  bool full = true;
  std::vector<std::uint32_t> samples;
  bool value = true;  // false: only the gradient is wanted
};

// One evaluation among several: f_agent at x over the samples of `batch`. The gradient goes to g
// unless g is empty; several requests may share one x.
template <class T>
struct RowRequest {
  int agent;
  std::span<const T> x;
  std::span<T> g;
  Batch batch;
};

// f = (1/n) sum_i f_i. Agents evaluate only their own f_i; metrics evaluate all. A user's objective
// overrides the first four functions; the rest serves objectives over samples.
template <class T>
class Objective {
 public:
  virtual ~Objective() = default;

  virtual int agents() const = 0;
  virtual std::size_t dimension() const = 0;
  virtual double value(int agent, std::span<const T> x) const = 0;
  virtual void gradient(int agent, std::span<const T> x, std::span<T> g) const = 0;

  // The starting point of every agent; zero unless overridden.
  virtual void start(std::uint64_t seed, std::span<T> x) const {
    (void)seed;
    for (T& v : x) v = T(0);
  }

  // f_i as a sum of blocks that threads may share. The data decides the blocks, never the number of
  // threads, so the sum always has the same bits. `evaluate` returns block b's part of f_i(x) and,
  // unless g is empty, writes (not adds) its part of the gradient to g. The value need not be
  // computed if batch.value is false.
  virtual std::size_t blocks(int agent, const Batch& batch) const {
    (void)agent, (void)batch;
    return 1;
  }
  virtual double evaluate(int agent, std::size_t block, const Batch& batch, std::span<const T> x,
                          std::span<T> g) const {
    (void)block;
    if (!g.empty()) gradient(agent, x, g);
    return batch.value ? value(agent, x) : 0;
  }

  // All evaluations of one step at once, on the thread that called: for objectives that batch over
  // agents, or that must ask somebody. Returns false to be asked by `evaluate`, block by block.
  virtual bool evaluate_rows(std::span<const RowRequest<T>> requests,
                             std::span<double> values) const {
    (void)requests, (void)values;
    return false;
  }

  // True if somebody else answers evaluate_rows, and the thread that called only waits. Then
  // evaluate_rows_with does the same, and calls `meanwhile` once, for the time of the wait.
  virtual bool is_asked_elsewhere() const { return false; }
  virtual void evaluate_rows_with(std::span<const RowRequest<T>> requests, std::span<double> values,
                                  const std::function<void()>& meanwhile) const {
    meanwhile();
    evaluate_rows(requests, values);
  }

  // Samples held by an agent; 0 if the objective has none (then batch must be "full").
  virtual std::size_t samples(int agent) const {
    (void)agent;
    return 0;
  }

  // Test samples, in blocks that threads may share, and how many of a block x classifies correctly.
  // None if there is nothing to classify.
  virtual std::size_t test_samples() const { return 0; }
  virtual std::size_t test_blocks() const { return 0; }
  virtual std::size_t correct(std::size_t block, std::span<const T> x) const {
    (void)block, (void)x;
    return 0;
  }

  // The same f_i over a part of the samples of some agents, `first` and those behind it, in a
  // layout of its own: a list of samples that is evaluated often. Null: `evaluate` takes the list
  // itself.
  virtual std::unique_ptr<const Objective> part(int first, std::span<const Batch> samples) const {
    (void)first, (void)samples;
    return nullptr;
  }

  // The samples of a hosted agent and the test samples, for run.json and for a resumed run.
  virtual SampleRecord sample_record(int agent) const {
    (void)agent;
    return {};
  }
  virtual SampleRecord test_record() const { return {}; }

  virtual std::vector<Segment> segments() const { return {{"x", {dimension()}}}; }

  // The memory that holds the samples, by name of the layout.
  virtual std::vector<LayoutBytes> layouts() const { return {}; }

  // The objective as data, for a GPU that computes values and gradients itself. Null: the host
  // does.
  virtual std::shared_ptr<const SampleProblem> sample_problem() const { return nullptr; }
};

}  // namespace ticopd
