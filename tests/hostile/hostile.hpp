#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/wrong.hpp"

// Hostile situations: each test starts the real program and looks at its exit code, its message and
// the files it leaves.
namespace ticopd {

using Parts = std::vector<std::string>;
using Snapshot = std::map<std::string, std::string>;

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Waits until `done` or for so many seconds; the seconds are a watchdog, not a measurement.
template <class Done>
bool within(int seconds, const Done& done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// The outcome of a program that must end soon. One that does not is killed.
inline Outcome ended_within(int seconds, Program& program) {
  EXPECT_TRUE(within(seconds, [&] { return program.ended(); }))
      << "still runs after " << seconds << " s";
  program.signal(SIGKILL);
  return program.wait();
}

class Hostile : public CommandLine {
 protected:
  // With a watchdog: a program that hangs is a failure with a name.
  Outcome ticopd(const Arguments& arguments,
                 const std::map<std::string, std::string>& environment = {}) const {
    Program program(folder_, arguments, environment);
    const Outcome o = ended_within(100, program);
    if (o.code == 128 + SIGKILL)
      ADD_FAILURE() << "it hung: " << arguments.front() << " " << arguments.back();
    return o;
  }

  static void expect_says(const std::string& text, const Parts& parts) {
    for (const std::string& part : parts)
      EXPECT_TRUE(contains(text, part)) << "`" << part << "` is not in: " << text;
  }
  static void expect_does_not_say(const std::string& text, const Parts& parts) {
    for (const std::string& part : parts)
      EXPECT_FALSE(contains(text, part)) << "`" << part << "` is in: " << text;
  }

  // The program refuses: the exit code, one message with these parts, no output, no file changed.
  void expect_refused(const Arguments& arguments, int code, const Parts& says,
                      const std::map<std::string, std::string>& environment = {}) const {
    const Snapshot before = snapshot();
    const Outcome o = ticopd(arguments, environment);
    EXPECT_EQ(o.code, code) << o.err;
    expect_says(o.err, says);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(snapshot() == before) << "files changed: " << changes(before, snapshot());
  }

  static std::string changes(const Snapshot& before, const Snapshot& after) {
    std::string names;
    for (const auto& [name, bytes] : after)
      if (!before.contains(name) || before.at(name) != bytes) names += name + " ";
    for (const auto& [name, bytes] : before)
      if (!after.contains(name)) names += name + " (gone) ";
    return names;
  }

  // No temporary files or scratch folders of ours.
  void expect_no_leftovers(const std::filesystem::path& below = "") const {
    for (const auto& [name, bytes] : snapshot(below)) {
      EXPECT_FALSE(name.ends_with(".tmp")) << name;
      EXPECT_FALSE(contains(name, ".ticopd.")) << name;
    }
  }

  // As if the run had been killed: only the checkpoint tells which round it reached.
  void forget_the_end(const std::string& run = "out") const {
    std::filesystem::remove(folder_ / run / "run.json");
    std::filesystem::remove(folder_ / run / "final.npy");
  }

  static std::string with(std::string text, const std::string& part, const std::string& other) {
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return at == std::string::npos ? text : text.replace(at, part.size(), other);
  }

  void write_script(const std::string& name, const std::string& body) const {
    write(name, "#!/bin/sh\n" + body);
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  // A gnuplot that answers --version and then does what `body` says.
  void write_gnuplot(const std::string& body, const std::string& name = "gnuplot") const {
    write_script(name,
                 "case \"$*\" in *--version*) echo 'gnuplot 5.4 patchlevel 4'; exit 0;; esac\n" +
                     body + "\n");
  }
};

}  // namespace ticopd
