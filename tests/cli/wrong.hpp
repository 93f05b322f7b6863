#pragma once

#include "cli/program.hpp"

namespace ticopd {

struct GivenFile {
  std::string name, bytes;  // a name that ends with / is a folder
};

// One mistake: the arguments and files given, and the exit code and message expected.
struct Wrong {
  std::string name;
  Arguments arguments;
  int code;
  std::vector<std::string> says;  // parts that the message must contain
  std::vector<GivenFile> files = {};
  std::map<std::string, std::string> environment = {};
};

inline void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.name;
}
inline std::string name_of(const ::testing::TestParamInfo<Wrong>& info) {
  return info.param.name;
}

// small.toml with wrong assignments.
inline Wrong set(std::string name, const Arguments& assignments, std::vector<std::string> says,
                 int code = 78) {
  Arguments all{"run", "small.toml", "--out", "out"};
  for (const std::string& a : assignments) all.insert(all.end(), {"--set", a});
  return {std::move(name), all, code, std::move(says)};
}

// small.toml with assignments that make it read a wrong file.
inline Wrong file(std::string name, const Arguments& assignments, std::vector<GivenFile> files,
                  std::vector<std::string> says, int code = 65) {
  Wrong w = set(std::move(name), assignments, std::move(says), code);
  w.files = std::move(files);
  return w;
}

// A wrong config file.
inline Wrong config(std::string name, const std::string& toml, std::vector<std::string> says) {
  return {std::move(name),
          {"run", "wrong.toml", "--out", "out"},
          78,
          std::move(says),
          {{"wrong.toml", toml}}};
}

class Refused : public CommandLine, public ::testing::WithParamInterface<Wrong> {
 protected:
  // Checks the exit code, every part of the message, and that no file changed.
  void expect_refusal() const {
    const Wrong& wrong = GetParam();
    for (const GivenFile& f : wrong.files) write(f.name, f.bytes);
    const auto before = snapshot();
    const Outcome o = ticopd(wrong.arguments, wrong.environment);
    EXPECT_EQ(o.code, wrong.code) << o.err;
    for (const std::string& part : wrong.says)
      EXPECT_NE(o.err.find(part), std::string::npos) << "`" << part << "` is not in: " << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(snapshot(), before);
  }
};

}  // namespace ticopd
