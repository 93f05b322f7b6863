#include "ticopd/site/kept_roster.hpp"

#include <algorithm>

#include "ticopd/site/planted.hpp"

namespace ticopd {
namespace {

constexpr const char* file = "roster.signed";
constexpr const char* unfinished = "roster.signed.tmp";

}  // namespace

// The folder is flushed first, as for checkpoints: what is read will be acted on.
Bytes KeptRoster::read() {
  store_.sync_folder();
  const auto all = store_.list();
  return std::ranges::find(all, file) == all.end() ? Bytes() : store_.read(file);
}

void KeptRoster::write(std::span<const std::byte> signed_roster) {
  store_.write(unfinished, signed_roster);
  if (planted(Bug::adopt_in_memory)) return;
  store_.sync(unfinished);
  store_.rename(unfinished, file);
  store_.sync_folder();
}

}  // namespace ticopd
