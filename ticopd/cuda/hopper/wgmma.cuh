#pragma once

#include <cstdint>

// Products of one warp group (four warps) in int8, which only sm_90a has. The operands are K-major
// tiles in shared memory. A product runs until somebody waits for it.
namespace ticopd::cuda::hopper {

// The wgmma operand for rows that begin at an address of shared memory, in the layout of
// swizzle.hpp. 32 bytes further along all rows, the descriptor is larger by 2.
__device__ __forceinline__ std::uint64_t tile_descriptor(std::uint32_t address) {
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | std::uint64_t{1} << 16 |
         std::uint64_t{32} << 32 | std::uint64_t{2} << 62;
}

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// d[64 x n] += A[64 x 32] B[n x 32]^T in integers: A has unsigned or signed bytes, B signed ones. n
// is twice the number of registers. Lane 4 g + t of warp w has rows 16 w + g (and + 8: d[4 b + 2]
// and d[4 b + 3]), columns 8 b + 2 t and the next. One text serves all shapes: only the numbers of
// columns and registers differ.
// clang-format off
#define TICOPD_SUMS_64                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TICOPD_SUMS_72 TICOPD_SUMS_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define TICOPD_SUMS_80 TICOPD_SUMS_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define TICOPD_REGISTERS_64(d)                                                                   \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]),                        \
  "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]),                      \
  "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]),                  \
  "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]),                  \
  "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]),                  \
  "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]),                  \
  "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]),                  \
  "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]),                  \
  "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]),                  \
  "+r"(d[54]), "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]),                  \
  "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
#define TICOPD_REGISTERS_72(d)                                                                   \
  TICOPD_REGISTERS_64(d), "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]),                    \
  "+r"(d[68]), "+r"(d[69]), "+r"(d[70]), "+r"(d[71])
#define TICOPD_REGISTERS_80(d)                                                                   \
  TICOPD_REGISTERS_72(d), "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]),                    \
  "+r"(d[76]), "+r"(d[77]), "+r"(d[78]), "+r"(d[79])

#define TICOPD_WGMMA(name, columns, type, registers, a_place, b_place)                             \
  __device__ __forceinline__ void name(std::int32_t (&d)[registers], std::uint64_t a,             \
                                       std::uint64_t b) {                                         \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k32.s32." #type ".s8 {"            \
                 TICOPD_SUMS_##registers " }, %" #a_place ", %" #b_place ", 1;"                    \
                 : TICOPD_REGISTERS_##registers(d)                                                 \
                 : "l"(a), "l"(b));                                                               \
  }
TICOPD_WGMMA(wgmma_u8, 160, u8, 80, 80, 81)
TICOPD_WGMMA(wgmma_u8, 144, u8, 72, 72, 73)
TICOPD_WGMMA(wgmma_s8, 160, s8, 80, 80, 81)
TICOPD_WGMMA(wgmma_s8, 128, s8, 64, 64, 65)
// clang-format on

#undef TICOPD_WGMMA
#undef TICOPD_REGISTERS_80
#undef TICOPD_REGISTERS_72
#undef TICOPD_REGISTERS_64
#undef TICOPD_SUMS_80
#undef TICOPD_SUMS_72
#undef TICOPD_SUMS_64

}  // namespace ticopd::cuda::hopper
