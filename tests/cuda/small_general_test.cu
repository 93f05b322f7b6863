// Every kind of problem once, at the smallest useful size; small_codecs_test.cu says why.
#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "cuda/general_cases.hpp"

namespace ticopd::cuda {
namespace {

// Leaves out cases that differ only in their numbers and run the same kernels.
std::vector<Case> small_cases() {
  std::vector<Case> all = cases();
  std::erase_if(all, [](const Case& one) { return one.made.options.l2 != 0; });
  return all;
}

class SmallGeneral : public ::testing::TestWithParam<Case> {};

// Agents of three sizes, one of them with fewer samples than the batch.
TEST_P(SmallGeneral, ValuesGradientsBatchesAndAccuraciesEqualTheCpus) {
  TICOPD_NEEDS_DEVICE();
  const Made& made = GetParam().made;
  Device device(made_problem(made));
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  expect_cpu(made, x, device.evaluate(x, x.size()));
  expect_cpus_batch(made, device, x, 2, 20);
  EXPECT_EQ(device.correct(x), right_on_cpu(made, x));
}

INSTANTIATE_TEST_SUITE_P(Small, SmallGeneral, ::testing::ValuesIn(small_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ticopd::cuda
