// Folders of IDX files, the format of MNIST, and damaged ones.
#include "ticopd/data/idx.hpp"

#include "data/temporary.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string idx(const std::vector<std::uint32_t>& shape, const std::string& data) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape) bytes += big_endian(extent);
  return bytes + data;
}

class IdxFolder : public TemporaryFolder {
 protected:
  const std::string images_ =
      idx({3, 2, 2}, std::string("\0\x01\x02\x03\x10\x20\x30\x40\xff\xfe\xfd\xfc", 12));
  const std::string labels_ = idx({3}, std::string("\0\x02\x01", 3));
  const std::string test_images_ = idx({1, 2, 2}, std::string("\x05\x06\x07\x08", 4));
  const std::string test_labels_ = idx({1}, "\x03");

  void write_all() const {
    write("train-images-idx3-ubyte", images_);
    write("train-labels-idx1-ubyte", labels_);
    write("t10k-images-idx3-ubyte", test_images_);
    write("t10k-labels-idx1-ubyte", test_labels_);
  }
};

TEST_F(IdxFolder, ReadsImagesAsBytesAndLabelsAsClasses) {
  write_all();
  const auto data = read_idx_folder<float>(folder_);
  EXPECT_EQ(data.train.samples(), 3u);
  EXPECT_EQ(data.train.features(), 4u);
  EXPECT_EQ(data.train.labels(), (std::vector<double>{0, 2, 1}));
  EXPECT_EQ(data.test.labels(), std::vector<double>{3});
  EXPECT_EQ(data.classes, 4);
  std::vector<float> row(4);
  data.train.read(2, 1, row.data());
  EXPECT_FLOAT_EQ(row[0], 1.0f);
  EXPECT_FLOAT_EQ(row[3], 252 / 255.0f);
}

TEST_F(IdxFolder, AcceptsGzipFilesAndDottedNames) {
  write_gz("train-images-idx3-ubyte.gz", images_);
  write("train-labels.idx1-ubyte", labels_);
  write_gz("t10k-images.idx3-ubyte.gz", test_images_);
  write_gz("t10k-labels-idx1-ubyte.gz", test_labels_);
  const auto data = read_idx_folder<double>(folder_);
  EXPECT_EQ(data.train.samples(), 3u);
  EXPECT_EQ(data.test.samples(), 1u);
}

TEST_F(IdxFolder, TestSamplesMayBeMissingOnlyAsAWhole) {
  write("train-images-idx3-ubyte", images_);
  write("train-labels-idx1-ubyte", labels_);
  EXPECT_EQ(read_idx_folder<float>(folder_).test.samples(), 0u);
  write("t10k-images-idx3-ubyte", test_images_);
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {folder_.string(), "t10k-labels-idx1-ubyte"});
}

TEST_F(IdxFolder, RejectsCountsAndSizesThatDoNotMatch) {
  write_all();
  write("train-labels-idx1-ubyte", idx({2}, "ab"));
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {"train-labels-idx1-ubyte", "2 labels, expected 3"});
  write_all();
  write("t10k-images-idx3-ubyte", idx({1, 3, 1}, "abc"));
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {"t10k-images-idx3-ubyte", "3 pixels"});
  write_all();
  write("train-labels-idx1-ubyte", images_);
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {"train-labels-idx1-ubyte", "1 dimension"});
  write_all();
  write("train-images-idx3-ubyte", labels_);
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {"train-images-idx3-ubyte", "images"});
  write("train-images-idx3-ubyte", idx({0, 2, 2}, ""));
  write("train-labels-idx1-ubyte", idx({0}, ""));
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {"train-images-idx3-ubyte", "no pixels"});
}

TEST_F(IdxFolder, NamesAMissingFolderAndAMissingFile) {
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_ / "none"); },
                              {"none", "folder"});
  expect_refused<FormatError>([&] { read_idx_folder<float>(write("file", "x")); },
                              {"file", "folder"});
  expect_refused<FormatError>([&] { read_idx_folder<float>(folder_); },
                              {"train-images-idx3-ubyte"});
}

TEST_F(IdxFolder, RejectsEveryTruncationAndEveryLongerFile) {
  for (std::size_t length = 0; length < images_.size(); ++length)
    expect_refused<FormatError>([&] { read_idx(write("cut", images_.substr(0, length))); },
                                {"/cut"});
  expect_refused<FormatError>([&] { read_idx(write("long", images_ + "x")); }, {"/long", "13"});
}

TEST_F(IdxFolder, RejectsWrongMagicAndType) {
  expect_refused<FormatError>([&] { read_idx(write("text", "hello there")); },
                              {"/text", "not an IDX"});
  std::string floats = images_;
  floats[2] = 0x0d;
  expect_refused<FormatError>([&] { read_idx(write("floats", floats)); },
                              {"/floats", "0x0d", "0x08"});
  expect_refused<FormatError>([&] { read_idx(write("flat", std::string("\0\0\x08\0", 4))); },
                              {"/flat"});
}

TEST_F(IdxFolder, ChecksTheClaimedSizeBeforeItAllocates) {
  const auto most = 0xffffffffu;
  expect_refused<FormatError>(
      [&] {
        read_idx(write("big", idx({1u << 30, 1u << 30}, "x")));
      },
      {"/big"});
  expect_refused<FormatError>(
      [&] {
        read_idx(write("wrap", idx({most, most, most, most}, "")));
      },
      {"/wrap", "too many"});
  // 2^64 items would wrap around to 0 without a check.
  expect_refused<FormatError>(
      [&] {
        read_idx(write("zero", idx({1u << 31, 1u << 31, 4}, "")));
      },
      {"/zero", "too many"});
}

}  // namespace
}  // namespace ticopd
