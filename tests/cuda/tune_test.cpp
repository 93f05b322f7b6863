// `ticopd tune --device cuda`: trials on the device, one after the other.
#include <nlohmann/json.hpp>

#include "cuda/device.hpp"
#include "tune/small_search.hpp"

namespace ticopd {
namespace {

class TuneOnDevice : public SmallSearch {
 protected:
  Tuned search(const Config& c, const std::string& name, Device device,
               const std::function<void(const TuneProgress&)>& on_progress = {},
               const std::atomic<bool>* stop = nullptr) const {
    TuneOptions options = into(name, 4);
    options.prepare.device = device;
    options.on_progress = on_progress;
    options.stop = stop;
    return tune(c, options);
  }

  static Set rounds(int many) { return {"iterations=" + std::to_string(briefly() ? 32 : many)}; }
};

TEST_F(TuneOnDevice, FoundStepSizesReachTheReportedValue) {
  TICOPD_NEEDS_DEVICE();
  const Tuned t = search(config(rounds(64)), "a", Device::cuda);
  EXPECT_TRUE(t.finished);
  EXPECT_GT(t.trials, 1u);
  Set set = rounds(64);
  for (const auto& [name, value] : t.values)
    set.push_back("algorithm." + name + "=" + nlohmann::json(value).dump());
  EXPECT_EQ(final_loss(config(set), Device::cuda), t.value);
}

// The device has no code for this objective, so the CPU computes gradients and losses.
TEST_F(TuneOnDevice, SearchWithCpuGradientsEqualsTheCpus) {
  TICOPD_NEEDS_DEVICE();
  Set set = rounds(64);
  set.insert(set.end(), {"problem.objective=\"nonconvex_logistic\"", "problem.classes=2"});
  expect_same(search(config(set), "gpu", Device::cuda), search(config(set), "cpu", Device::cpu));
  EXPECT_EQ(trials("gpu"), trials("cpu"));
}

TEST_F(TuneOnDevice, ResumesToTheSameAnswer) {
  TICOPD_NEEDS_DEVICE();
  const Config c = config(rounds(3000));
  const Tuned whole = search(c, "whole", Device::cuda);
  std::atomic<bool> stop = false;
  const Tuned part = search(
      c, "cut", Device::cuda, [&](const TuneProgress&) { stop = true; }, &stop);
  EXPECT_FALSE(part.finished);
  EXPECT_LT(rows("cut").size(), rows("whole").size());
  expect_same(search(c, "cut", Device::cuda), whole);
  EXPECT_EQ(trials("cut"), trials("whole"));
}

}  // namespace
}  // namespace ticopd
