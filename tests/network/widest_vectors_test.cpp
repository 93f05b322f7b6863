// net.map gives the same bits with every vector width that this CPU has.
#include "ticopd/system/widest_vectors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "dense/problem.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/network/cpu.hpp"

namespace ticopd::dense {
namespace {

constexpr Vectors kinds[] = {Vectors::plain, Vectors::avx2, Vectors::avx512};

struct Restore {
  Vectors before = vectors();
  ~Restore() { use_vectors(before); }
};

TEST(WidestVectors, UseOnlyInstructionsOfThisCpu) {
  const Restore restore;
  EXPECT_TRUE(use_vectors(Vectors::plain));
  EXPECT_EQ(vectors(), Vectors::plain);
  for (const Vectors kind : kinds) {
    const Vectors before = vectors();
    EXPECT_EQ(vectors(), use_vectors(kind) ? kind : before);
  }
}

template <class T>
class EveryKind : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EveryKind, Scalars);

// One round of a formula that reads a field, a mixture and a constant per agent.
template <class T>
std::vector<T> one_map(const Graph& graph, std::size_t d, int threads) {
  LeastSquares<T> f(ProblemSize{graph.agents(), d, 1});
  CodecOptions o;
  o.kind = "qsgd";
  const auto codec = make_codec<T>(o);
  Alone alone;
  Pool pool(threads);
  CpuNetwork<T> net(
      {.graph = graph, .objective = f, .codec = *codec, .transport = alone, .pool = pool});
  net.begin_round(1);
  auto x = net.field(), lambda = net.field(), grad = net.field();
  for (std::size_t i = 0; i < x.rows(); ++i) {
    Generator random(Noise{4, static_cast<std::uint32_t>(i), 0, stream_synthetic});
    for (std::size_t k = 0; k < d; ++k) {
      x.row(i)[k] = static_cast<T>(random.normal());
      lambda.row(i)[k] = static_cast<T>(random.normal());
      grad.row(i)[k] = static_cast<T>(random.normal());
    }
  }
  CpuMirror<T> mirror(net, net.laplacian(), 0);
  mirror.send(x, T(0.9));
  mirror.receive();
  using Step = TiCoPD::PrimalDual<T>;
  net.map(Step{T(0.1), T(0.3), T(0.7), T(0.6)}, x, lambda, mirror.own(), mirror.mixed(), grad);
  net.map([](T& to, T from, T w) { to = w * from; }, grad, x, net.self_weight());
  std::vector<T> all;
  for (const auto* rows : {&x, &lambda, &grad})
    all.insert(all.end(), rows->data(), rows->data() + rows->size());
  return all;
}

TYPED_TEST(EveryKind, EveryVectorWidthGivesTheSameBits) {
  using T = TypeParam;
  const Restore restore;
  // 40 rows fill several row blocks. The hub of the star has more neighbours than one pass adds.
  for (const Graph& graph : {ring(5), star(12), ring(40), complete(3)})
    for (const std::size_t d : {17, 1023, 2500}) {
      ASSERT_TRUE(use_vectors(Vectors::plain));
      const std::vector<T> expected = one_map<T>(graph, d, 1);
      for (const Vectors kind : kinds)
        for (const int threads : {1, 3})
          if (use_vectors(kind)) {
            const std::vector<T> got = one_map<T>(graph, d, threads);
            ASSERT_EQ(std::memcmp(got.data(), expected.data(), sizeof(T) * got.size()), 0)
                << "vectors " << static_cast<int>(kind) << ", d " << d;
          }
    }
}

}  // namespace
}  // namespace ticopd::dense
