// Files that --plugin refuses, each with one line, before any data is read.
#include <elf.h>

#include <cstring>

#include "cli/program.hpp"

namespace ticopd {
namespace {

class Refusal : public CommandLine {
 protected:
  static std::string plugin(const std::string& name) {
    return places::plugins() + "/" + name + ".so";
  }

  // The message, which must be one line that names the file. Nothing may be written.
  std::string refused(const std::string& path, int code = 78,
                      const std::map<std::string, std::string>& environment = {}) const {
    const auto before = snapshot();
    const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--plugin", path}, environment);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find("--plugin " + path), std::string::npos) << o.err;
    EXPECT_EQ(lines_of(o.err).size(), 1u) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(snapshot(), before);
    return o.err;
  }

  // A plug-in in which bytes were changed, as another build would have them.
  std::string changed(const std::function<void(std::string& bytes)>& change) const {
    std::string bytes = read_text(plugin("diffusion"));
    change(bytes);
    write("changed.so", bytes);
    return "./changed.so";
  }
  // The place of the record: behind the note's owner.
  static std::size_t record(const std::string& bytes) {
    using namespace std::string_literals;
    const std::size_t at = bytes.find("\1\0\0\0ticopd\0\0"s);
    EXPECT_NE(at, std::string::npos);
    return at + 12;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Refusal, NoFile) {
  EXPECT_TRUE(has(refused("./nowhere.so"), "No such file"));
  write("folder.so/", "");
  EXPECT_TRUE(has(refused("./folder.so"), "is no file"));
}

TEST_F(Refusal, NameWithoutASlashIsNotSearchedFor) {
  std::filesystem::copy(plugin("diffusion"), folder_ / "mine.so");
  EXPECT_TRUE(
      has(refused("mine.so", 64, {{"LD_LIBRARY_PATH", folder_}}), "did you mean \"./mine.so\"?"));
}

TEST_F(Refusal, NoSharedLibrary) {
  write("text.so", "hello");
  EXPECT_TRUE(has(refused("./text.so"), "is no shared library"));
  write("empty.so", "");
  EXPECT_TRUE(has(refused("./empty.so"), "is no shared library"));
}

TEST_F(Refusal, ForAnotherMachine) {
  EXPECT_TRUE(has(refused(changed([](std::string& b) {
                    const std::uint16_t riscv = EM_RISCV;
                    std::memcpy(b.data() + offsetof(Elf64_Ehdr, e_machine), &riscv, 2);
                  })),
                  "is for riscv, this program is for"));
  EXPECT_TRUE(
      has(refused(changed([](std::string& b) { b[EI_CLASS] = ELFCLASS32; })), "another word size"));
  EXPECT_TRUE(
      has(refused(changed([](std::string& b) { b[offsetof(Elf64_Ehdr, e_type)] = ET_REL; })),
          "no shared library"));
}

TEST_F(Refusal, CutOff) {
  const std::size_t whole = read_text(plugin("diffusion")).size();
  for (const std::size_t size : {std::size_t{70}, std::size_t{300}, whole / 2})
    EXPECT_TRUE(has(refused(changed([&](std::string& b) { b.resize(size); })), "is cut off"));
}

TEST_F(Refusal, NoPlugin) {
  EXPECT_TRUE(has(refused(plugin("no_entry")), "is no plug-in of ticopd"));
}

TEST_F(Refusal, OfAnotherVersion) {
  EXPECT_TRUE(has(refused(changed([](std::string& b) { b[record(b) + 12] = '9'; })),
                  "was built for ticopd 9.2.0, this is 0.2.0: build it again"));
  EXPECT_TRUE(has(refused(changed([](std::string& b) { b[record(b)] = 2; })),
                  "is of interface 2, this ticopd 0.2.0 takes 1"));
  EXPECT_TRUE(has(refused(changed([](std::string& b) { b[record(b) + 8] ^= 1; })),
                  "the headers of another ticopd 0.2.0"));
  EXPECT_TRUE(
      has(refused(changed([](std::string& b) { b.replace(record(b) + 32, 7, "libc++\0", 7); })),
          "was built with libc++, this program with libstdc++"));
}

// A record of any bytes is refused or taken, never read past its end.
TEST_F(Refusal, DamagedNotes) {
  std::string bytes = read_text(plugin("diffusion"));
  const std::size_t note = record(bytes) - 20;
  for (const std::size_t at : {note, note + 4, note + 8})
    for (const char value : {'\xff', '\x7f', '\0'})
      refused(changed([&](std::string& b) { b.replace(at, 4, 4, value); }));
}

TEST_F(Refusal, EntryPointThrows) {
  const auto fault = [&](const char* what) {
    return refused(plugin("wrong"), 78, {{"TICOPD_TEST_FAULT", what}});
  };
  EXPECT_TRUE(has(fault("throws"), "the licence server is away"));
  EXPECT_TRUE(has(fault("throws a number"), "that has no message"));
  EXPECT_TRUE(has(fault("built in"), "graph.kind = \"ring\": registered twice"));
  EXPECT_TRUE(has(fault("twice"), "graph.kind = \"pair\": registered twice"));
  EXPECT_TRUE(has(fault("metric"), "\"loss_max\""));
}

TEST_F(Refusal, CoreOfItsOwn) {
  EXPECT_TRUE(has(refused(plugin("own_core")), "link ticopd::plugin and not ticopd::core"));
}

// Linked by mistake, but not bound to itself: the program's tables come first, and there are no
// doubles.
TEST_F(Refusal, CoreBesideThatOfTheProgramIsNotUsed) {
  const Outcome o = ticopd({"list", "graphs", "--plugin", plugin("with_core")});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "\n  pair ") || has(o.out, "pair  ")) << o.out;
}

TEST_F(Refusal, SymbolThatNobodyHas) {
  EXPECT_TRUE(has(refused(plugin("no_symbol"), 69), "not_there"));
}

TEST_F(Refusal, GivenTwice) {
  const std::string once = plugin("diffusion");
  const Outcome o = ticopd({"list", "--plugin", once, "--plugin", once});
  EXPECT_EQ(o.code, 78);
  EXPECT_TRUE(has(o.err, "is loaded already")) << o.err;
}

}  // namespace
}  // namespace ticopd
