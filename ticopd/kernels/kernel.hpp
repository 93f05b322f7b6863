#pragma once

#include <span>
#include <string_view>

namespace ticopd {

// What takes the products with the features, the fastest first.
enum class Kernel { amx, avx512, blas, plain };

// The kernel of this process: TICOPD_KERNEL, or the fastest this machine has. Chosen at first use.
// Throws ConfigError for a word that is no kernel, UnavailableError for one that is not to be had.
Kernel kernel();
std::string_view kernel_name();

struct KernelInfo {
  std::string_view name;
  std::string_view summary;
  bool available;  // on this machine
  bool used;       // by this process
};
std::span<const KernelInfo> kernel_table();

// The choice itself, for a value of TICOPD_KERNEL (null, "" or "auto": the fastest there is).
// `is_there` is asked of as few kernels as will do: to ask for blas is to load it.
Kernel choose_kernel(const char* wanted, bool (*is_there)(Kernel));

// Whether this machine can run it.
bool kernel_is_there(Kernel kernel);

}  // namespace ticopd
