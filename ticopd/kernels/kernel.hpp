#pragma once

#include <span>
#include <string_view>

namespace ticopd {

// The ways to compute the products with the features, fastest first.
enum class Kernel { amx, avx512, blas, plain };

// The kernel of this process: TICOPD_KERNEL, or the fastest this machine has. Chosen at first use.
// Throws ConfigError for an unknown name, UnavailableError for a kernel that this machine does not
// have.
Kernel kernel();
std::string_view kernel_name();

struct KernelInfo {
  std::string_view name;
  std::string_view summary;
  bool available;  // on this machine
  bool used;       // by this process
};
std::span<const KernelInfo> kernel_table();

// The choice for a value of TICOPD_KERNEL (null, "" or "auto": the fastest available). It calls
// `is_there` for as few kernels as possible, because asking for blas loads it.
Kernel choose_kernel(const char* wanted, bool (*is_there)(Kernel));

// True if this machine can run it.
bool kernel_is_there(Kernel kernel);

}  // namespace ticopd
