// Metrics of a CUDA network. Models and their mean are measured on the device, and only numbers
// come back. Sums have the order of the CPU's (network/row_metrics.cpp, agent_sums.hpp), hence
// their bits.
#include <numeric>

#include "ticopd/cuda/metrics.hpp"
#include "ticopd/cuda/network.hpp"
#include "ticopd/cuda/runtime/tree_sum.cuh"

namespace ticopd::cuda {
namespace {

// The number of models recorded and run at once: a graph of thousands of models would be large.
constexpr std::size_t models_at_once = 64;

// Coordinate k of the rows' sum, divided by n.
__device__ double mean_at(const Rows& rows, std::uint64_t agents, double n, std::size_t k) {
  double sum = 0;
#pragma unroll 8
  for (std::size_t i = 0; i < agents; ++i) sum += static_cast<double>(rows.row(i)[k]);
  return sum / n;
}

// The terms of sums over coordinates k; `i` is the number of the sum.
struct ToMean {
  Rows x;
  const double* mean;
  __device__ double operator()(std::size_t i, std::size_t k) const {
    const double e = static_cast<double>(x.row(i)[k]) - mean[k];
    return e * e;
  }
};
struct ToSurrogate {
  Rows x, h;
  __device__ double operator()(std::size_t i, std::size_t k) const {
    const double e = static_cast<double>(x.row(i)[k]) - static_cast<double>(h.row(i)[k]);
    return e * e;
  }
};
struct OfMean {
  Rows rows;
  std::uint64_t agents;
  double n;
  __device__ double operator()(std::size_t, std::size_t k) const {
    const double v = mean_at(rows, agents, n, k);
    return v * v;
  }
};

// The first half of the tree: one thread block per sum and block of coordinates.
template <class Term>
__global__ void __launch_bounds__(part_threads)
    leave_parts(Term term, std::uint64_t d, double* parts) {
  const std::size_t k = std::size_t{blockIdx.x} * part_threads + threadIdx.x;
  const double part = part_sum(k < d ? term(blockIdx.y, k) : 0.0);
  if (threadIdx.x == 0) parts[std::size_t{blockIdx.y} * gridDim.x + blockIdx.x] = part;
}

// The second half: one thread block per sum.
__global__ void __launch_bounds__(row_sum_threads)
    add_parts(const double* parts, std::uint64_t blocks, double* sums) {
  const double sum = sum_of_parts(parts + blockIdx.x * blocks, blocks);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(part_threads)
    take_mean(Rows x, std::uint64_t agents, std::uint64_t d, double* mean, float* model) {
  const std::size_t k = std::size_t{blockIdx.x} * part_threads + threadIdx.x;
  if (k >= d) return;
  mean[k] = mean_at(x, agents, static_cast<double>(agents), k);
  model[k] = static_cast<float>(mean[k]);
}

// Averages the agents' values in their order, in one thread block: all threads fetch, one adds.
__global__ void __launch_bounds__(part_threads)
    average_values(const double* values, std::uint64_t agents, double* average) {
  __shared__ double stage[part_threads];
  double sum = 0;
  for (std::size_t first = 0; first < agents; first += part_threads) {
    if (first + threadIdx.x < agents) stage[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
      for (unsigned i = 0; i < part_threads && first + i < agents; ++i) sum += stage[i];
    __syncthreads();
  }
  if (threadIdx.x == 0) *average = sum / static_cast<double>(agents);
}

Grid blocks_of_parts(const MetricsRoom& room, std::size_t sums = 1) {
  return {.blocks = dim3(static_cast<unsigned>(room.blocks), static_cast<unsigned>(sums)),
          .threads = dim3(part_threads)};
}

template <class Term>
void record_parts(Queue& queue, MetricsRoom& room, const Term& term, std::size_t sum,
                  std::size_t count) {
  queue.launch(leave_parts<Term>, blocks_of_parts(room, count), term, std::uint64_t{room.x.cols()},
               room.parts_of(sum));
}

// Computes all sums, also those that nobody asked for this time.
void record_sums(Queue& queue, MetricsRoom& room, std::size_t agents) {
  queue.launch(add_parts,
               Grid{.blocks = dim3(static_cast<unsigned>(MetricsRoom::sums_of(agents))),
                    .threads = dim3(row_sum_threads)},
               room.parts.data(), std::uint64_t{room.blocks}, room.sums.data());
}

}  // namespace

MetricsRoom::MetricsRoom(std::size_t agents, std::size_t d)
    : blocks((d + part_threads - 1) / part_threads),
      x(1, d),
      gradients(agents, d),
      values(agents),
      mean(d),
      parts(sums_of(agents) * blocks),
      sums(sums_of(agents) + agents + 1),
      right(agents + 1),
      agents_(agents) {}

std::size_t MetricsRoom::bytes(std::size_t agents, std::size_t d) {
  const std::size_t all_blocks = (d + part_threads - 1) / part_threads;
  return (agents + 1) * all_blocks * part_threads * sizeof(float) +
         (d + sums_of(agents) * (all_blocks + 1) + 2 * agents + 1) * sizeof(double) +
         (agents + 1) * sizeof(std::uint32_t);
}

Problem measured_problem(const Surroundings<float>& s, const Problem& all) {
  Problem part{.loss = all.loss,
               .phi = all.phi,
               .widths = all.widths,
               .l2 = all.l2,
               .weight_by_sample = all.weight_by_sample};
  for (std::size_t agent = 0; agent < all.agents(); ++agent) {
    const Batch batch =
        measured_samples(s.metric_scope, s.objective, static_cast<int>(agent), s.seed_of_problem());
    const Dataset<float>& shard = all.shards[agent];
    part.shards.push_back(batch.full ? shard : shard.select(batch.samples));
    part.held.push_back(shard.samples());
  }
  return part;
}

GeneralObjective& CudaNetwork::measured_objective() {
  return measured_part_ ? *measured_part_ : *general();
}

MetricsRoom& CudaNetwork::metrics_room() {
  if (!metrics_room_) {
    metrics_room_ = std::make_unique<MetricsRoom>(placement_.rows(), s_.objective.dimension());
    if (s_.metric_scope.samples > 0)
      measured_part_ =
          make_general_objective(measured_problem(s_, *options_.problem), options_.tf32);
  }
  queue_.finish();  // metrics are a graph of their own
  return *metrics_room_;
}

void CudaNetwork::record_global(MetricsRoom& room, Rows model, std::size_t number) {
  const std::uint64_t agents = placement_.rows();
  measured_objective().evaluate(queue_, model, room.values.data(), room.gradients.view());
  record_parts(queue_, room, OfMean{room.gradients.view(), agents, static_cast<double>(agents)},
               room.gradient(number), 1);
  queue_.launch(average_values, Grid{.blocks = dim3(1), .threads = dim3(part_threads)},
                room.values.data(), agents, room.sums.data() + room.loss(number));
}

void CudaNetwork::evaluate_at(std::span<const float> x, std::span<double> values,
                              ticopd::Field<float>& g) {
  if (!general()) return host_.evaluate_at(x, values, g);
  MetricsRoom& room = metrics_room();
  room.x.fill_rows(x);
  general()->evaluate(queue_, room.model(), room.values.data(), room.gradients.view());
  queue_.finish();
  copy(values.data(), room.values.data(), values.size_bytes());
  room.gradients.download(g);
}

Global CudaNetwork::global_at(std::span<const float> x) {
  if (!measures_rows()) return host_.global_at(x);
  MetricsRoom& room = metrics_room();
  room.x.fill_rows(x);
  record_global(room, room.model(), 0);
  record_sums(queue_, room, placement_.rows());
  queue_.finish();
  const std::vector<double> sums = room.sums.download();
  return {sums[room.loss(0)], sums[room.gradient(0)]};
}

double CudaNetwork::accuracy(std::span<const float> x) {
  if (!general()) return host_.accuracy(x);
  MetricsRoom& room = metrics_room();
  room.x.fill_rows(x);
  general()->correct(queue_, room.model(), 1, room.right.data());
  queue_.finish();
  return share_of_test(room.right.download()[0]);
}

double CudaNetwork::share_of_test(std::uint32_t right) const {
  return static_cast<double>(right) / static_cast<double>(s_.objective.test_samples());
}

RowMetrics CudaNetwork::measure_rows(MetricLevel level, const Field& x, const Field* dual,
                                     const Field* surrogates) {
  MetricsRoom& room = metrics_room();
  const std::size_t agents = placement_.rows();
  const bool full = level == MetricLevel::full;
  const bool tested = full && s_.objective.test_samples() > 0;
  std::vector<std::size_t> models;  // the measured agents', then the mean
  if (full) {
    for (const int agent :
         measured_agents(s_.metric_scope, s_.graph.agents(), s_.seed_of_problem()))
      models.push_back(static_cast<std::size_t>(agent));
    models.push_back(agents);
  }
  const auto rows_of = [&](std::size_t model) {
    return model < agents ? Rows{x.view().row(model), 0} : room.model();
  };
  queue_.launch(take_mean, blocks_of_parts(room), x.view(), std::uint64_t{agents},
                std::uint64_t{x.cols()}, room.mean.data(), room.x.view().data);
  record_parts(queue_, room, ToMean{x.view(), room.mean.data()}, room.distance(0), agents);
  if (surrogates)
    record_parts(queue_, room, ToSurrogate{x.view(), surrogates->view()}, room.surrogate_error(0),
                 agents);
  if (dual) record_parts(queue_, room, OfMean{dual->view(), agents, 1.0}, room.dual_sum(), 1);
  if (tested && models.size() == agents + 1) {
    general()->correct(queue_, x.view(), agents, room.right.data());
    general()->correct(queue_, room.model(), 1, room.right.data() + agents);
  } else if (tested) {
    for (const std::size_t model : models)
      general()->correct(queue_, rows_of(model), 1, room.right.data() + model);
  }
  if (level == MetricLevel::local)
    measured_objective().evaluate(queue_, x.view(), room.values.data(), Rows{});
  for (std::size_t i = 0; i < models.size(); ++i) {
    record_global(room, rows_of(models[i]), models[i]);
    if (i % models_at_once == models_at_once - 1) queue_.finish();
  }
  record_sums(queue_, room, agents);
  queue_.finish();

  const std::vector<double> sums = room.sums.download();
  const std::vector<std::uint32_t> right = room.right.download();
  const auto take_model = [&](std::size_t number, ModelMetrics& to) {
    to.loss = sums[room.loss(number)];
    to.grad_norm2 = sums[room.gradient(number)];
    if (tested) to.accuracy = share_of_test(right[number]);
  };
  RowMetrics m;
  m.agents.resize(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    m.agents[i].distance2 = sums[room.distance(i)];
    if (surrogates) m.surrogate_errors.push_back(sums[room.surrogate_error(i)]);
  }
  for (const std::size_t model : models)
    take_model(model, model < agents ? m.agents[model] : m.mean);
  if (level == MetricLevel::local) m.local_losses = room.values.download();
  if (dual) m.dual_sum2 = sums[room.dual_sum()];
  return m;
}

}  // namespace ticopd::cuda
