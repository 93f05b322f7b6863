#pragma once

// A template is compiled with the instruction set of the program that uses it. A binary for any
// x86-64 has vectors of four floats. with_widest_vectors(loop) runs loop() with the widest vectors
// that the CPU has: loop, and everything inlined into it, is compiled once for each kind. Without
// contraction and reassociation all kinds give the same bits, so only speed differs.

namespace ticopd {

enum class Vectors { plain, avx2, avx512 };

Vectors vectors();  // what with_widest_vectors() uses: at first the widest that the CPU has
bool use_vectors(Vectors kind);  // for tests; false, and no change, where the CPU lacks them

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)  // has no such option in an attribute
#define TICOPD_WHOLE_REGISTERS
#else
#define TICOPD_WHOLE_REGISTERS ",prefer-vector-width=512"
#endif

template <class Loop>
__attribute__((flatten, target("avx512f,avx512vl,avx512dq,avx512bw" TICOPD_WHOLE_REGISTERS))) void
widest_avx512(const Loop& loop) {
  loop();
}

template <class Loop>
__attribute__((flatten, target("avx2"))) void widest_avx2(const Loop& loop) {
  loop();
}

template <class Loop>
void with_widest_vectors(const Loop& loop) {
  switch (vectors()) {
    case Vectors::avx512:
      return widest_avx512(loop);
    case Vectors::avx2:
      return widest_avx2(loop);
    case Vectors::plain:
      return loop();
  }
}

#undef TICOPD_WHOLE_REGISTERS
#else
template <class Loop>
void with_widest_vectors(const Loop& loop) {
  loop();
}
#endif

}  // namespace ticopd
