#include "ticopd/site/generations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ticopd/error.hpp"
#include "ticopd/site/planted.hpp"

namespace ticopd {
namespace {

constexpr std::string_view stem = "site.", ending = ".checkpoint", unfinished = ".tmp";

std::string name_of(std::uint64_t number) {
  return fmt::format("{}{:012}{}", stem, number, ending);
}

std::optional<std::uint64_t> number_of(std::string_view file) {
  if (!file.starts_with(stem)) return std::nullopt;
  file.remove_prefix(stem.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

// The folder is flushed first: a process that was killed between a rename and its flush has left a
// name that a power failure would still take back, and what is read here will be confirmed.
Generations::Generations(Store& store) : store_(store) {
  store.sync_folder();
  for (const std::string& file : store.list())
    if (const auto number = number_of(file)) {
      last_ = std::max(last_, *number);
      if (file == name_of(*number))
        whole_.push_back(*number);
      else if (file.ends_with(unfinished))
        store.remove(file);
    }
  std::ranges::sort(whole_);
}

std::optional<Generations::Found> Generations::newest() {
  while (!whole_.empty()) {
    try {
      Bytes bytes = store_.read(name_of(whole_.back()));
      SiteState state = decode_state(bytes);
      return Found{std::move(bytes), std::move(state)};
    } catch (const FormatError&) {
      store_.remove(name_of(whole_.back()));
      whole_.pop_back();
    }
  }
  return std::nullopt;
}

void Generations::write(std::span<const std::byte> bytes) {
  const std::uint64_t number = ++last_;  // a name that failed once is not used again
  const std::string file = name_of(number);
  const std::string temporary = file + std::string(unfinished);
  try {
    store_.write(temporary, bytes);
    if (!planted(Bug::no_sync)) store_.sync(temporary);
    store_.rename(temporary, file);
    if (!planted(Bug::no_folder_sync)) store_.sync_folder();
  } catch (const DiskError&) {
    if (planted(Bug::trust_fsync) || planted(Bug::trust_write)) {
      store_.rename(temporary, file);
      whole_.push_back(number);
      return;
    }
    for (const std::string& left : {temporary, file}) try {
        store_.remove(left);
      } catch (const DiskError&) {
      }
    throw;
  }
  whole_.push_back(number);
  while (whole_.size() > (planted(Bug::one_generation) ? 1 : 2)) {
    store_.remove(name_of(whole_.front()));
    whole_.erase(whole_.begin());
  }
}

}  // namespace ticopd
