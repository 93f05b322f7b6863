#include "ticopd/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ticopd {
namespace {

// Edit distance that counts a swap of two neighbouring letters as one: a common typing mistake.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view given, std::span<const std::string_view> allowed) {
  std::string_view best;
  // A word is near if it differs by at most two edits, or a third of the letters if that is more.
  std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string_view word : allowed)
    if (const std::size_t e = distance(given, word); e < best_distance) {
      best = word;
      best_distance = e;
    }
  return best;
}

std::string not_allowed(std::string_view key, std::string_view given,
                        std::span<const std::string_view> allowed) {
  std::string text = std::string(key) + " = \"" + std::string(given) + "\": allowed are ";
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (i > 0) text += ", ";
    text += allowed[i];
  }
  if (const std::string_view word = nearest(given, allowed); !word.empty())
    text += "; did you mean \"" + std::string(word) + "\"?";
  return text;
}

}  // namespace ticopd
