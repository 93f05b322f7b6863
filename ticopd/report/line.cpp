#include "ticopd/report/line.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ticopd/report/text.hpp"

namespace ticopd {

std::string fitted_line(std::span<const LinePart> parts, std::size_t width) {
  constexpr std::size_t between = 2;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t p) { return parts[p].priority; });
  std::vector<std::string> shown(parts.size());
  std::size_t used = 0;
  const auto is_shown = [&](int priority) {
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (parts[p].priority == priority && !shown[p].empty()) return true;
    return false;
  };
  for (const std::size_t p : order) {
    const LinePart& part = parts[p];
    if (part.needs >= 0 && !is_shown(part.needs)) continue;
    const std::size_t before = used + (used > 0 ? between : 0);
    const std::size_t all = characters(part.text);
    const std::size_t least = part.shortest > 0 ? std::min(part.shortest, all) : all;
    if (all == 0 || before + least > width) continue;
    shown[p] = shortened(part.text, width - before);
    used = before + characters(shown[p]);
  }
  std::string line;
  for (const std::string& text : shown)
    if (!text.empty()) line += (line.empty() ? "" : std::string(between, ' ')) + text;
  return line;
}

}  // namespace ticopd
