#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/error.hpp"

namespace ticopd {

// The entries of one kind of thing (codecs, graphs, ...), each with a `name` that no other has.
// The config reader, `ticopd list`, `ticopd schema` and the manual all read it.
//
// The library's own entries are there from the start. A program may add its own before it reads a
// config or starts a run: `add` is not safe while another thread reads, and references to entries
// end with it.
template <class Entry>
class Table {
 public:
  // `key` is the config key whose value names an entry; errors begin with it.
  Table(std::string key, std::initializer_list<Entry> entries) : key_(std::move(key)) {
    for (const Entry& entry : entries) add(entry);
  }

  // ConfigError if an entry of that name is already there.
  void add(Entry entry) {
    if (find(entry.name) != nullptr)
      throw ConfigError(key_ + " = \"" + std::string(entry.name) +
                        "\": registered twice; an entry needs a name of its own");
    entries_.push_back(std::move(entry));
  }

  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return &entry;
    return nullptr;
  }

  // ConfigError that lists all names and suggests the nearest.
  const Entry& at(std::string_view name) const {
    if (const Entry* found = find(name)) return *found;
    throw ConfigError(not_allowed(key_, name, names()));
  }

  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const Entry& entry : entries_) all.push_back(entry.name);
    return all;
  }

  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::string key_;
  std::vector<Entry> entries_;
};

}  // namespace ticopd
