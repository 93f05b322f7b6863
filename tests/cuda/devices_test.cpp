// A run that starts on one device and finishes on another records both, and can be verified.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "cuda/device.hpp"
#include "places.hpp"
#include "ticopd/experiment/experiment.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TwoDevices : public ::testing::TestWithParam<Device> {};

TEST_P(TwoDevices, RunOnTwoDevicesNamesBothAndCanBeVerified) {
  TICOPD_NEEDS_DEVICE();
  const Device first = GetParam(), second = first == Device::cpu ? Device::cuda : Device::cpu;
  const fs::path folder =
      fs::temp_directory_path() / ("ticopd_devices_" + std::to_string(::getpid()));
  fs::remove_all(folder);
  const std::vector<std::string> set{"problem.data=\"digits\"", "problem.samples=300",
                                     briefly() ? "iterations=20" : "iterations=40", "log.every=10"};
  const Config config = Config::read(places::tree() + "/experiments/mnist_ring10.toml", set);
  std::atomic<bool> stop{false};
  RunOptions options{.prepare = {.offline = true, .device = first}, .out = folder, .stop = &stop};
  options.on_round = [&](std::uint32_t round) { stop = round == 17; };
  EXPECT_EQ(run_experiment(config, options)["status"], "interrupted");
  const json done = run_experiment(
      config, {.prepare = {.offline = true, .device = second}, .out = folder, .resume = true});
  EXPECT_EQ(done["status"], "finished");
  EXPECT_EQ(done["device"], name_of(second));
  EXPECT_EQ(done["devices"], json({{{"from_round", 0}, {"device", name_of(first)}},
                                   {{"from_round", 17}, {"device", name_of(second)}}}));
  const Verdict verdict = verify_experiment(folder, {.prepare = {.offline = true}, .out = {}});
  EXPECT_TRUE(verdict.comparable);
  EXPECT_TRUE(verdict.same) << verdict.difference;
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(From, TwoDevices, ::testing::Values(Device::cpu, Device::cuda),
                         [](const auto& one) {
                           return one.param == Device::cpu ? "cpu_to_gpu" : "gpu_to_cpu";
                         });

}  // namespace
}  // namespace ticopd
