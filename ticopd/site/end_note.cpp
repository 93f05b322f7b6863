#include "ticopd/site/end_note.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/error.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

constexpr const char* note_file = "ended";
constexpr const char* unfinished_note = "ended.tmp";

// So that a torn file counts as none.
std::string first_line(std::uint64_t network, const std::string& reason) {
  return fmt::format("{:016x} {:016x}\n", network, hash_row(std::as_bytes(std::span(reason))));
}

}  // namespace

std::string EndNote::read(std::uint64_t network) {
  if (const auto all = store_.list(); std::ranges::find(all, note_file) == all.end()) return {};
  const Bytes bytes = store_.read(note_file);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t begin = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string reason = text.empty() ? "" : text.substr(begin);
  return text == first_line(network, reason) + reason ? reason : std::string();
}

void EndNote::write(std::uint64_t network, const std::string& reason) {
  const std::string text = first_line(network, reason) + reason;
  store_.write(unfinished_note, std::as_bytes(std::span(text)));
  store_.sync(unfinished_note);
  store_.rename(unfinished_note, note_file);
  store_.sync_folder();
}

}  // namespace ticopd
