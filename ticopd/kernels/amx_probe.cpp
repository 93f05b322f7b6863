// A processor that reports AMX may still not let us use it: the system must save the tiles when it
// switches threads and must have granted them to this process, and some virtual machines report AMX
// and then fault. (The table of tile sizes, CPUID leaf 0x1D, can be zero on working machines, so it
// is not used.) The reliable test is a product with the right result. It runs in a child process,
// so an illegal instruction ends only the child.
#include "ticopd/kernels/amx_probe.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "ticopd/kernels/base256_product.hpp"
#include "ticopd/kernels/tiles.hpp"
#include "ticopd/system/cpu.hpp"

namespace ticopd {
namespace {

bool processor_names_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!cpu_has_avx512() || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned amx_tile = 1u << 24, amx_int8 = 1u << 25;
  return (d & amx_tile) != 0 && (d & amx_int8) != 0;
}

// AVX-512 is there, so this register is.
bool system_saves_tiles() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr std::uint32_t configuration_and_data = 3u << 17;
  return (low & configuration_and_data) == configuration_and_data;
}

// Granted to the whole process, threads that already run included, and to children by fork.
bool system_grants_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

// Two steps of the kernel itself, all eight registers, on bytes of all values; compared with the
// emulation.
bool product_is_right() {
  constexpr std::size_t steps = 2, sums = 4 * tile_rows * tile_rows;
  alignas(64) std::int8_t a[steps * tile_pair];
  alignas(64) std::uint8_t b[steps * tile_pair];
  alignas(64) std::int32_t hardware[sums] = {}, emulated[sums] = {};
  for (std::size_t k = 0; k < steps * tile_pair; ++k) {
    a[k] = static_cast<std::int8_t>(k * 151 + k / 256);
    b[k] = static_cast<std::uint8_t>(k * 91 + k / 128);
  }
  Ahead none;
  {
    HardwareTiles tiles;
    multiply_tiles<true>(tiles, a, b, steps, hardware, none);
  }
  EmulatedTiles tiles;
  multiply_tiles<true>(tiles, a, b, steps, emulated, none);
  return std::memcmp(hardware, emulated, sizeof hardware) == 0;
}

// The answer comes through shared memory: the child's exit status may be taken by other code in
// this process that waits for children, or be lost if they are ignored.
bool child_says_it_is_right() {
  void* const page =
      mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  auto* const right = static_cast<volatile bool*>(page);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (const int fault : {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP}) signal(fault, SIG_DFL);
    *right = product_is_right();
    _exit(0);
  }
  if (child > 0)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  const bool answer = child > 0 && *right;
  munmap(page, sizeof(bool));
  return answer;
}

}  // namespace

bool cpu_has_amx() {
  static const bool has = processor_names_amx() && system_saves_tiles() && system_grants_tiles() &&
                          child_says_it_is_right();
  return has;
}

}  // namespace ticopd

#else

namespace ticopd {

bool cpu_has_amx() {
  return false;
}

}  // namespace ticopd

#endif
