#include "ticopd/data/synthetic.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "data/temporary.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix dense(const Dataset<double>& data, bool with_one) {
  Matrix x(data.samples(), data.features());
  data.read(0, data.samples(), x.data());
  if (with_one) {
    x.conservativeResize(Eigen::NoChange, x.cols() + 1);
    x.col(x.cols() - 1).setOnes();
  }
  return x;
}

// Test accuracy of the least-squares linear classifier.
double linear_accuracy(const TrainTest<double>& data) {
  const Matrix x = dense(data.train, true);
  Matrix y = Matrix::Zero(x.rows(), data.classes);
  for (Eigen::Index s = 0; s < x.rows(); ++s)
    y(s, static_cast<Eigen::Index>(data.train.labels()[static_cast<std::size_t>(s)])) = 1;
  const Matrix gram = x.transpose() * x + 1e-3 * Matrix::Identity(x.cols(), x.cols());
  const Matrix scores = dense(data.test, true) * gram.ldlt().solve(x.transpose() * y);
  int right = 0;
  for (Eigen::Index s = 0; s < scores.rows(); ++s) {
    Eigen::Index best = 0;
    scores.row(s).maxCoeff(&best);
    right += static_cast<double>(best) == data.test.labels()[static_cast<std::size_t>(s)];
  }
  return right / static_cast<double>(scores.rows());
}

TEST(SyntheticClasses, ALinearModelSeparatesTheClasses) {
  EXPECT_GT(linear_accuracy(synthetic_classes<double>(2000, 64, 10, 1)), 0.9);
  EXPECT_GT(linear_accuracy(synthetic_classes<double>(1000, 20, 3, 7)), 0.9);
}

TEST(SyntheticClasses, HaveTheRequestedSizesAndEveryClass) {
  const auto data = synthetic_classes<float>(103, 5, 4, 1);
  EXPECT_EQ(data.train.samples(), 103u);
  EXPECT_EQ(data.test.samples(), 20u);
  EXPECT_EQ(data.train.features(), 5u);
  EXPECT_EQ(data.classes, 4);
  for (int c = 0; c < 4; ++c)
    EXPECT_GE(std::count(data.train.labels().begin(), data.train.labels().end(), c), 25);
}

TEST(SyntheticData, IsTheSameInFloatAndDoubleForAnyLength) {
  const auto in_double = dense(synthetic_classes<double>(50, 6, 3, 4).train, false);
  const auto longer = dense(synthetic_classes<double>(80, 6, 3, 4).train, false);
  const auto other = dense(synthetic_classes<double>(50, 6, 3, 5).train, false);
  std::vector<float> in_float(300);
  synthetic_classes<float>(50, 6, 3, 4).train.read(0, 50, in_float.data());
  for (Eigen::Index k = 0; k < 300; ++k)
    EXPECT_EQ(in_double.data()[k], static_cast<double>(in_float[static_cast<std::size_t>(k)]));
  EXPECT_EQ(longer.topRows(50), in_double);
  EXPECT_NE(other, in_double);
}

TEST(SyntheticRegression, IsLinearWithNoiseOfATenth) {
  const auto data = synthetic_regression<double>(2000, 10, 3);
  const Matrix x = dense(data.train, false);
  const Eigen::Map<const Eigen::VectorXd> y(data.train.labels().data(), 2000);
  const Eigen::VectorXd w = x.colPivHouseholderQr().solve(y);
  EXPECT_NEAR((x * w - y).norm() / std::sqrt(2000), 0.1, 0.01);
  EXPECT_GT(w.norm(), 0.3);
  const Eigen::Map<const Eigen::VectorXd> z(data.test.labels().data(), 400);
  EXPECT_NEAR((dense(data.test, false) * w - z).norm() / std::sqrt(400), 0.1, 0.02);
  EXPECT_EQ(data.classes, 0);
}

TEST(Digits, ALinearModelReadsMostGeneratedDigits) {
  const auto data = digits<double>(3000, 1);
  EXPECT_EQ(data.train.features(), 784u);
  EXPECT_EQ(data.test.samples(), 500u);
  EXPECT_EQ(data.classes, 10);
  EXPECT_TRUE(std::holds_alternative<std::vector<std::uint8_t>>(data.train.raw()));
  const Matrix x = dense(data.train, false);
  EXPECT_GT(x.mean(), 0.03);
  EXPECT_LT(x.mean(), 0.3);
  EXPECT_GT(linear_accuracy(data), 0.8);  // MNIST: 0.86
}

TEST(SyntheticData, RejectsSizesOutOfRange) {
  expect_refused<ConfigError>([] { synthetic_classes<float>(0, 5, 2, 1); },
                              {"problem.samples = 0"});
  expect_refused<ConfigError>([] { synthetic_classes<float>(5, 0, 2, 1); },
                              {"problem.features = 0"});
  expect_refused<ConfigError>([] { synthetic_classes<float>(5, 5, 1, 1); },
                              {"problem.classes = 1"});
  expect_refused<ConfigError>([] { synthetic_classes<float>(1000000, std::size_t{1} << 60, 2, 1); },
                              {"problem.features"});
  expect_refused<ConfigError>([] { synthetic_regression<float>(0, 5, 1); }, {"problem.samples"});
  expect_refused<ConfigError>([] { digits<float>(0, 1); }, {"problem.samples"});
  expect_refused<ConfigError>([] { digits<float>(std::size_t{1} << 40, 1); }, {"problem.samples"});
}

}  // namespace
}  // namespace ticopd
