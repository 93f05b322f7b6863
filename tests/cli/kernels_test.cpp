// Every kernel of this machine, through the real binary. A kernel is chosen by name, has the same
// bits for any number of threads, and differs from the plain one by rounding only.
#include <cmath>

#include "cli/program.hpp"

namespace ticopd {
namespace {

class Kernels : public CommandLine {
 protected:
  // Generated IDX files: 900 training and 40 test images of 15 x 10 pixels.
  void SetUp() override {
    CommandLine::SetUp();
    write_images("train", 900);
    write_images("t10k", 40);
    write("small.toml", R"(iterations = 12
[problem]
hidden = [9]
data = "idx:images"
[graph]
agents = 3
[codec]
kind = "qsgd"
[algorithm]
alpha = 0.3
theta = 0.3
eta = 0.03
)");
  }

  void write_images(const std::string& name, int samples) const {
    const auto big_endian = [](int n) {
      std::string bytes;
      for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(n >> shift & 255);
      return bytes;
    };
    std::string pixels, labels;
    unsigned state = 12345;
    for (int i = 0; i < samples; ++i) {
      labels += static_cast<char>(i % 3);
      for (int k = 0; k < 150; ++k) {
        state = state * 1664525u + 1013904223u;
        const bool ink = state >> 24 < (k / 50 == i % 3 ? 150u : 20u);
        pixels += static_cast<char>(ink ? state >> 16 & 255 : 0);
      }
    }
    write("images/" + name + "-images-idx3-ubyte",
          big_endian(0x803) + big_endian(samples) + big_endian(15) + big_endian(10) + pixels);
    write("images/" + name + "-labels-idx1-ubyte",
          big_endian(0x801) + big_endian(samples) + labels);
  }

  nlohmann::json run_with(const std::string& kernel, const std::string& name,
                          const Arguments& more = {}) const {
    Arguments all{"run", "small.toml", "--out", name, "--quiet", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = ticopd(all, {{"TICOPD_KERNEL", kernel}});
    EXPECT_EQ(o.code, 0) << o.err;
    return nlohmann::json::parse(o.out, nullptr, false);
  }

  std::vector<std::string> available() const {
    std::vector<std::string> names;
    const Outcome listed = ticopd({"list", "kernels", "--json"});
    for (const auto& kernel : nlohmann::json::parse(listed.out))
      if (kernel["available"]) names.push_back(kernel["name"]);
    return names;
  }
};

TEST_F(Kernels, EachKernelHasTheSameBitsForAnyThreadsAndAgreesWithThePlainOne) {
  run_with("plain", "plain");
  const auto want = metrics("plain");
  const std::vector<std::string> kernels = available();
  EXPECT_GE(kernels.size(), 1u);
  for (const std::string& kernel : kernels) {
    const auto one = run_with(kernel, kernel + "1", {"--threads", "1"});
    EXPECT_EQ(one["kernel"], kernel);
    EXPECT_EQ(run_with(kernel, kernel + "3", {"--threads", "3"})["digest"], one["digest"])
        << kernel;
    const auto rows = metrics(kernel + "1");
    ASSERT_EQ(rows.size(), want.size());
    for (std::size_t r = 1; r < rows.size(); ++r) {
      EXPECT_NEAR(std::stod(rows[r][4]), std::stod(want[r][4]), 1e-4) << kernel << ", line " << r;
      EXPECT_EQ(rows[r][2], want[r][2]) << "bits sent: " << kernel << ", line " << r;
    }
  }
}

TEST_F(Kernels, EachKernelDrawsTheSameMiniBatches) {
  const Arguments batch{"--set", "problem.batch=7"};
  run_with("plain", "plain", batch);
  const auto want = metrics("plain");
  for (const std::string& kernel : available()) {
    run_with(kernel, kernel + "-batch", batch);
    const auto rows = metrics(kernel + "-batch");
    for (std::size_t r = 1; r < rows.size(); ++r)
      EXPECT_NEAR(std::stod(rows[r][4]), std::stod(want[r][4]), 1e-4) << kernel << ", line " << r;
  }
}

TEST_F(Kernels, RunJsonNamesTheKernelItsLayoutAndTheShareOfTime) {
  for (const std::string& kernel : available()) {
    const auto summary = run_with(kernel, kernel);
    double shares = 0;
    for (const char* part : {"gradient", "exchange", "update", "metrics", "other"}) {
      const double share = summary["share"][part];
      EXPECT_GE(share, -1e-9) << part;
      shares += share;
    }
    EXPECT_NEAR(shares, 1.0, 1e-9);
    const auto& memory = summary["memory"];
    // x, dual, gradient and surrogate of 3 agents in float, and the message of each.
    const std::size_t d = summary["dimension"], message = 4 + d + (d + 7) / 8;
    EXPECT_EQ(memory["state"], 3 * (4 * 4 * d + message)) << kernel;
    EXPECT_GE(memory["features"].size(), 2u) << kernel;
    for (const auto& [layout, bytes] : memory["features"].items()) EXPECT_GT(bytes, 900) << layout;
    EXPECT_GE(memory["peak"], memory["resident"]);
    EXPECT_GT(memory["resident"], memory["state"]);
  }
}

TEST_F(Kernels, AWrongNameIsRejectedWithTheNearestName) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "x"}, {{"TICOPD_KERNEL", "avx521"}});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("did you mean \"avx512\""), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x/metrics.csv"));
}

TEST_F(Kernels, ProfilePrintsTimeAndMemory) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "x", "--quiet", "--profile"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* word :
       {"gradient", "exchange", "update", "metrics", "other", "state", "process", "kernel"})
    EXPECT_NE(o.out.find(word), std::string::npos) << word << " is not in:\n" << o.out;
}

}  // namespace
}  // namespace ticopd
