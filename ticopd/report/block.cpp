#include "ticopd/report/block.hpp"

#include <algorithm>

#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

constexpr std::size_t indent = 2, between = 2;

std::vector<std::size_t> widths(const Block& block) {
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < block.heads.size(); ++c) {
    std::size_t width = characters(block.heads[c]);
    for (const auto& row : block.rows) width = std::max(width, characters(row[c]));
    all.push_back(width);
  }
  std::size_t first = 0;
  for (const auto& [title, count] : block.spans) {  // a long title widens its first column
    std::size_t have = between * (count - 1);
    for (std::size_t c = first; c < first + count; ++c) have += all[c];
    if (characters(title) > have) all[first] += characters(title) - have;
    first += count;
  }
  return all;
}

std::string trimmed_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string to_text(const Block& block, std::size_t width) {
  const std::vector<std::size_t> columns = widths(block);
  std::size_t numbers = 0, labels = 0;
  for (const std::size_t w : columns) numbers += between + w;
  for (const std::string& label : block.labels) labels = std::max(labels, characters(label));
  const std::size_t room = width > indent + numbers ? width - indent - numbers : 0;
  labels = std::min(labels, room);
  std::string text;
  if (!block.spans.empty()) {
    std::string line(indent + labels, ' ');
    std::size_t c = 0;
    for (const auto& [title, count] : block.spans) {
      std::size_t span = 0;
      for (const std::size_t end = c + count; c < end; ++c) span += between + columns[c];
      line += padded_left(title, span);
    }
    text += trimmed_end(line);
  }
  const auto line = [&](std::string_view label, const Cells& cells) {
    std::string out = std::string(indent, ' ') + padded_right(label, labels);
    for (std::size_t c = 0; c < cells.size(); ++c)
      out += std::string(between, ' ') + padded_left(cells[c], columns[c]);
    text += trimmed_end(out);
  };
  line("", block.heads);
  const Cells shown = shortened_apart(block.labels, labels);
  for (std::size_t r = 0; r < shown.size(); ++r) line(shown[r], block.rows[r]);
  return text;
}

}  // namespace ticopd
