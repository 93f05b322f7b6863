#include "ticopd/network/cpu.hpp"

#include "ticopd/network/clock.hpp"
#include "ticopd/network/permutation.hpp"

namespace ticopd {
namespace {

template <class T>
std::vector<std::size_t> shard_sizes(const Objective<T>& objective) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < objective.agents(); ++i) sizes.push_back(objective.samples(i));
  return sizes;
}

template <class T>
void add_part(std::span<const T> part, std::span<T> sum) {
  wide([=] {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
  });
}

}  // namespace

PhaseTimer::PhaseTimer(double& seconds) : seconds_(seconds), begin_(seconds_now()) {}
PhaseTimer::~PhaseTimer() {
  seconds_ += seconds_now() - begin_;
}

template <class T>
CpuNetwork<T>::CpuNetwork(const Surroundings<T>& s)
    : s_(s),
      plan_(s.graph, s.transport.size(), s.transport.rank(), shard_sizes(s.objective)),
      laplacian_(ticopd::laplacian(s.graph)),
      w_minus_i_(minus_identity(mixing_matrix(s.graph, s.weights))),
      w_neighbours_(without_diagonal(mixing_matrix(s.graph, s.weights))),
      ledger_(plan_.rows()) {
  if (s.objective.agents() != s.graph.agents())
    throw ConfigError("graph.agents = " + std::to_string(s.graph.agents()) +
                      ", but the objective has " + std::to_string(s.objective.agents()) +
                      " agents");
  const std::vector<double> w = diagonal(mixing_matrix(s.graph, s.weights));
  for (std::size_t row = 0; row < plan_.rows(); ++row) {
    self_weight_.push_back(static_cast<T>(w[static_cast<std::size_t>(plan_.agent(row))]));
    degree_.push_back(static_cast<T>(s.graph.degree(plan_.agent(row))));
    const auto links = static_cast<std::size_t>(s.graph.degree(plan_.agent(row)));
    ledger_.agents[row].link_messages.resize(links);
    ledger_.agents[row].link_bytes.resize(links);
  }
}

template <class T>
Field<T> CpuNetwork<T>::start() const {
  std::vector<T> x0(s_.objective.dimension());
  s_.objective.start(s_.seed, x0);
  Field x = field();
  x.fill_rows(x0);
  return x;
}

// A pure function of (seed, agent, round), so that two gradients of one round see the same samples.
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
const Mixing& CpuNetwork<T>::to_centre() {
  if (to_centre_.rows.empty()) to_centre_ = ticopd::to_centre(s_.graph);
  return to_centre_;
}

template <class T>
const Mixing& CpuNetwork<T>::from_centre() {
  if (from_centre_.rows.empty()) from_centre_ = ticopd::from_centre(s_.graph);
  return from_centre_;
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
void CpuNetwork<T>::gradient(const Field& x, Field& g, bool full) {
  const PhaseTimer timer(phases_.gradient);
  std::vector<Request> requests;
  for (std::size_t row = 0; row < plan_.rows(); ++row)
    requests.push_back({x.row(row), g.row(row), full ? Batch{} : batch_of(plan_.agent(row))});
  std::vector<double> values(requests.size());
  evaluate(requests, values);
}

template <class T>
void CpuNetwork<T>::evaluate_at(std::span<const T> x, std::span<double> values, Field& g) {
  std::vector<Request> requests;
  for (std::size_t row = 0; row < plan_.rows(); ++row) requests.push_back({x, g.row(row), {}});
  evaluate(requests, values);
}

// The blocks of an agent are added in their order, whoever computes them, so that the sum has the
// same bits for any number of threads. Most agents are one task each. Only those that come last are
// shared block by block, so that no thread waits long for another at the end; the gradients of
// their blocks need memory of their own.
template <class T>
void CpuNetwork<T>::evaluate(std::vector<Request>& requests, std::span<double> values) {
  const std::size_t d = s_.objective.dimension(), rows = requests.size();
  const std::size_t threads = static_cast<std::size_t>(s_.pool.threads());
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
    const std::size_t blocks = s_.objective.blocks(plan_.agent(row), requests[row].batch);
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
      values[t] = evaluate_agent(t, requests[t]);
      return;
    }
    Task& task = tasks[t - whole];
    const Request& r = requests[task.row];
    task.value = s_.objective.evaluate(plan_.agent(task.row), task.block, r.batch, r.x, task.g);
  });

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
double CpuNetwork<T>::evaluate_agent(std::size_t row, const Request& r) const {
  thread_local std::vector<T> part;
  const int agent = plan_.agent(row);
  const std::size_t blocks = s_.objective.blocks(agent, r.batch);
  double value = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    if (b > 0 && part.size() < r.g.size()) part.resize(r.g.size());
    const std::span<T> g = b == 0 ? r.g : std::span<T>(part).first(r.g.size());
    value += s_.objective.evaluate(agent, b, r.batch, r.x, g);
    if (b > 0) add_part(std::span<const T>(g), r.g);
  }
  return value;
}

template class CpuNetwork<float>;
template class CpuNetwork<double>;

}  // namespace ticopd
