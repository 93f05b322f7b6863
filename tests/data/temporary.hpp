#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ticopd {

// Gives each test its own folder and removes it afterwards.
class TemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "ticopd_data_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  std::filesystem::path write_gz(const std::string& name, const std::string& bytes) const {
    const gzFile out = gzopen((folder_ / name).c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return folder_ / name;
  }

  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      all.push_back(entry.path().filename().string());
    return all;
  }

  std::filesystem::path folder_;
};

// Checks that the call throws exactly E and that its message contains every part.
template <class E, class F>
void expect_refused(F call, const std::vector<std::string>& parts) {
  try {
    call();
    ADD_FAILURE() << "accepted, expected: " << parts.back();
  } catch (const E& e) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "`" << part << "` is not in: " << e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another kind of exception: " << e.what();
  }
}

}  // namespace ticopd
