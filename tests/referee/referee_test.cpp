// The referee of every refactoring: digests that were recorded once, with version 0.1 and the plain
// kernel, for every algorithm. They go through the program itself, so nothing inside the library
// can move the goalposts. A digest that changes here is a changed result, and needs a reason in
// CHANGELOG.
//
// A new algorithm gets a line in `steps` below and its digests with
//   TICOPD_RECORD=digests.txt build/release/tests/test_referee --gtest_filter='*ALGORITHM*'
// which appends to digests.txt what tests/referee/digests.txt should say.
#include <fstream>
#include <map>
#include <string>
#include <tuple>

#include "cli/program.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

// Step sizes with which each algorithm stays finite on the problem below.
const std::map<std::string, std::string> steps{
    {"ticopd", "alpha = 0.05\ntheta = 1\neta = 0.1\ngamma = 0.9"},
    {"choco_sgd", "eta = 0.05\ngamma = 0.2\nwarm_start = true"},
    {"cp_sgd", "eta = 0.05\ngamma = 1\nomega = 1\nalpha_x = 0.5"},
    {"def_atc", "mu = 0.02\nzeta = 0.5\ngamma = 0.2"},
    {"beer", "eta = 0.02\ngamma = 0.2\nwarm_start = true"},
    {"dgd", "eta = { schedule = \"inverse_sqrt\", c = 0.3, t0 = 4 }"},
    {"extra", "alpha = 0.05"},
    {"gradient_tracking", "eta = 0.03"},
    {"primal_dual", "eta = 0.05\nalpha = 1\nbeta = 1"},
    {"prox_gpda", "beta = 15"},
    {"prox_pda_perturbed", "rho = 3\ngamma = 0.01"},
    {"nids", "alpha = 0.05"},
    {"lead", "eta = 0.05\nalpha = 0.3\ngamma = 0.1"},
    {"dgd_quantized", "eta = 0.05"},
    {"docom", "eta = 0.02\ngamma = 0.2\nbeta = 0.3\nwarm_start = true"},
    {"qdgd", "alpha = 0.2\nepsilon = 0.2"},
    {"sparq_sgd", "eta = 0.05\ngamma = 0.2\nthreshold = 2\nperiod = 2"},
    {"local_sgd", "eta = 0.05\nperiod = 3"},
    {"qsparse_local_sgd", "eta = 0.02\nperiod = 2"},
    {"choco_gossip", "gamma = 0.2"},
    {"deepsqueeze", "eta = 0.05\ngamma = 0.05"},
    {"magnusson", "eta = 0.05\nalpha = 1\nbeta = 1\nr0 = 4\nkappa = 0.95\nbits = 6"},
};

const std::map<std::string, std::string> codecs{
    {"identity", "kind = \"identity\""},
    {"qsgd", "kind = \"qsgd\"\nbits = 4"},
    {"top_k", "kind = \"top_k\"\nk = 7"},
    {"entropy", "kind = \"qsgd\"\nbits = 3\nbucket = 32\ncoding = \"entropy\""},
};

// Keys of [graph] and [network].
const std::map<std::string, std::pair<std::string, std::string>> links{
    {"fixed", {"", ""}},
    {"dropped", {"drop = 0.3", ""}},
    {"noisy", {"", "noise = \"gaussian\"\nnoise_scale = 1e-4"}},
};

// Algorithm, codec, precision, links.
using Case = std::tuple<std::string, std::string, std::string, std::string>;

std::string config_of(const Case& c) {
  const auto& [algorithm, codec, precision, link] = c;
  const bool star = algorithm == "qsparse_local_sgd";  // it has a server
  return "iterations = 25\nseed = 5\nprecision = \"" + precision +
         "\"\n"
         "[problem]\nobjective = \"mlp\"\nhidden = [7]\nactivation = \"tanh\"\nl2 = 0.01\n"
         "data = \"synthetic\"\nsamples = 240\nfeatures = 6\nclasses = 4\nbatch = 16\n"
         "partition = \"dirichlet\"\npartition_alpha = 1\n"
         "[graph]\nkind = \"" +
         (star ? "star" : "erdos_renyi") + "\"\nagents = 6\n" + links.at(link).first +
         "\n[codec]\n" + codecs.at(codec) + "\n[algorithm]\nname = \"" + algorithm + "\"\n" +
         steps.at(algorithm) + "\n[network]\n" + links.at(link).second +
         "\n[log]\nevery = 5\n[checkpoint]\nevery_s = 0\n";
}

std::map<Case, std::string> recorded() {
  std::map<Case, std::string> all;
  std::ifstream in(places::tree() + "/tests/referee/digests.txt");
  for (std::string a, c, p, l, digest; in >> a >> c >> p >> l >> digest;)
    all[{a, c, p, l}] = digest;
  return all;
}

class Referee : public CommandLine, public ::testing::WithParamInterface<std::string> {
 protected:
  // The digest, or the word for how the program ended without one.
  std::string result_of(const Case& c) {
    write("case.toml", config_of(c));
    std::filesystem::remove_all(folder_ / "out");
    const Outcome o = ticopd({"run", "case.toml", "--out", "out", "--quiet", "--threads", "1"},
                             {{"TICOPD_KERNEL", "plain"}});
    if (o.code == 78) return "refused";
    if (o.code != 0) return "exit-" + std::to_string(o.code) + " " + o.err;
    return summary("out")["digest"];
  }
};

TEST_P(Referee, DigestsAreThoseOfVersion01) {
  const std::map<Case, std::string> expected = recorded();
  const char* record = std::getenv("TICOPD_RECORD");
  for (const auto& [codec, ignored] : codecs)
    for (const char* precision : {"double", "float"})
      for (const auto& [link, unused] : links) {
        const Case c{GetParam(), codec, precision, link};
        const std::string found = result_of(c);
        const std::string name = GetParam() + " " + codec + " " + precision + " " + link;
        if (record != nullptr) {
          std::ofstream(record, std::ios::app) << name << " " << found << "\n";
          continue;
        }
        const auto at = expected.find(c);
        ASSERT_NE(at, expected.end()) << name << " was never recorded";
        EXPECT_EQ(found, at->second) << name;
      }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, ignored] : steps) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, Referee, ::testing::ValuesIn(names()),
                         [](const auto& algorithm) { return algorithm.param; });

// An algorithm that is added without recorded digests is not refereed.
TEST_F(CommandLine, EveryAlgorithmOfTheTableIsRefereed) {
  const Outcome o = ticopd({"list", "algorithms", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const auto& algorithm : nlohmann::json::parse(o.out))
    EXPECT_TRUE(steps.contains(algorithm["name"])) << algorithm["name"];
}

}  // namespace
}  // namespace ticopd
