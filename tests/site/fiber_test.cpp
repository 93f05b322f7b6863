// Functions that are left in the middle and gone on with; under a sanitizer, too.
#include "ticopd/sim/fiber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace ticopd {
namespace {

// Yields at the bottom of some calls with objects in each, and throws through them.
std::size_t descend(Fiber& fiber, int calls) {
  const std::string held(200, 'x');
  if (calls == 0) {
    fiber.yield();
    throw std::runtime_error(held);
  }
  return descend(fiber, calls - 1) + held.size();
}

TEST(Fiber, ManyTakeTurnsAndThrow) {
  constexpr int times = 5, rounds = 50;
  int caught = 0;
  for (int round = 0; round < rounds; ++round) {
    std::array<std::unique_ptr<Fiber>, 4> all;
    for (int i = 0; i < 4; ++i)
      all[static_cast<std::size_t>(i)] = std::make_unique<Fiber>([&, i] {
        for (int k = 0; k < times; ++k) try {
            descend(*all[static_cast<std::size_t>(i)], 3 * i);
          } catch (const std::runtime_error&) {
            ++caught;
          }
      });
    for (int turn = 0; turn <= times; ++turn)
      for (const auto& fiber : all) fiber->resume();
    for (const auto& fiber : all) EXPECT_TRUE(fiber->ended());
  }
  EXPECT_EQ(caught, 4 * times * rounds);
}

}  // namespace
}  // namespace ticopd
