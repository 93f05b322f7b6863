#include "fuzz/site_edits.hpp"

#include <cstring>

#include "fuzz/script.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

constexpr std::size_t magic_bytes = 8;

void rename_key(json& head, Script& script) {
  json* table = &head;
  for (int depth = 0; depth < 2 && table->is_structured() && !table->empty(); ++depth) {
    auto child = table->begin();
    std::advance(child, static_cast<std::ptrdiff_t>(script.byte() % table->size()));
    if (table->is_object() && (depth == 1 || !child->is_structured())) {
      const std::string name = child.key();
      json value = *child;
      table->erase(name);
      (*table)[script.text()] = std::move(value);
      return;
    }
    table = &*child;
  }
}

}  // namespace

SiteParts take_apart_site(std::span<const std::byte> file) {
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  std::uint64_t length = 0, check = 0;
  std::memcpy(&length, text.data() + magic_bytes, sizeof length);
  const std::size_t begin = magic_bytes + sizeof length;
  return {text.substr(0, magic_bytes), parse_json(text.substr(begin, length)),
          text.substr(begin + length, text.size() - begin - length - sizeof check)};
}

void edit(SiteParts& parts, std::span<const std::uint8_t> edits) {
  constexpr int most = 16;
  Script script(edits);
  for (int n = 0; n < most && !script.empty(); ++n) {
    const std::size_t which = script.byte();
    switch (static_cast<SiteEdit>(which % static_cast<std::size_t>(SiteEdit::count))) {
      case SiteEdit::value:
        replace_inside(parts.head, script);
        break;
      case SiteEdit::key:
        rename_key(parts.head, script);
        break;
      case SiteEdit::body_bytes: {
        const std::size_t place = script.word();
        splice(parts.body, place, script.bytes());
        break;
      }
      case SiteEdit::resize_body:
        parts.body.resize(script.word() % 4096);
        break;
      case SiteEdit::count:
        break;
    }
  }
}

Bytes put_together(const SiteParts& parts, bool right_hash) {
  const std::string head = parts.head.dump();
  const std::uint64_t length = head.size();
  std::string text = parts.magic;
  text.append(reinterpret_cast<const char*>(&length), sizeof length);
  text += head + parts.body;
  std::uint64_t check = hash_row(std::as_bytes(std::span(text)));
  if (!right_hash) check ^= 1;
  text.append(reinterpret_cast<const char*>(&check), sizeof check);
  return to_bytes<char>(std::span(text));
}

}  // namespace ticopd
