// The live line of a run uses the width that its terminal has.
#include "apps/progress.hpp"

#include <gtest/gtest.h>

#include "ticopd/report/line.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd::app {
namespace {

Metrics measured(std::uint32_t round) {
  Metrics m;
  m.iteration = round;
  m.loss_max = 0.30125;
  m.accuracy_min = 0.912;
  m.bits_payload = 123.4e6;
  return m;
}

RunState state(const std::string& label) {
  return {label, 1200, 5000, 65.0};
}

bool has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

const char* const measures[] = {"loss 0.3013", "accuracy 0.912", "sent 123.4 Mbit"};

TEST(ProgressLine, FitsInEveryWidth) {
  for (const char* label : {"TiCoPD", "a label as long as people write them for a paper's table",
                            "Grüße \xe2\x82\xac", "\x1b[31mred", ""})
    for (std::size_t width = 0; width <= 200; ++width)
      for (const std::uint32_t round : {1200u, 1100u}) {
        const std::string line = progress_line(state(label), measured(round), width);
        EXPECT_LE(characters(line), width) << line;
        EXPECT_EQ(printable(line), line);
      }
}

TEST(ProgressLine, DropsAPartOnlyIfItDoesNotFit) {
  const std::string usual = "1200/5000  ETA 1:05";
  for (std::size_t width = usual.size(); width <= 200; ++width) {
    const std::string line = progress_line(state("TiCoPD"), measured(1200), width);
    EXPECT_TRUE(has(line, "1200/5000") && has(line, "ETA 1:05")) << width << ": " << line;
    const std::size_t left = width - characters(line);
    std::size_t bar = 0;
    if (const auto at = line.find('['); at != std::string::npos) bar = line.size() - at + 2;
    for (const std::string part : measures)
      EXPECT_TRUE(has(line, part) || left + bar < part.size() + 2) << width << ": " << line;
  }
}

TEST(ProgressLine, ShowsLossAndAccuracyAtSixtyColumns) {
  EXPECT_EQ(progress_line(state("a label of 30 characters, so so"), measured(1200), 59),
            "a la…o so  1200/5000  loss 0.3013  accuracy 0.912  ETA 1:05");
  EXPECT_EQ(progress_line(state("TiCoPD"), measured(1200), 59),
            "TiCoPD  1200/5000  loss 0.3013  accuracy 0.912  ETA 1:05");
}

TEST(ProgressLine, NamesTheRoundOfAnOlderMeasurement) {
  for (std::size_t width = 20; width <= 200; ++width) {
    const std::string line = progress_line(state("TiCoPD"), measured(1100), width);
    for (const std::string part : measures)
      EXPECT_TRUE(!has(line, part) || has(line, "at 1100: loss")) << line;
  }
}

TEST(ProgressLine, BarIsFullAtTheLastRound) {
  const RunState end{"TiCoPD", 5000, 5000, 0.0};
  EXPECT_TRUE(has(progress_line(end, measured(5000), 120), "[####################]"));
  EXPECT_TRUE(has(progress_line({"x", 0, 5000, {}}, measured(0), 120), "ETA ?"));
  EXPECT_TRUE(has(progress_line({"x", 0, 5000, {}}, measured(0), 120), "[....................]"));
}

TEST(ProgressLine, OverallKeepsItsCountAndEta) {
  const Overall overall(4, 4000);
  for (std::size_t width = 10; width <= 200; ++width)
    EXPECT_LE(overall.line(10, width).size(), width);
  EXPECT_EQ(overall.line(0, 30), "run 1 of 4  ETA of all ?");
  EXPECT_EQ(overall.line(0, 200), "run 1 of 4  0 % of all rounds  ETA of all ?");
}

}  // namespace
}  // namespace ticopd::app
