#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/cuda/general/blas.hpp"
#include "ticopd/cuda/general/int8.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace {

// The functions of cuBLASLt that are used here.
struct Functions {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) operation_create;
  decltype(&cublasLtMatmulDescDestroy) operation_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) operation_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmul) matmul;
};

[[noreturn]] void unavailable(const std::string& why) {
  throw UnavailableError("cuBLASLt, which this problem needs on the device, " + why +
                         ": install it beside the CUDA driver, or run with --device cpu");
}

void* open_library() {
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  unavailable("was not found (libcublasLt.so.13)");
}

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr) unavailable(std::string("has no function ") + name);
}

// Never closed: the library is huge, and the driver may still hold its kernels.
const Functions& functions() {
  static const Functions all = [] {
    void* library = open_library();
    Functions f{};
    find(library, "cublasLtCreate", f.create);
    find(library, "cublasLtDestroy", f.destroy);
    find(library, "cublasLtMatmulDescCreate", f.operation_create);
    find(library, "cublasLtMatmulDescDestroy", f.operation_destroy);
    find(library, "cublasLtMatmulDescSetAttribute", f.operation_set);
    find(library, "cublasLtMatrixLayoutCreate", f.layout_create);
    find(library, "cublasLtMatrixLayoutDestroy", f.layout_destroy);
    find(library, "cublasLtMatrixLayoutSetAttribute", f.layout_set);
    find(library, "cublasLtMatmulPreferenceCreate", f.preference_create);
    find(library, "cublasLtMatmulPreferenceDestroy", f.preference_destroy);
    find(library, "cublasLtMatmulPreferenceSetAttribute", f.preference_set);
    find(library, "cublasLtMatmulAlgoGetHeuristic", f.heuristic);
    find(library, "cublasLtMatmul", f.matmul);
    return f;
  }();
  return all;
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    unavailable(std::string("failed to ") + what + " (status " +
                std::to_string(static_cast<int>(status)) + ")");
}

cublasLtMatrixLayout_t matrix_layout(cudaDataType type, std::size_t rows, std::size_t columns,
                                     std::size_t leading, std::size_t batch, std::size_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(functions().layout_create(&layout, type, rows, columns, static_cast<std::int64_t>(leading)),
        "describe a matrix");
  const auto count = static_cast<std::int32_t>(batch);
  const auto offset = static_cast<std::int64_t>(stride);
  check(functions().layout_set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "describe a batch");
  check(functions().layout_set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset,
                               sizeof offset),
        "describe a batch");
  return layout;
}

// A number in both types that products may have.
struct Scalars {
  std::int32_t whole;
  float real;
};
constexpr Scalars one{1, 1.0f}, zero{0, 0.0f};

const void* scalar(const Scalars& value, ProductShape::Kind kind) {
  return kind == ProductShape::Kind::int8 ? static_cast<const void*>(&value.whole) : &value.real;
}

// Without trials of cuBLASLt's kernels a run starts sooner. Under compute-sanitizer, which is slow
// with them, it starts minutes sooner.
bool only_own_products() {
  static const bool chosen = [] {
    const char* wanted = std::getenv("TICOPD_CUDA_PRODUCTS");
    const std::string_view word = wanted == nullptr || *wanted == '\0' ? "auto" : wanted;
    constexpr std::array<std::string_view, 2> words{"auto", "own"};
    if (word != words[0] && word != words[1])
      throw ConfigError(not_allowed("TICOPD_CUDA_PRODUCTS", word, words));
    return word == words[1];
  }();
  return chosen;
}

// Owns a stream for the trials.
class Stream {
 public:
  Stream() { cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Owns an event, to time the trials.
class Event {
 public:
  Event() { cuda::check(cudaEventCreate(&event_), "event"); }
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

Blas::Blas() {
  const std::lock_guard lock(device_mutex());
  check(functions().create(&handle_), "start");
  workspace_ = Buffer<std::uint8_t>(workspace_bytes);
}

Blas::~Blas() {
  if (handle_ == nullptr) return;
  const std::lock_guard lock(device_mutex());  // destroy waits for the device
  functions().destroy(handle_);
}

Product::Product(Blas& blas, const ProductShape& shape, const void* a, const void* b, void* c)
    : blas_(blas), shape_(shape) {
  const Functions& lt = functions();
  const bool whole = shape.kind == ProductShape::Kind::int8;
  const cublasComputeType_t compute = whole ? CUBLAS_COMPUTE_32I
                                      : shape.kind == ProductShape::Kind::tf32
                                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F;
  const cudaDataType in = whole ? CUDA_R_8I : CUDA_R_32F, out = whole ? CUDA_R_32I : CUDA_R_32F;
  check(lt.operation_create(&operation_, compute, out), "describe a product");
  const cublasOperation_t turned = shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(lt.operation_set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned),
        "describe a product");
  a_ =
      matrix_layout(in, shape.a_transposed ? shape.k : shape.m,
                    shape.a_transposed ? shape.m : shape.k, shape.lda, shape.batch, shape.stride_a);
  b_ = matrix_layout(in, shape.k, shape.n, shape.ldb, shape.batch, shape.stride_b);
  c_ = matrix_layout(out, shape.m, shape.n, shape.ldc, shape.batch, shape.stride_c);
  choose(a, b, c);
}

Product::~Product() {
  const Functions& lt = functions();
  for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
    if (layout != nullptr) lt.layout_destroy(layout);
  if (operation_ != nullptr) lt.operation_destroy(operation_);
}

// False if the library or the device rejects the algorithm.
bool Product::runs(cudaStream_t stream, const Algorithm& algorithm, const void* a, const void* b,
                   void* c, bool early) const {
  if (!algorithm) return general::multiply_int8(stream, shape_, a, b, c, early);
  return functions().matmul(blas_.handle_, operation_, scalar(one, shape_.kind), a, a_, b, b_,
                            scalar(zero, shape_.kind), c, c_, c, c_, &*algorithm,
                            blas_.workspace_.data(), Blas::workspace_bytes,
                            stream) == CUBLAS_STATUS_SUCCESS;
}

void Product::enqueue(cudaStream_t stream, const Algorithm& algorithm, const void* a, const void* b,
                      void* c, bool early) const {
  if (!runs(stream, algorithm, a, b, c, early)) unavailable("rejects a product");
}

std::vector<Product::Algorithm> Product::candidates() const {
  std::vector<Algorithm> algorithms;
  if (general::int8_fits(shape_)) algorithms.emplace_back();
  if (!algorithms.empty() && only_own_products()) return algorithms;

  const Functions& lt = functions();
  cublasLtMatmulPreference_t preference = nullptr;
  check(lt.preference_create(&preference), "choose an algorithm");
  const std::uint64_t most = Blas::workspace_bytes;
  const std::uint32_t alignment = 16;  // of every operand here, a batch's entries too
  lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most);
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    lt.preference_set(preference, which, &alignment, sizeof alignment);
  std::array<cublasLtMatmulHeuristicResult_t, 16> found{};
  const bool whole = shape_.kind == ProductShape::Kind::int8;
  int count = 0;
  const cublasStatus_t status =
      lt.heuristic(blas_.handle_, operation_, a_, b_, c_, c_, preference,
                   whole ? static_cast<int>(found.size()) : 1, found.data(), &count);
  lt.preference_destroy(preference);
  check(status, "multiply matrices of this shape");
  for (int i = 0; i < count; ++i) algorithms.push_back(found[static_cast<std::size_t>(i)].algo);
  if (algorithms.empty()) unavailable("has no algorithm for matrices of this shape");
  return algorithms;
}

// Times three runs of each candidate, after one that loads its kernel.
void Product::choose(const void* a, const void* b, void* c) {
  const std::lock_guard lock(device_mutex());
  const Stream stream;
  const Event begin, end;
  cuda::check(cudaDeviceSynchronize(), "wait");  // enqueued work may still use the operands
  float best = std::numeric_limits<float>::infinity();
  for (const Algorithm& algorithm : candidates()) {
    if (!runs(stream, algorithm, a, b, c, true))
      continue;  // this first run loads the kernel, before any capture
    cuda::check(cudaEventRecord(begin, stream), "time a product");
    for (int trial = 0; trial < 3; ++trial) enqueue(stream, algorithm, a, b, c, true);
    cuda::check(cudaEventRecord(end, stream), "time a product");
    cuda::check(cudaEventSynchronize(end), "time a product");
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin, end), "time a product");
    if (milliseconds < best) {
      best = milliseconds;
      algorithm_ = algorithm;
    }
  }
  if (best == std::numeric_limits<float>::infinity()) unavailable("rejects every algorithm");
}

void Product::record(Queue& queue, const void* a, const void* b, void* c) const {
  const std::array<const void*, 4> named{this, a, b, c};
  std::string key = "product";
  key.append(reinterpret_cast<const char*>(named.data()), sizeof named);
  queue.add(std::move(key), [this, a, b, c](const Moment& moment) {
    enqueue(moment.stream, algorithm_, a, b, c, moment.early);
  });
}

}  // namespace ticopd::cuda
