#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ticopd {

// The tile unit (AMX): eight registers of 16 rows x 64 bytes, and an instruction that multiplies
// two of them into a third. Kernels are templates over the hardware or an emulation of the same
// five operations, so all of their indexing is tested on any machine.
inline constexpr std::size_t tile_rows = 16;
inline constexpr std::size_t tile_row_bytes = 64;
inline constexpr std::size_t tile_bytes = tile_rows * tile_row_bytes;
inline constexpr std::size_t tile_registers = 8;

// Operands lie in memory as pairs of tiles: 32 rows of the first operand, 32 columns of the second,
// for 64 entries (a step) of the sum over both.
inline constexpr std::size_t tile_pair = 2 * tile_bytes;
inline constexpr std::size_t panel_columns = 32;

class EmulatedTiles {
 public:
  template <int R>
  void zero() {
    std::memset(tile_[R], 0, tile_bytes);
  }

  template <int R>
  void load(const void* at, std::size_t stride) {
    for (std::size_t r = 0; r < tile_rows; ++r)
      std::memcpy(tile_[R][r], static_cast<const char*>(at) + r * stride, tile_row_bytes);
  }

  template <int R>
  void store(void* at, std::size_t stride) const {
    for (std::size_t r = 0; r < tile_rows; ++r)
      std::memcpy(static_cast<char*>(at) + r * stride, tile_[R][r], tile_row_bytes);
  }

  // TDPBSUD: C(m, n) += sum over k of A(m, k) B(k, n). C is 16 x 16 of int32, A 16 x 64 of signed
  // bytes; B is 64 x 16 of unsigned bytes with four k in a group: B(k, n) in row k / 4 at 4 n + k
  // % 4.
  template <int C, int A, int B>
  void multiply_add() {
    for (std::size_t m = 0; m < tile_rows; ++m) {
      std::uint32_t sum[16];  // unsigned: it wraps around, like the hardware's
      std::memcpy(sum, tile_[C][m], sizeof sum);
      for (std::size_t k = 0; k < tile_row_bytes; ++k) {
        const auto a = static_cast<std::int8_t>(tile_[A][m][k]);
        for (std::size_t n = 0; n < 16; ++n)
          sum[n] += static_cast<std::uint32_t>(a * tile_[B][k / 4][4 * n + k % 4]);
      }
      std::memcpy(tile_[C][m], sum, sizeof sum);
    }
  }

 private:
  alignas(64) std::uint8_t tile_[tile_registers][tile_rows][tile_row_bytes] = {};
};

#if defined(__x86_64__)

// The registers of the calling thread, from construction to destruction. Only where cpu_has_amx().
// In assembly, because register numbers are part of the instruction: the intrinsics take no
// template parameters for them, and GCC's do not tell the compiler that memory is read.
class HardwareTiles {
 public:
  HardwareTiles() {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {};
      std::uint8_t rows[16] = {};
    } shape;
    static_assert(sizeof shape == 64);
    for (std::size_t r = 0; r < tile_registers; ++r) {
      shape.row_bytes[r] = tile_row_bytes;
      shape.rows[r] = tile_rows;
    }
    asm volatile("ldtilecfg %0" : : "m"(shape));
  }
  ~HardwareTiles() { asm volatile("tilerelease"); }
  HardwareTiles(const HardwareTiles&) = delete;
  HardwareTiles& operator=(const HardwareTiles&) = delete;

  template <int R>
  void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(R));
  }

  template <int R>
  void load(const void* at, std::size_t stride) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(R), "r"(at), "r"(stride) : "memory");
  }

  template <int R>
  void store(void* at, std::size_t stride) const {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(R), "r"(at), "r"(stride) : "memory");
  }

  template <int C, int A, int B>
  void multiply_add() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
};

#endif

}  // namespace ticopd
