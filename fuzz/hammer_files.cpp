// hammer_read RUNS --reader=NAME FOLDER... and hammer_NAME RUNS FOLDER... run a fuzz target so
// often on damaged files of those folders, without sanitizers and many times as fast. There is no
// coverage to guide it, so give it the inputs that a fuzzer has found (build/fuzz/found/NAME), too.
// Every block of memory lies before a page that nobody may touch (guarded_heap.cpp), and the
// standard library checks its bounds if the build says so (the preset hammer). --seed=N for other
// damage, --seconds=S to end after that time.
// A finding is written to ./hammer-found-NAME-SEED, and the exit is by a signal.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/damage.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/want.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);

namespace {

using namespace ticopd;

constexpr std::size_t most_bytes = 4096;  // as fuzz/run
constexpr int hang_s = 60;                // of CPU, for 1,024 runs

struct Options {
  std::uint64_t runs = 0, seed = 1;
  double seconds = 0;  // 0: no limit
  std::string name;
  std::vector<std::string> seeds;
};

void add_folder(const std::string& folder, std::vector<std::string>& seeds) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.size() <= most_bytes) seeds.push_back(std::move(text));
  }
}

Options options_of(int argc, char** argv) {
  Options options;
  constexpr std::string_view before = "hammer_";
  options.name = std::filesystem::path(argv[0]).filename().string().substr(before.size());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&](std::string_view flag) {
      return word.starts_with(flag) ? argv[i] + flag.size() : nullptr;
    };
    if (const char* name = value("--reader="))
      options.name = name;
    else if (const char* seed = value("--seed="))
      options.seed = std::strtoull(seed, nullptr, 10);
    else if (const char* seconds = value("--seconds="))
      options.seconds = std::strtod(seconds, nullptr);
    else if (options.runs == 0)
      options.runs = std::strtoull(argv[i], nullptr, 10);
    else
      add_folder(argv[i], options.seeds);
  }
  return options;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The seeds stay; as many places hold inputs that were accepted after they were damaged.
class Inputs {
 public:
  explicit Inputs(const std::vector<std::string>& seeds) : all_(seeds), seeds_(seeds.size()) {
    constexpr std::size_t fewest = 64;
    while (all_.size() < std::max(2 * seeds_, fewest)) all_.push_back(all_[all_.size() % seeds_]);
  }
  const std::string& one(Random& random) const { return all_[random.below(all_.size())]; }
  void keep(const std::string& input, Random& random) {
    all_[seeds_ + random.below(all_.size() - seeds_)] = input;
  }

 private:
  std::vector<std::string> all_;
  std::size_t seeds_;
};

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  const Options options = options_of(argc, argv);
  if (options.runs == 0 || options.seeds.empty()) {
    std::fprintf(stderr,
                 "usage: %s RUNS FOLDER... [--reader=NAME] [--seed=N] [--seconds=S]; the folders "
                 "hold the inputs to damage\n",
                 argv[0]);
    return 64;
  }
  const std::string finding = "hammer-found-" + options.name + "-" + std::to_string(options.seed);
  finding_file = finding.c_str();
  save_findings();

  Random random(options.seed);
  Inputs inputs(options.seeds);
  const Damage damage(options.seeds, most_bytes);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  std::uint64_t run = 0, accepted = 0;
  std::string input;
  for (; run < options.runs; ++run) {
    if (run % 1024 == 0) {
      watch_for_a_hang(hang_s);
      if (options.seconds > 0 && seconds_since(begin) > options.seconds) break;
    }
    input = inputs.one(random);
    damage.apply(input, inputs.one(random), random);
    in_progress = {input.data(), input.size(), nullptr, 0};
    const std::uint64_t before = accepted_reads;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    if (accepted_reads == before) continue;
    ++accepted;
    if (random.one_in(256)) inputs.keep(input, random);
  }
  watch_for_a_hang(0);
  const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  std::printf(
      "%-14s seed %-4llu %12llu runs %8.1f s of CPU %8.1f s %9.0f per CPU second %6.2f %% "
      "accepted of %llu reads\n",
      options.name.c_str(), static_cast<unsigned long long>(options.seed),
      static_cast<unsigned long long>(run), cpu, seconds_since(begin),
      static_cast<double>(run) / cpu,
      100 * static_cast<double>(accepted) / static_cast<double>(run),
      static_cast<unsigned long long>(tried_reads));
  return 0;
}
