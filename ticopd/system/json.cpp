#include "ticopd/system/json.hpp"

#include <fmt/format.h>

namespace ticopd {
namespace {

using nlohmann::json;

// Looks at brackets only, so that the parser never builds what is too deep.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > json_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

json parse_json(std::string_view text, std::string* why) {
  const auto refuse = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return json(json::value_t::discarded);
  };
  // The parser stops at a NUL and would not see the text after it.
  if (text.find('\0') != std::string_view::npos) return refuse("it holds a NUL byte");
  if (too_deep(text))
    return refuse(fmt::format("nested deeper than the {} levels that are allowed", json_depth));
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? refuse("it is not JSON") : value;
}

const json* find_value(const json& tree, std::string_view path) {
  const json* at = &tree;
  while (!path.empty()) {
    if (path.front() == '/') path.remove_prefix(1);
    const std::size_t end = path.find_first_of("/.");
    const auto part = at->is_object() ? at->find(path.substr(0, end)) : at->end();
    if (!at->is_object() || part == at->end()) return nullptr;
    at = &*part;
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return at;
}

std::string json_text(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace ticopd
