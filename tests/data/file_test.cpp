// Reading plain and gzip files, atomic writes, checksums and child programs.
#include "ticopd/system/file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "data/temporary.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/system/program.hpp"
#include "ticopd/system/sha256.hpp"

namespace ticopd {
namespace {

class File : public TemporaryFolder {};

TEST_F(File, DetectsGzipByContent) {
  const std::string text(300000, 'x');
  EXPECT_EQ(read_file(write("plain", text)), text);
  EXPECT_EQ(read_file(write_gz("zipped_without_ending", text)), text);
  EXPECT_EQ(read_file(write("empty", "")), "");
  EXPECT_NE(read_bytes(folder_ / "zipped_without_ending"), text);
}

TEST_F(File, ReadsGzipFilesOfSeveralMembers) {
  const std::string one = read_bytes(write_gz("a", "first "));
  const std::string two = read_bytes(write_gz("b", "second"));
  EXPECT_EQ(read_file(write("both", one + two)), "first second");
}

TEST_F(File, RejectsEveryTruncationOfAnArchive) {
  const std::string whole = read_bytes(write_gz("whole.gz", "some text that is zipped"));
  for (std::size_t length = 2; length < whole.size(); ++length) {
    const auto file = write("cut.gz", whole.substr(0, length));
    expect_refused<FormatError>([&] { read_file(file); }, {"cut.gz", "gzip"});
  }
}

TEST_F(File, RejectsADamagedArchive) {
  std::string bytes = read_bytes(write_gz("whole.gz", std::string(1000, 'a') + "b"));
  bytes[bytes.size() - 6] ^= 1;  // in the checksum
  const auto file = write("bad.gz", bytes);
  expect_refused<FormatError>([&] { read_file(file); }, {"bad.gz", "damaged"});
}

TEST_F(File, NamesAMissingFileAndAFolder) {
  expect_refused<FormatError>([&] { read_file(folder_ / "nothing"); }, {"nothing", "No such file"});
  expect_refused<FormatError>([&] { read_file(folder_); }, {folder_.string(), "folder"});
}

TEST_F(File, AtomicWriteReplacesTheWholeContent) {
  const auto file = folder_ / "out.txt";
  write_atomically(file, "first, and long");
  write_atomically(file, "second");
  EXPECT_EQ(read_bytes(file), "second");
  EXPECT_EQ(names(), std::vector<std::string>{"out.txt"});
}

TEST_F(File, FailedAtomicWriteLeavesOnlyTheOldContent) {
  const auto file = write("out.txt", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // then write(2) says EFBIG
  const rlimit small{4, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_refused<DiskError>([&] { write_atomically(file, "longer than that"); },
                            {"out.txt", "too large"});
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_bytes(file), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"out.txt"});
}

TEST_F(File, RemoveUnfinishedRemovesOnlyItsOwnTemporaryFiles) {
  const std::vector<std::string> kept{"a.tmp",     ".a.tmp",     ".a.1.tmp",
                                      "a.1.2.tmp", ".a.1.x.tmp", ".b.1.2"};
  for (const std::string& name : kept) write(name, "kept");
  write(".trials.csv.123.4.tmp", "half");
  remove_unfinished(folder_);
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".trials.csv.123.4.tmp"));
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << name;
}

TEST_F(File, AtomicWriteNamesThePathOnADiskError) {
  expect_refused<DiskError>([&] { write_atomically(folder_ / "none" / "out.txt", "x"); },
                            {"none/out.txt", "No such file"});
  std::filesystem::create_directory(folder_ / "taken");  // a rename cannot replace a folder
  expect_refused<DiskError>([&] { write_atomically(folder_ / "taken", "x"); },
                            {"taken", "directory"});
  EXPECT_EQ(names(), std::vector<std::string>{"taken"});
}

TEST_F(File, NoDeviceIsReplacedByAFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const std::vector<double> data(100000, 1.0);
  const std::vector<std::size_t> shape{data.size()};
  expect_refused<DiskError>([&] { write_npy<double>("/dev/full", shape, data); },
                            {"/dev/full", "device"});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

// Links that somebody planted under the names we are about to use.
TEST_F(File, CreatingAFileReplacesALinkAndLeavesWhatItPointsTo) {
  write_atomically(folder_ / "precious", "mine");
  std::filesystem::create_symlink(folder_ / "precious", folder_ / "new.tmp");
  std::filesystem::create_symlink(folder_ / "nowhere", folder_ / "dangling.tmp");
  for (const char* name : {"new.tmp", "dangling.tmp"}) {
    { const Descriptor fd = create_file(folder_ / name); }
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder_ / name)));
  }
  EXPECT_EQ(read_bytes(folder_ / "precious"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nowhere"));
}

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(File, RunProgramReportsHowItEnded) {
  EXPECT_TRUE(run_program({"true"}, folder_, 10).fine);
  EXPECT_FALSE(run_program({"false"}, folder_, 10).fine);
  EXPECT_EQ(run_program({"no-such-program-here"}, folder_, 10).reason, "not installed");
  EXPECT_EQ(run_program({"sh", "-c", "echo oh no >&2; exit 3"}, folder_, 10).reason, "oh no");
  EXPECT_EQ(run_program({"sh", "-c", "test \"$(pwd -P)\" = \"$1\"", "sh",
                         std::filesystem::canonical(folder_).string()},
                        folder_, 10)
                .fine,
            true);
  EXPECT_EQ(run_program({"sleep", "60"}, folder_, 0).reason, "not done after 0 s");
}

}  // namespace
}  // namespace ticopd
