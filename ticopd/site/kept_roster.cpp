#include "ticopd/site/kept_roster.hpp"

#include <algorithm>

#include "ticopd/site/planted.hpp"

namespace ticopd {
namespace {

constexpr const char* kept_file = "roster.signed";
constexpr const char* unfinished_roster = "roster.signed.tmp";

}  // namespace

// The folder is flushed first, as for checkpoints: what is read will be acted on.
Bytes KeptRoster::read() {
  store_.sync_folder();
  const auto all = store_.list();
  return std::ranges::find(all, kept_file) == all.end() ? Bytes() : store_.read(kept_file);
}

void KeptRoster::write(std::span<const std::byte> signed_roster) {
  store_.write(unfinished_roster, signed_roster);
  if (planted(Bug::adopt_in_memory)) return;
  store_.sync(unfinished_roster);
  store_.rename(unfinished_roster, kept_file);
  store_.sync_folder();
}

}  // namespace ticopd
