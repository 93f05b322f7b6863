#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "ticopd/capi/call.hpp"
#include "ticopd/error.hpp"

namespace ticopd::capi {
namespace {

// An infinity or a NaN has all bits of its exponent set. A loop over bits is vectorised; one over
// std::isfinite, which may not assume that there are NaNs, is not.
template <class T, class Bits, Bits exponent>
bool copy_finite(T* to, const T* from, std::size_t count) {
  Bits found = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Bits bits = std::bit_cast<Bits>(from[k]);
    found |= static_cast<Bits>((bits & exponent) == exponent);
    to[k] = from[k];
  }
  return found == 0;
}

template <class T>
bool gather(void* row, const void* const* parts, const std::size_t* counts, std::size_t number) {
  auto* to = static_cast<T*>(row);
  bool finite = true;
  for (std::size_t p = 0; p < number; ++p) {
    if (parts[p] == nullptr)
      std::memset(to, 0, counts[p] * sizeof(T));
    else if constexpr (sizeof(T) == sizeof(float))
      finite &= copy_finite<T, std::uint32_t, 0x7f800000u>(to, static_cast<const T*>(parts[p]),
                                                           counts[p]);
    else
      finite &= copy_finite<T, std::uint64_t, 0x7ff0000000000000u>(
          to, static_cast<const T*>(parts[p]), counts[p]);
    to += counts[p];
  }
  return finite;
}

}  // namespace
}  // namespace ticopd::capi

using namespace ticopd;
using namespace ticopd::capi;

extern "C" int tc_gather(void* row, const void* const* parts, const size_t* counts, size_t number,
                         int precision) {
  return capi::call([&] {
    require(row, "row");
    require(parts, "parts");
    require(counts, "counts");
    if (precision != TC_FLOAT && precision != TC_DOUBLE)
      throw UsageError(
          fmt::format("precision = {}: allowed are TC_FLOAT and TC_DOUBLE", precision));
    const bool finite = precision == TC_FLOAT ? gather<float>(row, parts, counts, number)
                                              : gather<double>(row, parts, counts, number);
    if (!finite) throw FormatError("gather: not all numbers are finite");
  });
}
