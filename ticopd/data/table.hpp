#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ticopd/data/reading.hpp"
#include "ticopd/numeric/seed.hpp"
#include "ticopd/option.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

// The keys of [problem] that say which samples to read, with their defaults. data/table.cpp says
// what each one means.
struct DataOptions {
  std::string data = "mnist";       // NAME or NAME:PLACE
  std::filesystem::path base = {};  // relative paths start here
  std::string test = "";
  bool normalize = false;
  std::size_t max_samples = 0;
  std::size_t samples = 2000;
  std::size_t features = 64;  // with {agent}: 0, unless given
  int classes = 10;
  std::vector<int> labels = {};         // with {agent}: those of all agents, if given
  std::vector<int> shard_samples = {};  // with {agent}: of each agent, if given
  // With {agent}: of each feature, if given; normalize then measures nothing.
  std::vector<double> means = {}, deviations = {};
  std::uint64_t seed = default_seed;
  bool offline = false;
  bool regression = false;  // labels are targets, taken as they are
  std::function<void(std::string)> say = {};
  OwnOptions own = {};  // options that a program registered

  // problem.test as a path. The name of the format may stand before it, as in problem.data.
  std::filesystem::path test_file() const;
};

template <class T>
using OpenData = SampleSource<T> (*)(const std::filesystem::path& place, const DataOptions&);

// An entry of the table of data formats.
struct DataInfo {
  std::string name;                  // what problem.data begins with
  std::string place;                 // what follows its colon, such as "FILE"; "": nothing
  std::vector<std::string> options;  // those it takes, besides normalize and max_samples
  std::string summary;
  OpenData<float> open_float = nullptr;
  OpenData<double> open_double = nullptr;

  std::string form() const { return place.empty() ? name : name + ":" + place; }
  bool takes(std::string_view option) const;

  template <class T>
  SampleSource<T> open(const std::filesystem::path& at, const DataOptions& given) const {
    if constexpr (sizeof(T) == 4)
      return open_float(at, given);
    else
      return open_double(at, given);
  }
};

// The data formats, and the options of all of them (both in table.cpp).
Table<DataInfo>& data_table();
Table<Option<DataOptions>>& data_options_table();

// problem.data as its format and its place, relative to `base`. ConfigError for an unknown form.
struct DataPlace {
  const DataInfo* format;
  std::filesystem::path place;
};
DataPlace data_place(const DataOptions& options);

}  // namespace ticopd
