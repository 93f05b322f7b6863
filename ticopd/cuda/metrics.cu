// What metrics ask of a CUDA network: all agents' losses and gradients at one model.
#include <numeric>

#include "ticopd/cuda/network.hpp"
#include "ticopd/cuda/tree_sum.cuh"

namespace ticopd::cuda {
namespace {

// ||(1/n) sum_i row i||^2, the rows added in order and the squares in the tree, as on the CPU.
__global__ void __launch_bounds__(row_sum_threads)
    square_mean(Rows rows, std::uint64_t agents, std::uint64_t d, double* norm2) {
  const double n = static_cast<double>(agents);
  const double sum = row_sum(d, [=](std::size_t k) {
    double mean = 0;
    for (std::size_t i = 0; i < agents; ++i) mean += static_cast<double>(rows.row(i)[k]);
    mean /= n;
    return mean * mean;
  });
  if (threadIdx.x == 0) *norm2 = sum;
}

}  // namespace

CudaNetwork::Point& CudaNetwork::point_at(std::span<const float> x) {
  if (!point_) point_ = std::make_unique<Point>(plan_.rows(), x.size());
  queue_.finish();
  point_->x.fill_rows(x);
  return *point_;
}

void CudaNetwork::evaluate_at(std::span<const float> x, std::span<double> values,
                              ticopd::Field<float>& g) {
  if (!general_) return host_.evaluate_at(x, values, g);
  Point& at = point_at(x);
  general_->evaluate(queue_, at.model(), at.values.data(), at.gradients.view());
  queue_.finish();
  copy(values.data(), at.values.data(), values.size_bytes());
  at.gradients.download(g);
}

Global CudaNetwork::global_at(std::span<const float> x) {
  if (!general_) return host_.global_at(x);
  Point& at = point_at(x);
  general_->evaluate(queue_, at.model(), at.values.data(), at.gradients.view());
  queue_.launch(square_mean, Grid{.blocks = dim3(1), .threads = dim3(row_sum_threads)},
                at.gradients.view(), std::uint64_t{plan_.rows()}, std::uint64_t{x.size()},
                at.norm2.data());
  queue_.finish();
  const std::vector<double> values = at.values.download();
  return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          at.norm2.download()[0]};
}

double CudaNetwork::accuracy(std::span<const float> x) {
  if (!general_) return host_.accuracy(x);
  Point& at = point_at(x);
  general_->correct(queue_, at.model(), 1, at.right.data());
  queue_.finish();
  return static_cast<double>(at.right.download()[0]) /
         static_cast<double>(s_.objective.test_samples());
}

}  // namespace ticopd::cuda
