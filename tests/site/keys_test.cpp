// Keys, signatures and the files that hold them.
#include "ticopd/site/keys.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "ticopd/error.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

TEST(Keys, Z85IsThatOfZeroMq) {  // the example of its specification
  const std::string bytes("\x86\x4f\xd2\x6f\xb5\x59\xf7\x5b", 8);
  EXPECT_EQ(to_z85(bytes), "HelloWorld");
  EXPECT_EQ(from_z85("HelloWorld"), bytes);
  EXPECT_TRUE(from_z85("HelloWorl").empty());
  EXPECT_TRUE(from_z85("Hello\"orld").empty());
  EXPECT_TRUE(from_z85("#####").empty()) << "more than four bytes hold";
}

TEST(Keys, AFileComesBackAndIsSecret) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  for (const KeyKind kind : {KeyKind::site, KeyKind::owner}) {
    const std::string name = kind == KeyKind::site ? "a" : "o";
    const KeyPair keys = make_keys(kind, name);
    write_keys(keys, folder.path());
    struct stat found {};
    ASSERT_EQ(::stat((folder.path() / (name + ".key")).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    const KeyPair again = read_keys(folder.path() / (name + ".key"), kind);
    EXPECT_EQ(again.public_key, keys.public_key);
    EXPECT_EQ(again.secret, keys.secret);
    EXPECT_EQ(read_public_key(folder.path() / (name + ".pub"), kind), keys.public_key);
    EXPECT_THROW(read_keys(folder.path() / (name + ".pub"), kind), Error);
    const KeyKind other = kind == KeyKind::site ? KeyKind::owner : KeyKind::site;
    EXPECT_THROW(read_keys(folder.path() / (name + ".key"), other), FormatError);
    EXPECT_THROW(write_keys(keys, folder.path()), UsageError) << "a key is never overwritten";
  }
}

TEST(Keys, AKeyThatOthersCanReadIsRefused) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  write_keys(make_keys(KeyKind::site, "a"), folder.path());
  fs::permissions(folder.path() / "a.key", fs::perms(0644));
  EXPECT_THROW(read_keys(folder.path() / "a.key", KeyKind::site), ConfigError);
}

TEST(Keys, NoMessageQuotesASecret) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  const KeyPair keys = make_keys(KeyKind::site, "a");
  write_keys(keys, folder.path());
  const std::string whole = read_bytes(folder.path() / "a.key");
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    write_secret(folder.path() / "a.key", whole.substr(0, cut));
    try {
      read_keys(folder.path() / "a.key", KeyKind::site);
      EXPECT_GE(cut, whole.size() - 1) << "a cut key was taken";
    } catch (const FormatError& e) {
      EXPECT_EQ(std::string(e.what()).find(keys.secret.substr(0, 8)), std::string::npos);
    }
  }
}

TEST(Keys, ASignatureIsOfTheseBytesByThisKey) {
  const KeyPair keys = make_keys(KeyKind::owner, "o"), others = make_keys(KeyKind::owner, "p");
  const std::string text = "version = 1\n";
  const std::string signature = sign(keys, text);
  EXPECT_TRUE(verify_signature(keys.public_key, text, signature));
  EXPECT_FALSE(verify_signature(others.public_key, text, signature));
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verify_signature(keys.public_key, changed, signature));
  }
  std::string raw = from_z85(signature);
  for (std::size_t bit = 0; bit < 8 * raw.size(); ++bit) {
    std::string changed = raw;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verify_signature(keys.public_key, text, to_z85(changed))) << bit;
  }
  for (const char* odd : {"", "x", "HelloWorld"})
    EXPECT_FALSE(verify_signature(keys.public_key, text, odd));
}

}  // namespace
}  // namespace ticopd
