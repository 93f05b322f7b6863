#include "ticopd/kernels/kernel.hpp"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/kernels/amx_probe.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/system/cpu.hpp"

namespace ticopd {
namespace {

struct Entry {
  std::string_view name;
  std::string_view summary;
  bool (*is_there)();
  std::string_view needs;
};

// In the order of Kernel.
constexpr std::array<Entry, 4> entries{{
    {"amx", "pixels times weights in three int8 digits on the tile unit, exact sums", cpu_has_amx,
     "a processor with AMX (int8), and Linux 5.16 or later"},
    {"avx512", "pixels with ink only, as index and value, in float vectors", cpu_has_avx512,
     "a processor with AVX-512 (F, BW, CD, DQ, VL)"},
    {"blas", "matrix products by OpenBLAS, loaded at run time", blas_is_there,
     "libopenblas.so.0 (Debian: libopenblas0-pthread)"},
    {"plain", "a portable blocked loop: the same bits on every machine", [] { return true; }, ""},
}};

const Entry& entry(Kernel kernel) {
  return entries[static_cast<std::size_t>(kernel)];
}

}  // namespace

bool kernel_is_there(Kernel kernel) {
  return entry(kernel).is_there();
}

Kernel choose_kernel(const char* wanted, bool (*is_there)(Kernel)) {
  const std::string_view word = wanted == nullptr || *wanted == '\0' ? "auto" : wanted;
  std::vector<std::string_view> words{"auto"};
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto kernel = static_cast<Kernel>(k);
    words.push_back(entries[k].name);
    if (word == "auto" && is_there(kernel)) return kernel;
    if (word != entries[k].name) continue;
    if (is_there(kernel)) return kernel;
    throw UnavailableError("TICOPD_KERNEL = \"" + std::string(word) + "\" needs " +
                           std::string(entries[k].needs) + ", not found here");
  }
  throw ConfigError(not_allowed("TICOPD_KERNEL", word, words));
}

// A choice that throws is tried again by the next caller.
Kernel kernel() {
  static const Kernel chosen = choose_kernel(std::getenv("TICOPD_KERNEL"), kernel_is_there);
  return chosen;
}

std::string_view kernel_name() {
  return entry(kernel()).name;
}

std::span<const KernelInfo> kernel_table() {
  static const auto table = [] {
    std::array<KernelInfo, entries.size()> infos;
    for (std::size_t k = 0; k < infos.size(); ++k)
      infos[k] = {entries[k].name, entries[k].summary, entries[k].is_there(),
                  static_cast<Kernel>(k) == kernel()};
    return infos;
  }();
  return table;
}

}  // namespace ticopd
