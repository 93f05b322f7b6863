// NPY files: reading, writing and rejecting them.
#include "ticopd/data/npy.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "data/temporary.hpp"
#include "ticopd/error.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

template <class V>
std::string raw(const std::vector<V>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(V));
}

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string bytes = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  const std::size_t length = dictionary.size();
  for (int b = 0; b < (version == 1 ? 2 : 4); ++b)
    bytes += static_cast<char>(length >> 8 * b & 0xff);
  return bytes + dictionary + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

class NpyFile : public TemporaryFolder {
 protected:
  void refused(const std::string& bytes, const std::string& trouble) {
    const auto file = write("a.npy", bytes);
    expect_refused<FormatError>([&] { read_npy<double>(file); }, {"a.npy", trouble});
  }
};

TEST_F(NpyFile, RoundTripsEveryShape) {
  for (const auto& shape :
       std::vector<std::vector<std::size_t>>{{}, {1}, {7}, {2, 3}, {4, 1, 5}, {0, 3}}) {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    std::vector<double> doubles(count);
    std::vector<float> floats(count);
    for (std::size_t k = 0; k < count; ++k)
      floats[k] = static_cast<float>(doubles[k] = std::sin(double(k)) / 3);
    write_npy<double>(folder_ / "d.npy", shape, doubles);
    write_npy<float>(folder_ / "f.npy", shape, floats);
    EXPECT_EQ(read_npy<double>(folder_ / "d.npy").data, doubles);
    EXPECT_EQ(read_npy<double>(folder_ / "d.npy").shape, shape);
    EXPECT_EQ(read_npy<float>(folder_ / "f.npy").data, floats);
    EXPECT_EQ(read_npy<float>(folder_ / "d.npy").data, floats);
    EXPECT_EQ(NpyStream(folder_ / "f.npy").descr(), "<f4");
  }
}

TEST_F(NpyFile, WritesTheSameHeaderAsNumpy) {
  const std::vector<float> data{1, 2, 3};
  write_npy<float>(folder_ / "a.npy", std::vector<std::size_t>{3}, data);
  std::string expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  expected.resize(117, ' ');
  expected += '\n';
  EXPECT_EQ(read_bytes(folder_ / "a.npy"),
            std::string("\x93NUMPY\x01\0v\0", 10) + expected + raw(data));
}

TEST_F(NpyFile, ReadsEveryTypeAndHeaderVersion) {
  const std::vector<double> expected{1, 2, 100};
  const auto check = [&](const std::string& descr, const std::string& data) {
    for (const int version : {1, 2, 3}) {
      const std::string bytes = npy(header(descr, "(3,)"), data, version);
      EXPECT_EQ(read_npy<double>(write("a.npy", bytes)).data, expected) << descr << version;
      EXPECT_EQ(read_npy<float>(write_gz("a.npy.gz", bytes)).data, (std::vector<float>{1, 2, 100}));
    }
  };
  check("<f4", raw<float>({1, 2, 100}));
  check("<f8", raw<double>({1, 2, 100}));
  check("<i4", raw<std::int32_t>({1, 2, 100}));
  check("<i8", raw<std::int64_t>({1, 2, 100}));
  check("|u1", raw<std::uint8_t>({1, 2, 100}));
}

TEST_F(NpyFile, ReadsKeysInAnyOrderAndSpacing) {
  const std::string dictionary = "{'shape':( 2 , 1 ),'fortran_order':False,'descr':'<f8'}";
  const auto array = read_npy<double>(write("a.npy", npy(dictionary, raw<double>({5, 6}))));
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(array.data, (std::vector<double>{5, 6}));
}

TEST_F(NpyFile, RejectsUnsupportedArrays) {
  const std::string two = raw<double>({1, 2});
  refused(npy(header("<f8", "(2,)", "True"), two), "Fortran");
  refused(npy(header(">f8", "(2,)"), two), "'>f8'");
  refused(npy(header("<c8", "(2,)"), two), "'<c8'");
  refused(npy(header("|O", "(2,)"), two), "'|O'");
  refused(npy("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,)}", two), "records");
  refused(npy(header("<f8", "(3,)"), two), "16 bytes follow");
  refused(npy(header("<f8", "(1,)"), two), "16 bytes follow");
  refused(npy(header("<f8", "(-2,)"), two), "`-2`");
  refused(npy(header("<f8", "(two,)"), two), "`two`");
  refused(npy(header("<f8", "2"), two), "tuple");
  refused(npy("{'descr': '<f8', 'shape': (2,)}", two), "'fortran_order'");
  refused(npy("{'fortran_order': False, 'shape': (2,)}", two), "'descr'");
  refused(npy("{'descr': '<f8', 'fortran_order': False}", two), "'shape'");
  refused(npy(header("<f8", "(2,)"), two, 4), "version 4");
  refused(npy(header("<f8", "(2,)"), raw<double>({1, NAN})), "item 1 is not a finite");
  refused("PK\x03\x04 some zip file", "not an NPY");
  refused("", "not an NPY");
  expect_refused<FormatError>([&] { read_npy<double>(folder_ / "none.npy"); }, {"none.npy"});
  expect_refused<FormatError>([&] { read_npy<double>(folder_); }, {folder_.string(), "folder"});
  const auto file = write("f.npy", npy(header("<f8", "(2,)"), two));
  expect_refused<FormatError>([&] { read_npy<std::uint8_t>(file); }, {"f.npy", "|u1"});
}

TEST_F(NpyFile, ChecksTheClaimedSizeBeforeItAllocates) {
  refused(npy(header("<f8", "(1152921504606846976,)"), ""), "bytes follow");
  refused(npy(header("<f8", "(2305843009213693952,)"), ""), "bytes follow");  // times 8 wraps to 0
  refused(npy(header("<f8", "(4294967296, 4294967296)"), ""), "bytes follow");
  refused(npy(header("<f8", "(99999999999999999999999,)"), ""), "expected a count");
}

TEST_F(NpyFile, RejectsEveryTruncation) {
  const std::string whole = npy(header("<f8", "(2,)"), raw<double>({1, 2}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    refused(whole.substr(0, length), "a.npy");
  std::string lies = whole;
  lies[9] = '\x7f';  // a header longer than the file
  refused(lies, "cut off");
}

}  // namespace
}  // namespace ticopd
