// A data set in its three kinds of storage: bytes, dense numbers and sparse rows.
#include "ticopd/data/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ticopd/data/normalize.hpp"

namespace ticopd {
namespace {

template <class T>
class DatasetOf : public ::testing::Test {
 protected:
  // Three samples of three features, the same numbers in three kinds of storage.
  static Dataset<T> bytes() {
    return {3, 3, std::vector<std::uint8_t>{0, 255, 0, 51, 0, 0, 0, 0, 102}, {7, 8, 9}};
  }
  static Dataset<T> dense() {
    return {3, 3, std::vector<T>{0, 1, 0, T(0.2), 0, 0, 0, 0, T(0.4)}, {7, 8, 9}};
  }
  static Dataset<T> sparse() {
    return {3, 3, SparseRows<T>{{0, 1, 2, 3}, {1, 0, 2}, {T(1), T(0.2), T(0.4)}}, {7, 8, 9}};
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DatasetOf, Types);

TYPED_TEST(DatasetOf, ReadsTheSameRowsFromEveryStorage) {
  using T = TypeParam;
  for (const auto& data : {this->bytes(), this->dense(), this->sparse()}) {
    std::vector<T> x(9, T(-1));
    data.read(0, 3, x.data());
    const std::vector<T> expected{0, 1, 0, T(0.2), 0, 0, 0, 0, T(0.4)};
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(x[k], expected[k], 1e-7);
    std::vector<T> part(6, T(-1));
    data.read(std::vector<std::uint32_t>{2, 0}, part.data());
    const std::vector<T> picked{0, 0, T(0.4), 0, 1, 0};
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(part[k], picked[k], 1e-7);
  }
}

TYPED_TEST(DatasetOf, SelectsInTheGivenOrderAndKeepsTheKindOfStorage) {
  using T = TypeParam;
  for (const auto& data : {this->bytes(), this->dense(), this->sparse()}) {
    const auto some = data.select(std::vector<std::uint32_t>{2, 1, 2});
    EXPECT_EQ(some.samples(), 3u);
    EXPECT_EQ(some.labels(), (std::vector<double>{9, 8, 9}));
    EXPECT_EQ(some.raw().index(), data.raw().index());
    std::vector<T> a(9), b(9);
    some.read(0, 3, a.data());
    data.read(std::vector<std::uint32_t>{2, 1, 2}, b.data());
    EXPECT_EQ(a, b);
    EXPECT_EQ(data.select({}).samples(), 0u);
  }
}

TYPED_TEST(DatasetOf, CountsTheBytesItHolds) {
  EXPECT_EQ(this->bytes().bytes(), 9 + 3 * sizeof(double));
  EXPECT_EQ(this->dense().bytes(), 9 * sizeof(TypeParam) + 3 * sizeof(double));
}

TYPED_TEST(DatasetOf, PixelsAreScaledWithinOneUnitInTheLastPlace) {
  using T = TypeParam;
  std::vector<std::uint8_t> all(256);
  for (std::size_t k = 0; k < 256; ++k) all[k] = static_cast<std::uint8_t>(k);
  std::vector<T> x(256);
  Dataset<T>(1, 256, all, {0}).read(0, 1, x.data());
  for (std::size_t k = 0; k < 256; ++k) {
    const T exact = static_cast<T>(k) / T(255);
    EXPECT_LE(std::abs(x[k] - exact), std::nextafter(exact, T(2)) - exact);
  }
  EXPECT_EQ(x[0], T(0));
  EXPECT_EQ(x[255], T(1));
}

TYPED_TEST(DatasetOf, NormalizesByTheTrainingSamplesOnly) {
  using T = TypeParam;
  for (const auto& train : {this->bytes(), this->dense(), this->sparse()}) {
    TrainTest<T> data{train, Dataset<T>(1, 3, std::vector<T>{2, 2, 2}, {0}), 3, ""};
    normalize(data);
    std::vector<T> x(9), y(3);
    data.train.read(0, 3, x.data());
    data.test.read(0, 1, y.data());
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(x[k] + x[3 + k] + x[6 + k], 0, 1e-6);
      EXPECT_NEAR(x[k] * x[k] + x[3 + k] * x[3 + k] + x[6 + k] * x[6 + k], 3, 1e-5);
    }
    EXPECT_NEAR(y[1], (2 - 1.0 / 3) / std::sqrt(2.0 / 9), 1e-5);
  }
}

TYPED_TEST(DatasetOf, NormalizingAConstantFeatureOnlyShiftsIt) {
  using T = TypeParam;
  TrainTest<T> data{Dataset<T>(3, 1, std::vector<T>(3, T(0.1)), {0, 0, 0}), {}, 0, ""};
  normalize(data);
  std::vector<T> x(3);
  data.train.read(0, 3, x.data());
  for (const T v : x) EXPECT_NEAR(v, 0, 1e-9);
}

}  // namespace
}  // namespace ticopd
