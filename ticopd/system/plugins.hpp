#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace ticopd {

// A plug-in is a shared library with algorithms, codecs, objectives, graphs, metrics or data
// formats of one's own (ticopd/plugin.hpp). It holds no copy of the core: the program that opens it
// exports the core's symbols.

// What a plug-in was built for. It stands in a note of the file and is read from there, so that
// nothing of a plug-in runs before it was compared. `abi` and `size` stay first in all versions.
struct PluginRecord {
  static constexpr std::uint32_t current_abi = 1;

  std::uint32_t abi = current_abi;
  std::uint32_t size = sizeof(PluginRecord);
  std::uint32_t layout = 0;      // of the classes that plug-in and program share
  char ticopd_version[20] = {};  // whose headers it was compiled with
  char library[40] = {};         // the C++ library and its ABI
  char name[64] = {};            // the plug-in's own
  char version[32] = {};
};

// How it lies in the file: an ELF note.
struct PluginNote {
  static constexpr char our_owner[8] = "ticopd";
  static constexpr std::uint32_t our_type = 1;

  std::uint32_t owner_size = sizeof(our_owner);
  std::uint32_t record_size = sizeof(PluginRecord);
  std::uint32_t type = our_type;
  char owner[8] = {'t', 'i', 'c', 'o', 'p', 'd'};
  PluginRecord record;
};

struct Plugin {
  std::string given;           // the path as the user wrote it
  std::filesystem::path file;  // the same, canonical
  std::string hash;            // XXH3-128 of the file
  std::string name, version;
};

// Opens a plug-in and calls its entry point, which fills the tables. `ours` is the record of the
// program. ConfigError that names the file: there is none, it is no plug-in, of another version,
// already loaded, or its entry point throws. UnavailableError: a library or symbol that it needs is
// missing. UsageError: a name without a slash, for which the system would search folders.
//
// For the start of a program: nothing guards the tables against other threads. A plug-in stays
// loaded. After an error the tables may hold a part of its entries.
void load_plugin(const std::string& given, const PluginRecord& ours);

// In the order of loading.
std::span<const Plugin> loaded_plugins();

// An address inside the core. A plug-in that sees another one has a core of its own, whose tables
// nobody reads.
const void* core_mark();

}  // namespace ticopd
