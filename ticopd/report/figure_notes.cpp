#include "ticopd/report/figure_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ticopd/report/figure_key.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

std::string band_note(std::span<const Group> groups, Band band) {
  std::size_t least = 0, most = 0;
  for (const Group& group : groups)
    if (group.counted.size() > 1) {
      least = least == 0 ? group.counted.size() : std::min(least, group.counted.size());
      most = std::max(most, group.counted.size());
    }
  if (most == 0) return "";
  return fmt::format(
      "{} of {} runs each",
      band == Band::range ? "line: median, band: smallest to largest"
                          : "line: mean, band: mean minus and plus the standard deviation",
      least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
}

// Names as many as fit in the width of the page.
std::string diverged_note(std::span<const Series> runs, const FigureOptions& options) {
  std::vector<std::string> labels;
  for (const Series& run : runs)
    if (run.status() == "diverged") labels.push_back(plain(run.label));
  if (labels.empty()) return "";
  for (std::size_t named = labels.size(); named > 0; --named) {
    const std::span some(labels.begin(), named);
    const std::string text = named == labels.size()
                                 ? fmt::format("diverged: {}", fmt::join(some, "; "))
                                 : fmt::format("diverged: {}; and {} more", fmt::join(some, "; "),
                                               labels.size() - named);
    if (text_width(text, note_font_size(options)) <= options.width) return text;
  }
  return fmt::format("diverged: {} of {} runs", labels.size(), runs.size());
}

}  // namespace

double note_font_size(const FigureOptions& options) {
  return 7.0 / 8 * options.font_size;
}

std::vector<std::string> notes_of(std::span<const Series> runs, std::span<const Group> groups,
                                  Band band, const FigureOptions& options) {
  std::vector<std::string> notes;
  for (std::string& note : std::vector{band_note(groups, band), diverged_note(runs, options)})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace ticopd
