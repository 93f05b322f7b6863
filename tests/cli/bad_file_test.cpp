// Files that do not parse: exit code 65 and a message with the file, the line and what was
// expected.
#include "cli/wrong.hpp"

namespace ticopd {
namespace {

using namespace std::string_literals;

// An edge list for the four agents of small.toml.
Wrong edges(std::string name, const std::string& text, std::vector<std::string> says,
            int code = 65) {
  return file(std::move(name), {"graph.kind=file", "graph.path=edges.txt"}, {{"edges.txt", text}},
              std::move(says), code);
}

class BadEdgeList : public Refused {};
TEST_P(BadEdgeList, IsRejectedWithFileAndLine) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    File, BadEdgeList,
    ::testing::Values(
        edges("disconnected", "0 1\n2 3\n", {"edges.txt", "not connected", "agents 0 and 2"}, 78),
        edges("empty", "# nothing\n", {"edges.txt", "not connected", "agents 0 and 1"}, 78),
        edges("self_loop", "0 1\n1 1\n", {"edges.txt:2:", "1 1", "self-loop"}),
        edges("duplicate", "0 1\n# and back\n1 0\n", {"edges.txt:3:", "twice"}),
        edges("agent_out_of_range", "0 1\n1 4\n",
              {"edges.txt:2:", "agent 4", "0 ... 3", "graph.agents = 4"}),
        edges("negative_agent", "0 -1\n", {"edges.txt:1:", "-1", "0 ... 3"}),
        edges("garbage", "0 1\none two\n", {"edges.txt:2:", "`i j`", "one two"}),
        edges("three_numbers", "0 1 2\n", {"edges.txt:1:", "`i j`", "0 1 2"}),
        edges("huge_number", "0 99999999999999999999\n", {"edges.txt:1:", "99999999999999999999"}),
        file("missing", {"graph.kind=file", "graph.path=none.txt"}, {},
             {"none.txt", "graph.path", "cannot be read"}),
        file("folder", {"graph.kind=file", "graph.path=lists"}, {{"lists/", ""}},
             {"lists", "is a folder"})),
    name_of);

Wrong csv(std::string name, const std::string& text, std::vector<std::string> says) {
  return file(std::move(name), {"problem.data=csv:data.csv"}, {{"data.csv", text}},
              std::move(says));
}
Wrong libsvm(std::string name, const std::string& text, std::vector<std::string> says) {
  return file(std::move(name), {"problem.data=libsvm:data.svm"}, {{"data.svm", text}},
              std::move(says));
}

class BadTextData : public Refused {};
TEST_P(BadTextData, IsRejectedWithFileAndLine) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    File, BadTextData,
    ::testing::Values(
        csv("csv_word", "1,2,3\n0,x,4\n", {"data.csv:2:", "column 2", "number", "`x`"}),
        csv("csv_short_line", "1,2,3\n0,4\n", {"data.csv:2:", "2 columns", "3"}),
        csv("csv_nan", "1,2,3\n0,nan,1\n", {"data.csv:2:", "finite number"}),
        csv("csv_label", "1.5,2,3\n0,4,4\n",
            {"data.csv", "label 1.5", "whole numbers", "least_squares"}),
        csv("csv_empty", "", {"data.csv", "no samples"}),
        file("csv_missing", {"problem.data=csv:none.csv"}, {}, {"none.csv", "cannot be read"}),
        file("csv_folder", {"problem.data=csv:data"}, {{"data/", ""}}, {"data", "is a folder"}),
        file("csv_test_width", {"problem.data=csv:data.csv", "problem.test=more.csv"},
             {{"data.csv", "0,1,2\n1,3,4\n"}, {"more.csv", "0,1\n"}},
             {"more.csv", "1 features", "data.csv", "2"}),
        libsvm("libsvm_index_zero", "1 1:2\n-1 0:3\n", {"data.svm:2:", "index 0"}),
        libsvm("libsvm_descending", "1 2:2 1:3\n", {"data.svm:1:", "ascending"}),
        libsvm("libsvm_word", "1 1:2 two\n", {"data.svm:1:", "index:value", "`two`"}),
        libsvm("libsvm_label", "one 1:2\n", {"data.svm:1:", "one"}),
        file("libsvm_missing", {"problem.data=libsvm:none.svm"}, {},
             {"none.svm", "cannot be read"})),
    name_of);

// An NPY file of doubles made by hand: a header with this shape, then `values` zeros.
std::string npy(const std::string& shape, std::size_t values, const std::string& descr = "<f8") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  header += '\n';
  return "\x93NUMPY\x01\x00"s + static_cast<char>(header.size()) + '\0' + header +
         std::string(8 * values, '\0');
}
Wrong npy_pair(std::string name, std::string x, std::string y, std::vector<std::string> says) {
  return file(std::move(name), {"problem.data=npy:set"},
              {{"set/X.npy", std::move(x)}, {"set/y.npy", std::move(y)}}, std::move(says));
}
Wrong stacked(std::string name, std::string a, std::string b, std::vector<std::string> says,
              int code = 65) {
  return file(std::move(name), {"problem.data=npy:set", "problem.objective=least_squares"},
              {{"set/A.npy", std::move(a)}, {"set/b.npy", std::move(b)}}, std::move(says), code);
}
Wrong idx(std::string name, const std::string& images, const std::string& labels,
          std::vector<std::string> says) {
  return file(std::move(name), {"problem.data=idx:set"},
              {{"set/train-images-idx3-ubyte", images},
               {"set/train-labels-idx1-ubyte", labels},
               {"set/t10k-images-idx3-ubyte", images},
               {"set/t10k-labels-idx1-ubyte", labels}},
              std::move(says));
}

const std::string one_image = "\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02"s;
const std::string one_label = "\0\0\x08\x01\0\0\0\x01\x05"s;

class BadBinaryData : public Refused {};
TEST_P(BadBinaryData, IsRejectedWithTheFileName) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    File, BadBinaryData,
    ::testing::Values(
        npy_pair("npy_magic", "hello", npy("3,", 3), {"X.npy", "not an NPY file"}),
        npy_pair("npy_cut_off", npy("3, 2", 5), npy("3,", 3),
                 {"X.npy", "3 x 2 values", "40 bytes"}),
        npy_pair("npy_type", npy("3, 2", 6, "<c16"), npy("3,", 3), {"X.npy", "<c16"}),
        npy_pair("npy_dimensions", npy("6,", 6), npy("6,", 6), {"X.npy", "samples x features"}),
        npy_pair("npy_labels", npy("3, 2", 6), npy("4,", 4), {"y.npy", "expected (3)", "X.npy"}),
        npy_pair("npy_huge", npy("999999999999, 999999999999", 0), npy("3,", 3), {"X.npy"}),
        file("npy_missing", {"problem.data=npy:set"}, {{"set/", ""}},
             {"set/", ".npy", "cannot be read"}),
        stacked("stacked_agents", npy("3, 5, 2", 30), npy("3, 5", 15),
                {"graph.agents = 4", "A.npy", "3 agents"}, 78),
        stacked("stacked_targets", npy("4, 5, 2", 40), npy("4, 6", 24),
                {"b.npy", "(4, 6)", "(4, 5)"}),
        stacked("stacked_flat", npy("20, 2", 40), npy("4, 5", 20),
                {"A.npy", "agents x samples x features"}),
        idx("idx_magic", "hello, I am no image", one_label, {"train-images-idx3-ubyte"}),
        idx("idx_cut_off", one_image + "\x01\x02", one_label, {"train-images-idx3-ubyte"}),
        idx("idx_count", one_image + "\x01\x02\x03\x04", "\0\0\x08\x01\0\0\0\x02\x05\x06"s,
            {"train-"}),
        idx("idx_huge", "\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, one_label,
            {"train-images-idx3-ubyte"}),
        file("idx_gzip_cut_off", {"problem.data=idx:set"},
             {{"set/train-images-idx3-ubyte.gz", "\x1f\x8b\x08\0\0"s},
              {"set/train-labels-idx1-ubyte", one_label}},
             {"train-images-idx3-ubyte.gz", "gzip"}),
        file("idx_missing", {"problem.data=idx:set"}, {{"set/", ""}},
             {"set", "train-images-idx3-ubyte", ".gz"}),
        file("idx_no_folder", {"problem.data=idx:none"}, {}, {"none", "folder"})),
    name_of);

}  // namespace
}  // namespace ticopd
