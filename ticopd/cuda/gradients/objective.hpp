#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ticopd/cuda/gradients/problem.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

namespace ticopd::cuda {

// Gradients of all agents at once, over all of their samples. Every run gives the same bits.
class FullGradient {
 public:
  virtual ~FullGradient() = default;
  virtual std::string_view name() const = 0;
  // Row i of g becomes the gradient of f_i at row i of x. Both have a stride of their own.
  virtual void gradient(Queue& queue, Rows x, Rows g) = 0;
};

// One hidden layer of at most 100 sigmoids on u8 features, the shape of the paper: fused kernels of
// int8 tensor-core products (fused/objective.cu). Null if the problem or the device is of another
// kind.
std::unique_ptr<FullGradient> make_fused_gradient(const Problem& problem);
std::size_t fused_gradient_bytes(const Problem& problem);  // on the device; 0: not of this kind

// Everything for any problem (general/objective.cu): gradients over all samples or over the round's
// mini-batch, values, and the test set.
class GeneralObjective : public FullGradient {
 public:
  // Over `batch` samples, drawn as the CPU network draws them from (seed, round, agent).
  virtual void batch_gradient(Queue& queue, Rows x, Rows g, std::uint64_t seed,
                              std::size_t batch) = 0;
  // values[i] = f_i(row i of x); and the gradients, unless g is null.
  virtual void evaluate(Queue& queue, Rows x, double* values, Rows g) = 0;
  // right[r] = how many test samples row r of x classifies correctly, for `rows` rows.
  virtual void correct(Queue& queue, Rows x, std::size_t rows, std::uint32_t* right) = 0;
};

// `tf32`: products of float features in TF32. Throws UnavailableError if cuBLAS is not found.
std::unique_ptr<GeneralObjective> make_general_objective(const Problem& problem, bool tf32);
// Bytes on the device, with what gradients over `batch` samples need, unless it is 0.
std::size_t general_objective_bytes(const Problem& problem, std::size_t batch = 0);

}  // namespace ticopd::cuda
