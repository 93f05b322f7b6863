// trials.csv: the order of its lines, reading it back, and damaged files.
#include "ticopd/tune/trials.hpp"

#include <cmath>

#include "tune/small_search.hpp"

namespace ticopd {
namespace {

class Trials : public SmallSearch {
 protected:
  TrialLog log() const { return TrialLog(base_ / "trials.csv", {"eta", "gamma"}, "loss_max"); }

  static TrialResult result(std::size_t bracket, std::size_t trial, std::uint32_t rounds,
                            double metric = 0.125) {
    return {trial, bracket, rounds, rounds / 2, {{"eta", 0.1}, {"gamma", 1.5e-7}}, metric, 4096};
  }

  std::string text() const { return read_file(base_ / "trials.csv"); }
};

TEST_F(Trials, FileKeepsTheOrderOfTheSearch) {
  TrialLog out = log();
  for (const TrialResult& r : {result(1, 7, 4), result(0, 2, 16), result(0, 3, 4), result(1, 6, 4),
                               result(0, 2, 4), result(2, 9, 64), result(1, 6, 16)})
    out.add(r);
  std::string order;
  for (const TrialResult& r : out.results())
    order += std::to_string(r.bracket) + ":" + std::to_string(r.trial) + ":" +
             std::to_string(r.rounds) + " ";
  EXPECT_EQ(order, "0:2:4 0:3:4 0:2:16 1:6:4 1:7:4 1:6:16 2:9:64 ");
}

TEST_F(Trials, FileRoundTrips) {
  TrialLog out = log();
  out.add(result(0, 0, 4, 1.0 / 3));
  out.add(result(0, 1, 4, NAN));
  out.publish();
  TrialLog in = log();
  in.load();
  ASSERT_EQ(in.results().size(), 2u);
  const auto first = in.find(0, 4, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->metric, 1.0 / 3);
  EXPECT_EQ(first->spent, 2u);
  EXPECT_EQ(first->bits_payload, 4096);
  EXPECT_EQ(first->values, (TriedValues{{"eta", 0.1}, {"gamma", 1.5e-7}}));
  EXPECT_TRUE(std::isnan(in.find(1, 4, 0)->metric));
  EXPECT_FALSE(in.find(1, 16, 0));
  const std::string before = text();
  in.publish();
  EXPECT_EQ(text(), before);
}

TEST_F(Trials, WordsSeedsAndWhatGrewRoundTrip) {
  const auto words = [&] {
    return TrialLog(base_ / "trials.csv", {"codec.kind", "codec.bits", "warm_start"}, "loss_max");
  };
  TrialLog out = words();
  TrialResult r = result(0, 0, 8);
  r.values = {{"codec.kind", "top_k"}, {"warm_start", true}};  // no bits
  r.seed = 7;
  r.grew = true;
  r.loss = 0.5;
  out.add(r);
  r.seed = 18446744073709551615u;
  r.grew = false;
  r.metric = INFINITY;
  out.add(r);
  out.publish();
  TrialLog in = words();
  in.load();
  const auto first = in.find(0, 8, 7);
  ASSERT_TRUE(first && in.find(0, 8, 18446744073709551615u));
  EXPECT_EQ(first->values, r.values);
  EXPECT_TRUE(first->grew);
  EXPECT_EQ(first->loss, 0.5);
  EXPECT_TRUE(std::isnan(first->accuracy));
  const std::string before = text();
  EXPECT_NE(before.find(",grew,7,"), std::string::npos) << before;
  in.publish();
  EXPECT_EQ(text(), before);
}

TEST_F(Trials, MissingFileHasNoTrials) {
  TrialLog in = log();
  EXPECT_NO_THROW(in.load());
  EXPECT_TRUE(in.results().empty());
}

TEST_F(Trials, DamagedFileIsRejectedByLine) {
  log().publish();
  const std::string head = text(), good = "0,0,4,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n";
  const auto refused = [&](const std::string& bytes, const std::string& line) {
    write("trials.csv", bytes);
    expect_parts(message_of<FormatError>([&] { log().load(); }), {"trials.csv:" + line + ":"});
  };
  refused("", "1");
  refused("bracket,trial\n", "1");
  refused(good, "1");
  refused(head + good.substr(0, 12) + "\n", "2");
  refused(head + good + "0,1,x,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,1,4,4,0.1 ,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,1,4,4,0.1,0.2,0.5,4096,7,9,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,-1,4,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,1e30,4,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,1,0.5,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,nan,4,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan,nan\n", "3");
  refused(head + "\n" + good, "2");
  refused(head + good + "0,1,4,4,0.1,0.2,0.5,4096,4,grown,1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,1,4,4,0.1,0.2,0.5,4096,4,finished,-1,0.5,nan,nan,nan\n", "3");
  refused(head + good + "0,1,4,4,0.1,0.2,0.5,4096,4,finished,1,0.5,nan,nan\n", "3");
  write("trials.csv", head + good);
  EXPECT_NO_THROW(log().load());
}

}  // namespace
}  // namespace ticopd
