#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ticopd {

// Base class of everything that the library throws. Each kind of error has its own class, because
// the user must react to each kind differently. The command line returns its exit code, which
// scripts rely on.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& what) : std::runtime_error(what), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// The command line is wrong.
struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(64, what) {}
};

// The config cannot be run. The message names the key, the given value and what is allowed.
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(78, what) {}
};

// A data file or a frame does not parse.
struct FormatError : Error {
  explicit FormatError(const std::string& what) : Error(65, what) {}
};

// A device, service or data set is not available.
struct UnavailableError : Error {
  explicit UnavailableError(const std::string& what) : Error(69, what) {}
};

// The file system reported an error: full, read-only, missing folder.
struct DiskError : Error {
  explicit DiskError(const std::string& what) : Error(74, what) {}
};

// The run was stopped before its end and is saved; or a peer was lost.
struct Interrupted : Error {
  explicit Interrupted(const std::string& what) : Error(75, what) {}
};

// The iterates grew without bound. The message names the quantity, the round, and what to lower.
struct Diverged : Error {
  explicit Diverged(const std::string& what) : Error(76, what) {}
};

// Throws the class that belongs to the exit code of another process, so that all processes end with
// the same code.
[[noreturn]] inline void throw_as(int exit_code, const std::string& what) {
  switch (exit_code) {
    case 64:
      throw UsageError(what);
    case 65:
      throw FormatError(what);
    case 69:
      throw UnavailableError(what);
    case 74:
      throw DiskError(what);
    case 75:
      throw Interrupted(what);
    case 76:
      throw Diverged(what);
    case 78:
      throw ConfigError(what);
    default:
      throw Error(exit_code, what);
  }
}

// The allowed word with the smallest edit distance to `given`, or "" if every word is too far away
// to be meant.
std::string_view nearest(std::string_view given, std::span<const std::string_view> allowed);

// `codec.kind = "qsdg": allowed are identity, qsgd, ...; did you mean "qsgd"?`
std::string not_allowed(std::string_view key, std::string_view given,
                        std::span<const std::string_view> allowed);

}  // namespace ticopd
