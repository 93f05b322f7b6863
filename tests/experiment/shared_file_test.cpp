// Files that all ranks write together: they are complete or do not exist.
#include "ticopd/run/shared_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

TEST(SharedFile, FullDiskLeavesTheOldFileAndNothingElse) {
  std::string folder = fs::temp_directory_path() / "ticopd_shared_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const fs::path file = fs::path(folder) / "checkpoint.safetensors";
  std::ofstream(file) << "before";
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  Alone alone;
  const std::vector<std::byte> bytes(5000);
  const FilePiece piece{4, bytes};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_together(alone, file, 50, std::span(bytes).first(4), std::span(&piece, 1)),
               DiskError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_EQ(fs::file_size(file), 6u);
  write_together(alone, file, 50, std::span(bytes).first(4), std::span(&piece, 1));
  EXPECT_EQ(fs::file_size(file), 5004u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ticopd
