#include "ticopd/network/cpu.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ticopd/network/agent_sums.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd {
namespace {

template <class T>
void add_part(std::span<const T> part, std::span<T> sum) {
  with_widest_vectors([=] {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
  });
}

}  // namespace

// What metrics read is laid out here, before the first round, as the samples themselves are.
template <class T>
CpuNetwork<T>::CpuNetwork(const Surroundings<T>& s) : AnyNetwork<T>(s) {
  if (s.metric_scope.samples > 0) metric_objective();
}

template <class T>
Field<T> CpuNetwork<T>::start() const {
  std::vector<T> x0(s_.objective.dimension());
  s_.objective.start(s_.seed_of_problem(), x0);
  Field x = field();
  x.fill_rows(x0);
  for (std::size_t row = 0; s_.start_of && row < x.rows(); ++row)
    s_.start_of(placement_.agent(row), x.row(row));
  return x;
}

// The batch is a pure function of (seed, agent, round): two gradients of one round see the same
// samples.
template <class T>
Batch CpuNetwork<T>::batch_of(int agent) const {
  const std::size_t samples = s_.objective.samples(agent);
  if (s_.batch == 0 || s_.batch >= samples) return {};
  const Permutation draw(samples,
                         {s_.seed, round_, static_cast<std::uint32_t>(agent), stream_batch});
  Batch batch{.full = false, .samples = {}};
  for (std::size_t b = 0; b < s_.batch; ++b)
    batch.samples.push_back(static_cast<std::uint32_t>(draw(b)));
  return batch;
}

template <class T>
void CpuNetwork<T>::gradient(const Field& x, Field& g) {
  gradient(x, g, false);
}

template <class T>
void CpuNetwork<T>::full_gradient(const Field& x, Field& g) {
  gradient(x, g, true);
}

template <class T>
void CpuNetwork<T>::post(const Field& v, std::function<void()> work) {
  posted_.push_back(std::move(work));
  read_by_posted_.push_back(&v);
  if (!s_.objective.is_asked_elsewhere()) finish_posted();
}

template <class T>
void CpuNetwork<T>::finish_posted() {
  if (posted_.empty()) return;
  const PhaseTimer timer(this->phases().exchange);
  read_by_posted_.clear();
  for (const auto& work : std::exchange(posted_, {})) work();
}

template <class T>
void CpuNetwork<T>::begin_round(std::uint32_t round) {
  finish_posted();
  AnyNetwork<T>::begin_round(round);
}

template <class T>
Ledger& CpuNetwork<T>::ledger() {
  finish_posted();
  return AnyNetwork<T>::ledger();
}

// What is hidden behind a gradient counts as time of the gradient.
template <class T>
void CpuNetwork<T>::gradient(const Field& x, Field& g, bool full) {
  if (std::ranges::find(read_by_posted_, &g) != read_by_posted_.end()) finish_posted();
  const PhaseTimer timer(this->phases().gradient);
  std::vector<Request> requests;
  for (std::size_t row = 0; row < placement_.rows(); ++row) {
    const int agent = placement_.agent(row);
    requests.push_back({agent, x.row(row), g.row(row), full ? Batch{} : batch_of(agent)});
    requests.back().batch.value = false;
  }
  std::vector<double> values(requests.size());
  if (posted_.empty()) return evaluate(s_.objective, requests, values);
  read_by_posted_.clear();
  s_.objective.evaluate_rows_with(requests, values, [posted = std::exchange(posted_, {})] {
    for (const auto& work : posted) work();
  });
}

template <class T>
void CpuNetwork<T>::evaluate_at(std::span<const T> x, std::span<double> values, Field& g) {
  std::vector<Request> requests;
  for (std::size_t row = 0; row < placement_.rows(); ++row)
    requests.push_back({placement_.agent(row), x, g.row(row), {}});
  evaluate(s_.objective, requests, values);
}

template <class T>
Global CpuNetwork<T>::global_at(std::span<const T> x) {
  const Objective<T>& f = metric_objective();
  std::vector<double> values(placement_.rows());
  if (point_gradients_.size() == 0) point_gradients_ = Field(placement_.rows(), x.size());
  std::vector<Request> requests;
  for (std::size_t row = 0; row < placement_.rows(); ++row)
    requests.push_back({placement_.agent(row), x, point_gradients_.row(row), metric_batches_[row]});
  evaluate(f, requests, values);
  const auto all = all_gather_values<double>(s_.transport, channel_metrics_scalars, values);
  const double n = static_cast<double>(placement_.agents());
  return {std::accumulate(all.begin(), all.end(), 0.0) / n,
          squared_norm_of_mean(s_.transport, s_.pool, point_gradients_, n)};
}

template <class T>
std::vector<double> CpuNetwork<T>::local_values(const Field& x) {
  const Objective<T>& f = metric_objective();
  std::vector<Request> requests;
  for (std::size_t row = 0; row < placement_.rows(); ++row)
    requests.push_back({placement_.agent(row), x.row(row), {}, metric_batches_[row]});
  std::vector<double> values(placement_.rows());
  evaluate(f, requests, values);
  return values;
}

template <class T>
const Objective<T>& CpuNetwork<T>::metric_objective() {
  if (metric_batches_.empty()) {
    for (std::size_t row = 0; row < placement_.rows(); ++row)
      metric_batches_.push_back(measured_samples(s_.metric_scope, s_.objective,
                                                 placement_.agent(row), s_.seed_of_problem()));
    if (s_.metric_scope.samples > 0)
      metric_part_ = s_.objective.part(placement_.first(), metric_batches_);
    if (metric_part_) metric_batches_.assign(placement_.rows(), Batch{});  // all that it has
  }
  return metric_part_ ? *metric_part_ : s_.objective;
}

template <class T>
double CpuNetwork<T>::accuracy(std::span<const T> x) {
  std::vector<std::size_t> right(s_.objective.test_blocks());
  s_.pool.run(right.size(), [&](std::size_t b) { right[b] = s_.objective.correct(b, x); });
  const std::size_t all = std::accumulate(right.begin(), right.end(), std::size_t{0});
  return static_cast<double>(all) / static_cast<double>(s_.objective.test_samples());
}

// The blocks of an agent are added in their order, so the sum has the same bits for any number of
// threads. Most agents are one task each. Only the last agents are shared block by block, so that
// no thread waits long for another at the end; the gradients of their blocks need memory of their
// own.
template <class T>
void CpuNetwork<T>::evaluate(const Objective<T>& f, std::vector<Request>& requests,
                             std::span<double> values) {
  finish_posted();
  if (f.evaluate_rows(requests, values)) return;
  const std::size_t rows = requests.size();
  const std::size_t d = rows > 0 ? requests.front().g.size() : 0;  // 0: only values are wanted
  const std::size_t threads = static_cast<std::size_t>(s_.pool.threads());
  // All agents are whole tasks, except the last threads - 1.
  const std::size_t whole = rows >= threads ? rows - (threads - 1) : 0;

  struct Task {
    std::size_t row, block;
    std::span<T> g;
    double value;
  };
  std::vector<Task> tasks;  // one block each
  std::vector<std::size_t> first;
  std::size_t extra = 0;
  for (std::size_t row = whole; row < rows; ++row) {
    first.push_back(tasks.size());
    const std::size_t blocks = f.blocks(placement_.agent(row), requests[row].batch);
    for (std::size_t b = 0; b < blocks; ++b) tasks.push_back({row, b, requests[row].g, 0.0});
    extra += blocks - 1;
  }
  first.push_back(tasks.size());
  if (partial_.size() < extra * d) partial_.resize(extra * d);
  T* next = partial_.data();
  for (Task& task : tasks)
    if (task.block > 0) {
      task.g = {next, d};
      next += d;
    }

  s_.pool.run(whole + tasks.size(), [&](std::size_t t) {
    if (t < whole) {
      values[t] = evaluate_agent(f, t, requests[t]);
      return;
    }
    Task& task = tasks[t - whole];
    const Request& r = requests[task.row];
    task.value = f.evaluate(placement_.agent(task.row), task.block, r.batch, r.x, task.g);
  });

  // Threads share the coordinates; at each coordinate, blocks are added in their order.
  constexpr std::size_t stretch = 8192;
  const std::size_t cuts = (d + stretch - 1) / stretch;
  const auto add = [&](std::size_t t) {
    const std::size_t at = t / cuts, begin = t % cuts * stretch, end = std::min(d, begin + stretch);
    for (std::size_t i = first[at] + 1; i < first[at + 1]; ++i)
      add_part(std::span<const T>(tasks[i].g.subspan(begin, end - begin)),
               requests[whole + at].g.subspan(begin, end - begin));
  };
  if (extra > 0) s_.pool.run((rows - whole) * cuts, add);

  for (std::size_t row = whole; row < rows; ++row) {
    values[row] = 0;
    for (std::size_t i = first[row - whole]; i < first[row - whole + 1]; ++i)
      values[row] += tasks[i].value;
  }
}

template <class T>
double CpuNetwork<T>::evaluate_agent(const Objective<T>& f, std::size_t row,
                                     const Request& r) const {
  thread_local std::vector<T> part;
  const int agent = placement_.agent(row);
  const std::size_t blocks = f.blocks(agent, r.batch);
  double value = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    if (b > 0 && part.size() < r.g.size()) part.resize(r.g.size());
    const std::span<T> g = b == 0 ? r.g : std::span<T>(part).first(r.g.size());
    value += f.evaluate(agent, b, r.batch, r.x, g);
    if (b > 0) add_part(std::span<const T>(g), r.g);
  }
  return value;
}

template class CpuNetwork<float>;
template class CpuNetwork<double>;

}  // namespace ticopd
