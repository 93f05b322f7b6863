#include "fuzz/script.hpp"

#include <array>

#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// The numbers and words at which checks fail.
constexpr std::array<const char*, 40> values{"null",
                                             "true",
                                             "0",
                                             "1",
                                             "-1",
                                             "2",
                                             "3",
                                             "4",
                                             "5",
                                             "6",
                                             "7",
                                             "8",
                                             "12",
                                             "24",
                                             "36",
                                             "2147483647",
                                             "2147483648",
                                             "4294967295",
                                             "4294967296",
                                             "9007199254740993",
                                             "4611686018427387904",
                                             "4611686018427387905",
                                             "9223372036854775807",
                                             "9223372036854775808",
                                             "18446744073709551615",
                                             "-9223372036854775808",
                                             "18446744073709551592",
                                             "0.5",
                                             "-0.0",
                                             "1e300",
                                             "-1e300",
                                             "5e-324",
                                             "1e19",
                                             "\"\"",
                                             "\"0\"",
                                             "\"F64\"",
                                             "[]",
                                             "{}",
                                             "[0]",
                                             "[[0, 0], [0, 0]]"};

}  // namespace

json Script::value() {
  const std::size_t which = byte();
  const json spelt = which < values.size() ? json() : parse_json(text());
  if (which >= values.size() && !spelt.is_discarded()) return spelt;
  return json::parse(values[which % values.size()]);
}

void replace_inside(json& root, Script& script) {
  json* at = &root;
  while (at->is_structured() && !at->empty()) {
    const std::size_t step = script.byte();
    if (step == 255) break;
    auto child = at->begin();
    std::advance(child, static_cast<std::ptrdiff_t>(step % at->size()));
    at = &*child;
  }
  *at = script.value();
}

void splice(std::string& text, std::size_t place, const std::string& over) {
  if (text.empty()) return;
  place %= text.size();
  text.replace(place, std::min(over.size(), text.size() - place), over);
}

}  // namespace ticopd
