#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ticopd/sim/random.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

// A disk that forgets what was not flushed when the power fails. It keeps the content of files and
// the names in the folder twice: as a process sees them, and as they are on the disk.
class SimDisk {
 public:
  std::vector<std::string> list() const;
  Bytes read(const std::string& file) const;
  void write(const std::string& file, std::span<const std::byte> bytes);
  void sync(const std::string& file, bool fails, SimRandom& random);
  void rename(const std::string& from, const std::string& to);
  void remove(const std::string& file);
  void sync_folder();

  // Files that were not flushed are whole, torn, or empty; of the changes of names that were not
  // flushed the first few are on the disk.
  void lose_power(SimRandom& random);
  // One bit of the newest file whose name ends like this. False: there is none.
  bool flip_bit(const std::string& ending, SimRandom& random);

  bool full = false;  // writing fails

 private:
  struct File {
    Bytes seen, kept;
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;
  using Change = std::function<void(Names&)>;
  void change(Change what);

  Names names_, kept_names_;
  std::vector<Change> changes_;  // since the folder was flushed
};

}  // namespace ticopd
