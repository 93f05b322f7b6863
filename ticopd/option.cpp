#include "ticopd/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ticopd {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it

}  // namespace

std::string to_text(const OptionValue& value) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](const std::string& text) { return fmt::format("\"{}\"", text); },
                               [](const std::vector<std::int64_t>& all) {
                                 return fmt::format("[{}]", fmt::join(all, ", "));
                               },
                               [](const std::vector<double>& all) {
                                 return fmt::format("[{}]", fmt::join(all, ", "));
                               },
                               [](const auto& plain) { return fmt::format("{}", plain); }},
                    value);
}

std::string Phrase::of(const OptionValue& value, const OptionValue& usual) const {
  if (when == When::never || std::holds_alternative<std::monostate>(value) ||
      (when == When::unless_default && value == usual))
    return "";
  const auto fill = [this](const auto& v) { return fmt::vformat(text, fmt::make_format_args(v)); };
  return std::visit(
      Overloaded{[&](std::int64_t v) { return fill(factor * static_cast<double>(v)); },
                 [&](double v) { return fill(factor * v); },
                 [&](const std::string& v) { return fill(v); },
                 [&](const auto&) { return fill(to_text(value)); }},
      value);
}

std::vector<std::string_view> Domain::allowed_words() const {
  return names ? names() : std::vector<std::string_view>(words.begin(), words.end());
}

bool Domain::allows(const OptionValue& value) const {
  const auto in_range = [this](std::int64_t v) { return v >= least && v <= most; };
  const auto known_word = [&] {
    const auto* given = std::get_if<std::string>(&value);
    const auto all = allowed_words();
    return given && std::ranges::find(all, *given) != all.end();
  };
  const auto in_reals = [this](double v) {
    return std::isfinite(v) && v <= high && (low_allowed ? v >= low : v > low);
  };
  switch (kind) {
    case Kind::boolean:
      return std::holds_alternative<bool>(value);
    case Kind::integer: {
      if (const auto* all = std::get_if<std::vector<std::int64_t>>(&value); all && or_list)
        return !all->empty() && std::ssize(*all) <= most &&
               std::ranges::all_of(*all, [](std::int64_t v) { return v >= 0; }) &&
               std::set<std::int64_t>(all->begin(), all->end()).size() == all->size();
      const auto* v = std::get_if<std::int64_t>(&value);
      return v ? in_range(*v) : known_word();
    }
    case Kind::number: {
      const auto* v = std::get_if<double>(&value);
      return v && in_reals(*v);
    }
    case Kind::word:
      return known_word();
    case Kind::text:
    case Kind::file:
      return std::holds_alternative<std::string>(value);
    case Kind::integers: {
      const auto* all = std::get_if<std::vector<std::int64_t>>(&value);
      return all && std::ranges::all_of(*all, in_range);
    }
    case Kind::numbers: {
      const auto* all = std::get_if<std::vector<double>>(&value);
      return all && !all->empty() && std::ranges::all_of(*all, in_reals);
    }
    case Kind::texts:  // no value of an option holds them: checked where they are read
    case Kind::table:
    case Kind::text_table:
      break;
  }
  return false;
}

std::string Domain::in_words() const {
  const auto number_in_words = [this]() -> std::string {
    if (std::isinf(low)) return "is a finite number";
    return fmt::format("is a number {} {}{}", low_allowed ? "from" : "above", low,
                       std::isinf(high)
                           ? (low_allowed ? " up" : "")
                           : fmt::format("{} {}", low_allowed ? " to" : ", at most", high));
  };
  switch (kind) {
    case Kind::boolean:
      return "are true and false";
    case Kind::integer:
      if (!words.empty())
        return fmt::format("is \"{}\" or a whole number from {}", words[0], least);
      return fmt::format("is a whole number from {} to {}{}", least, most,
                         or_list ? ", or a list of different seeds" : "");
    case Kind::number:
      return number_in_words();
    case Kind::numbers:
      return "is a list; each " + number_in_words();
    case Kind::word:
      return fmt::format("are {}", fmt::join(allowed_words(), ", "));
    case Kind::text:
    case Kind::file:
      return "is a string";
    case Kind::integers:
      return fmt::format("is a list of layer sizes from {} to {}, such as [100] or [200, 100]",
                         least, most);
    case Kind::texts:
      return words.empty() ? "is a list of strings"
                           : fmt::format("is a list of {}", fmt::join(words, ", "));
    case Kind::text_table:
      return "is a table of strings";
    case Kind::table:
      break;
  }
  return "is a table";
}

void refuse_value(const std::string& key, const std::string& given, const Domain& domain) {
  if (domain.kind != Domain::Kind::word)
    throw ConfigError(fmt::format("{} = {}: allowed {}", key, given, domain.in_words()));
  const bool quoted = given.size() > 1 && given.front() == '"' && given.back() == '"';
  throw ConfigError(
      not_allowed(key, quoted ? given.substr(1, given.size() - 2) : given, domain.allowed_words()));
}

namespace domain {

using Kind = Domain::Kind;

Domain boolean() {
  return {.kind = Kind::boolean};
}
Domain whole(std::int64_t least, std::int64_t most) {
  return {.kind = Kind::integer, .least = least, .most = most};
}
Domain seeds() {
  return {.kind = Kind::integer, .least = 1, .most = 1000, .or_list = true};
}
Domain whole_or(std::string word, std::int64_t least) {
  return {.kind = Kind::integer, .least = least, .most = INT64_MAX, .words = {std::move(word)}};
}
Domain number(double low, double high) {
  return {.kind = Kind::number, .low = low, .high = high};
}
Domain above(double low, double high) {
  return {.kind = Kind::number, .low = low, .high = high, .low_allowed = false};
}
Domain word(std::span<const std::string_view> words) {
  return {.kind = Kind::word, .words = {words.begin(), words.end()}};
}
Domain word(std::initializer_list<std::string_view> words) {
  return {.kind = Kind::word, .words = {words.begin(), words.end()}};
}
Domain word(std::vector<std::string_view> (*names)()) {
  return {.kind = Kind::word, .names = names};
}
Domain text() {
  return {.kind = Kind::text};
}
Domain file() {
  return {.kind = Kind::file};
}
Domain layer_sizes(std::int64_t least, std::int64_t most) {
  return {.kind = Kind::integers, .least = least, .most = most};
}
Domain numbers(Domain each) {
  each.kind = Kind::numbers;
  return each;
}
Domain texts(std::initializer_list<std::string_view> words) {
  return {.kind = Kind::texts, .words = {words.begin(), words.end()}};
}
Domain text_table() {
  return {.kind = Kind::text_table};
}
Domain table() {
  return {.kind = Kind::table};
}

}  // namespace domain
}  // namespace ticopd
