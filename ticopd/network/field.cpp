#include "ticopd/network/field.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace ticopd {
namespace {

constexpr std::size_t line = 64, large_page = std::size_t{2} << 20;
// Below this size a partly used large page would waste more memory than it is worth.
constexpr std::size_t much = std::size_t{32} << 20;

}  // namespace

void* allocate_lines(std::size_t bytes) {
  const std::size_t unit = bytes >= much ? large_page : line;
  void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr && bytes > 0) throw std::bad_alloc();
  // Only a hint: if the system ignores it, pages are small and nothing else changes.
  if (bytes >= much) (void)::madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);
  return memory;
}

void free_lines(void* memory) {
  std::free(memory);
}

}  // namespace ticopd
