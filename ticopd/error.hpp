#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ticopd {

// What the library throws. Each kind of trouble has its own class because each asks something else
// of the user, and the command line turns it into the exit code that scripts rely on.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& what) : std::runtime_error(what), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// A command line that cannot be obeyed.
struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(64, what) {}
};

// A configuration that cannot be run: names the key, what was given and what is allowed.
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(78, what) {}
};

// A data file or a frame that does not parse.
struct FormatError : Error {
  explicit FormatError(const std::string& what) : Error(65, what) {}
};

// A device, service or data set that is not to be had.
struct UnavailableError : Error {
  explicit UnavailableError(const std::string& what) : Error(69, what) {}
};

// The disk refused: full, read-only, missing folder.
struct DiskError : Error {
  explicit DiskError(const std::string& what) : Error(74, what) {}
};

// Stopped before the end, with everything saved; or a peer was lost.
struct Interrupted : Error {
  explicit Interrupted(const std::string& what) : Error(75, what) {}
};

// The iterates left the numbers: names the quantity, the round, and what to lower.
struct Diverged : Error {
  explicit Diverged(const std::string& what) : Error(76, what) {}
};

// An error that another process had: of the same kind here, so that all end with one code.
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

// The allowed word nearest to `given` (edit distance), or "" where none is near enough to be meant.
std::string_view nearest(std::string_view given, std::span<const std::string_view> allowed);

// `codec.kind = "qsdg": allowed are identity, qsgd, ...; did you mean "qsgd"?`
std::string not_allowed(std::string_view key, std::string_view given,
                        std::span<const std::string_view> allowed);

}  // namespace ticopd
