// Libraries and programs of the current folder are not loaded and not run.
#include "hostile/elf.hpp"
#include "hostile/hostile.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Every program and library below a folder: the build folder, or what was installed.
std::vector<fs::path> programs_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (auto e = fs::recursive_directory_iterator(folder); e != fs::end(e); ++e) {
    if (e->path().filename() == "_deps" || e->path().filename() == "node_modules")
      e.disable_recursion_pending();
    else if (e->is_regular_file() && !e->is_symlink() && e->path().extension() != ".o" &&
             ElfFile(e->path()).is_loaded())
      found.push_back(e->path());
  }
  return found;
}

fs::path mpi_plugin() {
  return fs::path(places::binary()).parent_path() / "libticopd_mpi.so";
}

class SearchPaths : public Hostile {
 protected:
  void expect_fixed(const fs::path& file) const {
    for (const std::string& entry : ElfFile(file).search_path())
      EXPECT_TRUE(is_fixed(entry)) << file << " searches for libraries in \"" << entry << "\"";
  }
};

TEST_F(SearchPaths, AreFixedInEverythingThatTheBuildMakes) {
  const char* other = std::getenv("TICOPD_TEST_PROGRAMS");  // the install test sets it
  const fs::path folder = other != nullptr ? other : fs::path(places::binary()).parent_path();
  std::size_t needed = 0;  // the reader finds what must be there
  for (const fs::path& file : programs_below(folder)) {
    expect_fixed(file);
    needed += ElfFile(file).needed().size();
  }
  EXPECT_GE(needed, 2U) << folder;
}

TEST_F(SearchPaths, AreFixedInBothMpiPlugins) {
  if (!fs::exists(mpi_plugin())) GTEST_SKIP() << "built without MPI";
  expect_fixed(mpi_plugin());
  const fs::path mpich = places::mpich_plugin();
  if (!mpich.empty() && fs::exists(mpich)) expect_fixed(mpich);
}

// The test of the test: a library whose search path is "libz.so.1", or whatever it needs first.
TEST_F(SearchPaths, ThatAreRelativeAreFound) {
  std::string bytes = read_text(places::binary());
  const std::size_t at = ElfFile(places::binary()).offsets_of(DT_NEEDED).at(0);
  const Elf64_Sxword tag = DT_RUNPATH;
  bytes.replace(at, sizeof tag, reinterpret_cast<const char*>(&tag), sizeof tag);
  write("relative", bytes);
  const auto entries = ElfFile(folder_ / "relative").search_path();
  EXPECT_TRUE(std::ranges::any_of(entries, [](auto& e) { return !is_fixed(e); }));
}

TEST_F(SearchPaths, AnMpiLibraryInTheCurrentFolderIsNotLoaded) {
  if (!fs::exists(mpi_plugin())) GTEST_SKIP() << "built without MPI";
  for (const std::string& name : ElfFile(mpi_plugin()).needed())
    if (name.starts_with("libmpi")) write(name, "not even a library");
  const Outcome o =
      ticopd({"launch", "-n", "2", "--show", "--", "run", "small.toml"}, {{"LD_DEBUG", "libs"}});
  EXPECT_EQ(o.code, 0) << o.err.substr(0, 2000);
  EXPECT_TRUE(contains(o.err, "libticopd_mpi.so")) << "the loader said nothing";
  const std::string trying = "trying file=";
  for (const std::string& line : lines_of(o.err))
    if (const std::size_t at = line.find(trying); at != std::string::npos) {
      EXPECT_EQ(line[at + trying.size()], '/') << line;
    }
}

class NamedPrograms : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("bin/", "");
    for (const char* name : {"gnuplot", "bin/gnuplot", "mpirun", "bin/mpirun", "npm", "curl"})
      write_script(name, ": > \"" + (folder_ / "ran").string() + "\"\nexit 0\n");
  }
  void expect_nothing_ran() const { EXPECT_FALSE(fs::exists(folder_ / "ran")); }
  std::string absolute_bin() const { return (folder_ / "bin").string(); }
};

TEST_F(NamedPrograms, RelativeGnuplotIsRefusedByTheNameOfItsVariable) {
  run("out");
  for (const std::string name : {"./gnuplot", "bin/gnuplot", "../gnuplot"}) {
    const Outcome o = ticopd({"report", "out"}, {{"TICOPD_GNUPLOT", name}});
    EXPECT_EQ(o.code, 0) << o.err;
    expect_says(o.err, {"missing: figure.svg", "TICOPD_GNUPLOT", name, "absolute"});
    expect_does_not_say(o.err, {"not installed"});
    EXPECT_FALSE(fs::exists(folder_ / "out/figure.svg"));
    expect_nothing_ran();
  }
}

TEST_F(NamedPrograms, GnuplotByAbsolutePathOrByNameOnPathIsRun) {
  run("out");
  ticopd({"report", "out"}, {{"TICOPD_GNUPLOT", folder_ / "gnuplot"}});
  EXPECT_TRUE(fs::remove(folder_ / "ran"));
  ticopd({"report", "out"}, {{"TICOPD_GNUPLOT", "gnuplot"}, {"PATH", absolute_bin()}});
  EXPECT_TRUE(fs::remove(folder_ / "ran"));
}

TEST_F(NamedPrograms, MissingGnuplotIsNamedWithItsVariable) {
  run("out");
  for (const std::string name : {"/no/such/gnuplot", "no_such_gnuplot", "/tmp"}) {
    const Outcome o = ticopd({"report", "out"}, {{"TICOPD_GNUPLOT", name}});
    EXPECT_EQ(o.code, 0) << o.err;
    expect_says(o.err, {"missing: figure.svg", "TICOPD_GNUPLOT", name});
  }
}

TEST_F(NamedPrograms, RelativePluginIsRefusedByTheNameOfItsVariable) {
  fs::copy_file(places::stub_plugins() + "/libopen_mpi_stub.so", folder_ / "stub.so");
  for (const std::string name : {"stub.so", "./stub.so", "bin/../stub.so"}) {
    expect_refused({"run", "small.toml", "--out", "out", "--set", "network.transport=mpi"}, 69,
                   {"TICOPD_MPI_PLUGIN", name, "absolute"}, {{"TICOPD_MPI_PLUGIN", name}});
    expect_refused({"launch", "-n", "2", "--", "run", "small.toml"}, 69,
                   {"TICOPD_MPI_PLUGIN", name, "absolute"}, {{"TICOPD_MPI_PLUGIN", name}});
  }
  expect_nothing_ran();
}

TEST_F(NamedPrograms, RelativeAndEmptyEntriesOfPathAreNotSearched) {
  run("out");
  const std::string stub = places::stub_plugins() + "/libopen_mpi_stub.so";
  for (const std::string path : {"", ":", ".", "bin", "bin:.", ":/nowhere:", "./bin"}) {
    EXPECT_EQ(ticopd({"report", "out"}, {{"PATH", path}}).code, 0) << path;
    EXPECT_EQ(ticopd({"launch", "-n", "2", "--", "run", "small.toml"},
                     {{"PATH", path}, {"TICOPD_MPI_PLUGIN", stub}})
                  .code,
              69)
        << path;
    EXPECT_EQ(
        ticopd({"data", "fetch", "mnist"}, {{"PATH", path}, {"XDG_CACHE_HOME", folder_}}).code, 69)
        << path;
    expect_nothing_ran();
  }
}

}  // namespace
}  // namespace ticopd
