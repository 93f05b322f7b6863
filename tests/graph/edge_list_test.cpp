// Graphs from a file of edges.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

class EdgeList : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "ticopd_edges_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const std::string& text) {
    const auto name = folder_ / "edges.txt";
    std::ofstream(name) << text;
    return name;
  }

  // The message must name the file, the line and the error.
  void expect_refused(const std::string& text, int line, const std::string& trouble) {
    try {
      edge_list(file(text), 4);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const FormatError& e) {
      const std::string message = e.what();
      EXPECT_NE(message.find("edges.txt:" + std::to_string(line)), std::string::npos) << message;
      EXPECT_NE(message.find(trouble), std::string::npos) << message;
    }
  }

  std::filesystem::path folder_;
};

TEST_F(EdgeList, ReadsPairsCommentsAndBlankLines) {
  const Graph g = edge_list(file("# a path\n0 1\n\n  2\t1 # the middle\r\n3 2"), 4);
  EXPECT_EQ(g.edges(), 3u);
  EXPECT_EQ(g.neighbours(1), (std::vector<int>{0, 2}));
  EXPECT_EQ(g.neighbours(2), (std::vector<int>{1, 3}));
}

TEST_F(EdgeList, NamesTheLineOfAnError) {
  expect_refused("0 1\n1 x\n", 2, "1 x");
  expect_refused("0\n", 1, "expected two agents");
  expect_refused("0 1 2\n", 1, "expected two agents");
  expect_refused("0,1\n", 1, "expected two agents");
  expect_refused("0 1.5\n", 1, "expected two agents");
  expect_refused("0 99999999999999999999\n", 1, "expected two agents");
  expect_refused("# x\n\n0 4\n", 3, "agent 4 is outside 0 ... 3");
  expect_refused("-1 2\n", 1, "agent -1");
  expect_refused("0 1\n2 2\n", 2, "self-loop");
  expect_refused("0 1\n1 2\n1 0\n", 3, "given twice");
}

TEST_F(EdgeList, NamesAMissingFileAndAFolder) {
  for (const auto& name : {folder_ / "missing.txt", folder_}) {
    try {
      edge_list(name, 4);
      ADD_FAILURE();
    } catch (const FormatError& e) {
      EXPECT_NE(std::string(e.what()).find(name.string()), std::string::npos) << e.what();
    }
  }
}

TEST_F(EdgeList, NamesTwoAgentsOfADisconnectedFile) {
  try {
    edge_list(file("0 1\n3 1\n"), 4);
    ADD_FAILURE();
  } catch (const ConfigError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("edges.txt"), std::string::npos) << message;
    EXPECT_NE(message.find("agents 0 and 2"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace ticopd
