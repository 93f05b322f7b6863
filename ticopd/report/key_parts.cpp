#include "ticopd/report/key_parts.hpp"

#include <algorithm>
#include <utility>

#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

// Parts of labels with how they are drawn, in the order of their first appearance.
template <class Look>
struct Parts {
  std::vector<std::pair<std::string, Look>> all;

  // False if this part has another look already, or the look belongs to another part.
  bool add(const std::string& part, const Look& look) {
    for (const auto& [name, seen] : all)
      if (name == part || seen == look) return name == part && seen == look;
    all.emplace_back(part, look);
    return true;
  }
};

}  // namespace

KeyParts key_parts(std::span<const Curve> curves, const FigureOptions& options) {
  Parts<std::string> colors;
  Parts<int> dashes;
  for (const Curve& curve : curves) {
    const std::string label = plain(curve.label);
    const std::size_t comma = label.find(", ");
    if (comma == std::string::npos || !colors.add(label.substr(0, comma), curve.color) ||
        !dashes.add(label.substr(comma + 2), dash_of(curve)))
      return {};
  }
  if (colors.all.size() + dashes.all.size() >= curves.size()) return {};
  KeyParts parts;
  for (const auto& [name, color] : colors.all) {
    parts.names.push_back(name);
    parts.pens.push_back({line_of(color, 0, options), ""});
  }
  for (const auto& [name, dash] : dashes.all) {
    parts.names.push_back(name);
    parts.pens.push_back({line_of("#404040", dash, options), ""});
  }
  return parts;
}

}  // namespace ticopd
