#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>

#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"
#include "ticopd/system/cpu.hpp"
#include "ticopd/system/library.hpp"

namespace ticopd {
namespace {

// The C interface of BLAS, declared here because the library is loaded, not linked: OpenBLAS picks
// its kernels in a constructor, so the core type must be set before the loader runs it; and the
// program must start on machines without any BLAS.
template <class T>
using CblasGemm = void (*)(int order, int ta, int tb, int m, int n, int k, T alpha, const T* a,
                           int lda, const T* b, int ldb, T beta, T* c, int ldc);
constexpr int cblas_row_major = 101;
constexpr int cblas_no_trans = 111;
constexpr int cblas_trans = 112;

struct OpenBlas {
  CblasGemm<float> sgemm = nullptr;
  CblasGemm<double> dgemm = nullptr;
  std::string name;
  // Debian's libopenblas0-serial is built without locks: two calls at once may get the same working
  // memory and silently compute wrong results. So only one thread at a time calls such a library.
  bool one_at_a_time = false;
};

// Sets an environment variable for its own lifetime, unless the user has set it.
class LentVariable {
 public:
  LentVariable(const char* name, const char* value) : name_(name) {
    if (value == nullptr || std::getenv(name) != nullptr) return;
    lent_ = ::setenv(name, value, 0) == 0;
  }
  ~LentVariable() {
    if (lent_) ::unsetenv(name_);
  }
  LentVariable(const LentVariable&) = delete;
  LentVariable& operator=(const LentVariable&) = delete;

 private:
  const char* name_;
  bool lent_ = false;
};

// OpenBLAS 0.3.21 knows CPUs by family and model. For newer CPUs it falls back to SSE3, and for
// some it chooses instructions that they lack. The CPU's own feature flags are more reliable. Null:
// leave the choice to OpenBLAS.
const char* core_type() {
  if (cpu_has_avx512()) return "SkylakeX";
  if (cpu_has_avx2()) return "Haswell";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) return "Sandybridge";
  if (__builtin_cpu_supports("sse4.2")) return "Nehalem";
  if (__builtin_cpu_supports("sse3")) return "Prescott";
#endif
  return nullptr;
}

template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

// "OpenBLAS 0.3.21 SkylakeX": the first two words of its configuration, and the core in use.
std::string describe(void* library) {
  const auto config = symbol<char* (*)()>(library, "openblas_get_config");
  const auto core = symbol<char* (*)()>(library, "openblas_get_corename");
  std::string text = config != nullptr ? config() : "OpenBLAS";
  if (const auto first = text.find(' '); first != std::string::npos)
    text.resize(std::min(text.find(' ', first + 1), text.size()));
  if (core != nullptr) text += std::string(" ") + core();
  return text;
}

std::atomic<bool> own_copy = false;

void* open_library() {
  const LentVariable core("OPENBLAS_CORETYPE", core_type());
  const LentVariable threads("OPENBLAS_NUM_THREADS", "1");  // else a pool starts with the library
  constexpr const char* name = "libopenblas.so.0";
  if (own_copy)
    if (void* library = open_own_copy(name)) return library;
  return ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

std::optional<OpenBlas> load() {
  void* const library = open_library();
  if (library == nullptr) return std::nullopt;
  OpenBlas blas;
  blas.sgemm = symbol<CblasGemm<float>>(library, "cblas_sgemm");
  blas.dgemm = symbol<CblasGemm<double>>(library, "cblas_dgemm");
  if (blas.sgemm == nullptr || blas.dgemm == nullptr) return std::nullopt;
  if (const auto set_threads = symbol<void (*)(int)>(library, "openblas_set_num_threads"))
    set_threads(1);
  const auto parallel = symbol<int (*)()>(library, "openblas_get_parallel");
  blas.one_at_a_time = parallel == nullptr || parallel() == 0;
  blas.name = describe(library);
  return blas;  // the library stays loaded to the end of the process
}

const std::optional<OpenBlas>& open_blas() {
  static const std::optional<OpenBlas> blas = [] {
    if (!own_copy) return load();
    // On a thread of its own: an OpenBLAS that is built with OpenMP sets the number of threads of
    // its caller's loops too.
    std::optional<OpenBlas> loaded;
    std::thread([&] { loaded = load(); }).join();
    return loaded;
  }();
  return blas;
}

// Null: the plain loop, because it was asked for or there is nothing else.
const OpenBlas* blas_in_use() {
  static const OpenBlas* const chosen =
      kernel() != Kernel::plain && open_blas() ? &*open_blas() : nullptr;
  return chosen;
}

}  // namespace

void own_blas() {
  own_copy = true;
}

bool blas_is_there() {
  return open_blas().has_value();
}

std::string blas_name() {
  return blas_in_use() != nullptr ? blas_in_use()->name : "plain";
}

template <class T>
void gemm(bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, T alpha, const T* a,
          std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc) {
  constexpr std::size_t most = std::numeric_limits<int>::max();  // BLAS counts in int
  const bool fits =
      m <= most && n <= most && k <= most && lda <= most && ldb <= most && ldc <= most;
  const OpenBlas* blas = blas_in_use();
  if (blas == nullptr || !fits || m == 0 || n == 0)
    return gemm_plain(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  CblasGemm<T> call;
  if constexpr (std::is_same_v<T, float>)
    call = blas->sgemm;
  else
    call = blas->dgemm;
  static std::mutex one_call;
  std::unique_lock lock(one_call, std::defer_lock);
  if (blas->one_at_a_time) lock.lock();
  call(cblas_row_major, ta ? cblas_trans : cblas_no_trans, tb ? cblas_trans : cblas_no_trans,
       static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
       static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

template void gemm(bool, bool, std::size_t, std::size_t, std::size_t, float, const float*,
                   std::size_t, const float*, std::size_t, float, float*, std::size_t);
template void gemm(bool, bool, std::size_t, std::size_t, std::size_t, double, const double*,
                   std::size_t, const double*, std::size_t, double, double*, std::size_t);

}  // namespace ticopd
