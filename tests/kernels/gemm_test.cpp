#include "ticopd/kernels/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "objectives/made_up.hpp"
#include "ticopd/error.hpp"
#include "ticopd/kernels/kernel.hpp"

namespace ticopd {
namespace {

// Read before main, when OpenBLAS is not loaded yet.
const bool threads_were_set = std::getenv("OPENBLAS_NUM_THREADS") != nullptr;
const bool core_was_set = std::getenv("OPENBLAS_CORETYPE") != nullptr;

struct Shape {
  std::size_t m, n, k;
};
const std::vector<Shape> shapes{{1, 1, 1},     {1, 7, 3},    {5, 1, 9},     {3, 4, 0},
                                {4, 32, 256},  {7, 33, 257}, {64, 10, 100}, {13, 100, 301},
                                {100, 31, 65}, {2, 70, 600}, {129, 67, 33}};

template <class T>
T epsilon() {
  return std::numeric_limits<T>::epsilon();
}

// Compares both products with long double. Rows are padded, to find writes behind their end.
template <class T>
void expect_products(Shape s, bool ta, bool tb, T alpha, T beta) {
  const std::size_t lda = (ta ? s.m : s.k) + 3, ldb = (tb ? s.k : s.n) + 1, ldc = s.n + 2;
  const auto a = made_up::normals<T>((ta ? s.k : s.m) * lda + 1, 1);
  const auto b = made_up::normals<T>((tb ? s.n : s.k) * ldb + 1, 2);
  const auto c = made_up::normals<T>(s.m * ldc, 3);
  auto plain = c, fast = c;
  gemm_plain(ta, tb, s.m, s.n, s.k, alpha, a.data(), lda, b.data(), ldb, beta, plain.data(), ldc);
  gemm(ta, tb, s.m, s.n, s.k, alpha, a.data(), lda, b.data(), ldb, beta, fast.data(), ldc);
  for (std::size_t i = 0; i < s.m; ++i)
    for (std::size_t j = 0; j < ldc; ++j) {
      const std::size_t at = i * ldc + j;
      if (j >= s.n) {  // padding behind the row must stay unchanged
        ASSERT_EQ(plain[at], c[at]);
        ASSERT_EQ(fast[at], c[at]);
        continue;
      }
      long double sum = 0, size = 0;
      for (std::size_t p = 0; p < s.k; ++p) {
        const long double term = static_cast<long double>(ta ? a[p * lda + i] : a[i * lda + p]) *
                                 static_cast<long double>(tb ? b[j * ldb + p] : b[p * ldb + j]);
        sum += term;
        size += std::fabs(term);
      }
      const long double want = alpha * sum + static_cast<long double>(beta) * c[at];
      const double room = static_cast<double>(2 + size) * 20 * static_cast<double>(epsilon<T>());
      ASSERT_NEAR(static_cast<double>(plain[at]), static_cast<double>(want), room) << i << ',' << j;
      ASSERT_NEAR(static_cast<double>(fast[at]), static_cast<double>(want), room) << i << ',' << j;
    }
}

template <class T>
class Gemm : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Scalars);

TYPED_TEST(Gemm, BlasAndThePlainLoopAgreeForOddShapesAndAllTranspositions) {
  for (const Shape& shape : shapes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n << " x " << shape.k
                                        << (ta ? " ta" : "") << (tb ? " tb" : ""));
        expect_products<TypeParam>(shape, ta, tb, 1, 0);
        expect_products<TypeParam>(shape, ta, tb, TypeParam(0.5), 1);
        expect_products<TypeParam>(shape, ta, tb, -2, TypeParam(0.25));
      }
}

TYPED_TEST(Gemm, BetaZeroDoesNotReadTheOldValues) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const std::vector<TypeParam> a{1, 2}, b{3, 4};
  std::vector<TypeParam> c{nan}, d{nan};
  gemm<TypeParam>(false, false, 1, 1, 2, 1, a.data(), 2, b.data(), 1, 0, c.data(), 1);
  gemm_plain<TypeParam>(false, false, 1, 1, 2, 1, a.data(), 2, b.data(), 1, 0, d.data(), 1);
  EXPECT_EQ(c[0], TypeParam(11));
  EXPECT_EQ(d[0], TypeParam(11));
}

TYPED_TEST(Gemm, GivesTheSameBitsOnManyThreadsAtOnce) {
  const std::size_t m = 90, n = 61, k = 200;
  const auto a = made_up::normals<TypeParam>(m * k, 1);
  const auto b = made_up::normals<TypeParam>(k * n, 2);
  const auto product = [&] {
    std::vector<TypeParam> c(m * n);
    gemm<TypeParam>(false, false, m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
    return c;
  };
  const auto want = product();
  std::vector<int> different(4);
  std::vector<std::thread> threads;
  for (int& wrong : different)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat) wrong += product() != want;
    });
  for (std::thread& thread : threads) thread.join();
  for (const int wrong : different) EXPECT_EQ(wrong, 0);
}

TEST(Kernel, DefaultIsTheFastestAvailable) {
  const auto all = [](Kernel) { return true; };
  const auto old = [](Kernel k) { return k != Kernel::amx && k != Kernel::avx512; };
  const auto bare = [](Kernel k) { return k == Kernel::plain; };
  EXPECT_EQ(choose_kernel(nullptr, all), Kernel::amx);
  EXPECT_EQ(choose_kernel("", all), Kernel::amx);
  EXPECT_EQ(choose_kernel("auto", old), Kernel::blas);
  EXPECT_EQ(choose_kernel("auto", bare), Kernel::plain);
  EXPECT_EQ(choose_kernel("avx512", all), Kernel::avx512);
  EXPECT_EQ(choose_kernel("blas", all), Kernel::blas);
  EXPECT_EQ(choose_kernel("plain", all), Kernel::plain);
}

TEST(Kernel, UnavailableKernelIsRejectedWithWhatItNeeds) {
  const auto bare = [](Kernel k) { return k == Kernel::plain; };
  for (const auto& [word, needs] : {std::pair("amx", "AMX"), std::pair("avx512", "AVX-512"),
                                    std::pair("blas", "libopenblas")}) {
    try {
      choose_kernel(word, bare);
      FAIL() << word;
    } catch (const UnavailableError& error) {
      EXPECT_NE(std::string(error.what()).find(needs), std::string::npos) << error.what();
    }
  }
  try {
    choose_kernel("blsa", bare);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("TICOPD_KERNEL"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("did you mean \"blas\""), std::string::npos);
  }
}

TEST(Kernel, TableMarksTheKernelInUseAndTheEnvironmentIsUnchanged) {
  int used = 0;
  for (const KernelInfo& kernel : kernel_table()) {
    used += kernel.used;
    if (kernel.used) {
      EXPECT_TRUE(kernel.available);
      EXPECT_EQ(kernel.name, kernel_name());
    }
  }
  EXPECT_EQ(used, 1);
  EXPECT_TRUE(kernel() != Kernel::plain || blas_name() == "plain");
  // The variables set while OpenBLAS was loaded must be restored.
  EXPECT_EQ(std::getenv("OPENBLAS_NUM_THREADS") != nullptr, threads_were_set);
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE") != nullptr, core_was_set);
}

}  // namespace
}  // namespace ticopd
