#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "places.hpp"

namespace ticopd {

using Arguments = std::vector<std::string>;

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Outcome {
  int code = -1;  // 128 + the number of the signal that ended the program, as in a shell
  std::string out, err;
};

// The real binary as a child process in a folder. Temporary files catch its output.
class Program {
 public:
  // `in_child` is called in the child before it becomes the program: for limits and the like.
  Program(const std::filesystem::path& folder, const Arguments& arguments,
          const std::map<std::string, std::string>& environment = {},
          const std::function<void()>& in_child = {})
      : out_(std::tmpfile()), err_(std::tmpfile()) {
    std::string binary = places::binary();
    std::vector<char*> argv{binary.data()};
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(fileno(out_), STDOUT_FILENO);
    ::dup2(fileno(err_), STDERR_FILENO);
    if (in_child) in_child();
    if (::chdir(folder.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    std::fclose(out_);
    std::fclose(err_);
  }

  pid_t pid() const { return pid_; }  // -1 once it was seen to have ended

  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);  // kill(-1) would signal every process
  }

  // Waits until the program catches this signal, which ends it before that: a sanitizer on a busy
  // machine takes seconds to reach main(). False if the program ended first.
  bool wait_until_it_catches(int number) {
    while (!catches(number)) {
      if (ended()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  bool ended() {
    int status = 0;
    if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) end(status);
    return pid_ < 0;
  }

  Outcome wait() {
    int status = 0;
    if (pid_ > 0 && ::waitpid(pid_, &status, 0) == pid_) end(status);
    return {code_, content(out_), content(err_)};
  }

  // Waits until the file exists; false if the program ended first.
  bool wait_for(const std::filesystem::path& file) {
    while (!std::filesystem::exists(file)) {
      if (ended()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

 private:
  bool catches(int number) const {
    constexpr std::string_view key = "SigCgt:";
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(key))
        return (std::stoull(line.substr(key.size()), nullptr, 16) >> (number - 1) & 1) != 0;
    return false;
  }

  void end(int status) {
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pid_ = -1;
  }

  static std::string content(std::FILE* file) {
    std::rewind(file);
    std::string text;
    for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
    return text;
  }

  std::FILE* out_;
  std::FILE* err_;
  pid_t pid_ = -1;
  int code_ = -1;
};

// A problem that runs in a few milliseconds: 4 agents, d = 28.
inline const std::string small_problem = R"(iterations = 30
[problem]
objective = "softmax"
data = "synthetic"
samples = 200
features = 6
classes = 4
partition = "iid"
[graph]
agents = 4
[codec]
kind = "qsgd"
[algorithm]
alpha = 0.3
theta = 0.3
eta = 0.03
)";

// Gives each test its own folder with small.toml in it, and removes it afterwards.
class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "ticopd_cli_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("small.toml", small_problem);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = folder_ / name;
    if (name.ends_with('/')) {
      std::filesystem::create_directories(file);
      return;
    }
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }

  Outcome ticopd(const Arguments& arguments,
                 const std::map<std::string, std::string>& environment = {}) const {
    return Program(folder_, arguments, environment).wait();
  }

  // Runs `ticopd run small.toml --out NAME --quiet ...`, which must succeed.
  nlohmann::json run(const std::string& name, const Arguments& more = {}) const {
    Arguments all{"run", "small.toml", "--out", name, "--quiet", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = ticopd(all);
    EXPECT_EQ(o.code, 0) << o.err;
    return nlohmann::json::parse(o.out, nullptr, false);
  }

  // Every file and folder with its bytes. A rejected command must leave all of them unchanged.
  std::map<std::string, std::string> snapshot(const std::filesystem::path& below = "") const {
    std::map<std::string, std::string> all;
    for (const auto& e : std::filesystem::recursive_directory_iterator(folder_ / below))
      all[e.path().lexically_relative(folder_).string()] =
          e.is_regular_file() ? read_text(e.path()) : "";
    return all;
  }

  // metrics.csv as rows of cells, without the last column: `seconds` differs from run to run.
  std::vector<std::vector<std::string>> metrics(const std::string& run) const {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : lines_of(read_text(folder_ / run / "metrics.csv"))) {
      rows.emplace_back();
      std::istringstream in(line);
      for (std::string cell; std::getline(in, cell, ',');) rows.back().push_back(cell);
      rows.back().pop_back();
    }
    return rows;
  }

  nlohmann::json summary(const std::string& run) const {
    return nlohmann::json::parse(read_text(folder_ / run / "run.json"));
  }

  std::filesystem::path folder_;
};

}  // namespace ticopd
