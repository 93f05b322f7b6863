#pragma once

// TICOPD_CLONES before a function: it is compiled for several instruction sets and the loader picks
// one. Without contraction and reassociation all of them give the same bits, so only speed differs.
// Under sanitizers it is plain code, because they are not set up yet when the loader runs the
// resolvers; likewise with compilers and C libraries other than GCC's and GNU's, which lack parts
// of it.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12  // byte and word operations in 512 bits too
#define TICOPD_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define TICOPD_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#endif
#else
#define TICOPD_CLONES
#endif

#if defined(__FAST_MATH__)
#error "ticopd promises the same bits for the same seed: build without -ffast-math"
#endif
