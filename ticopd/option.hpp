#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ticopd/table.hpp"

namespace ticopd {

// The value of an option; std::monostate where it has none.
using OptionValue = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                                 std::vector<std::int64_t>, std::vector<double>>;

// As it would stand in a config: 8, 0.5, true, "fixed", [100].
std::string to_text(const OptionValue& value);

// Which values an option may have.
struct Domain {
  enum class Kind {
    boolean,
    integer,
    number,
    word,
    text,
    file,
    integers,
    numbers,
    texts,
    table,
    text_table
  };

  Kind kind = Kind::text;
  std::int64_t least = 0, most = 0;  // integer; integers: of each
  double low = 0, high = 0;          // number; numbers: of each
  bool low_allowed = true;
  bool or_list = false;  // integer: or a list of numbers from 0, each there once
  // word; texts: of each, none: any text; integer: a word that stands for a number
  std::vector<std::string> words = {};
  // word: asks a table each time, so that entries added at run time are allowed too.
  std::vector<std::string_view> (*names)() = nullptr;

  std::vector<std::string_view> allowed_words() const;
  bool allows(const OptionValue& value) const;
  std::string in_words() const;  // "is a whole number from 1 to 16"
};

namespace domain {
inline constexpr double infinity = std::numeric_limits<double>::infinity();

Domain boolean();
Domain whole(std::int64_t least, std::int64_t most);
Domain whole_or(std::string word, std::int64_t least);  // "full", or a number
Domain number(double low, double high = infinity);      // low <= value <= high
Domain above(double low, double high = infinity);       // low < value <= high
Domain word(std::span<const std::string_view> words);   // one of these
Domain word(std::initializer_list<std::string_view> words);
Domain word(std::vector<std::string_view> (*names)());  // one of a table's names
Domain text();
Domain file();                                              // relative to the config's folder
Domain seeds();                                             // how many, or a list
Domain layer_sizes(std::int64_t least, std::int64_t most);  // a list, each in this range
Domain numbers(Domain each);                                // a list of one number or more
Domain texts(std::initializer_list<std::string_view> words = {});  // a list; none: any texts
Domain table();                                                    // read by whoever owns the key
Domain text_table();                                               // the same, each value a text
}  // namespace domain

// How reports say the value of an option: "{} bits" becomes "8 bits". {} is the value times
// `factor`, a number as double; other texts ("not scaled") do without it.
struct Phrase {
  enum class When { never, always, unless_default };

  std::string text = {};
  When when = When::never;
  double factor = 1;

  std::string of(const OptionValue& value, const OptionValue& usual) const;  // may be empty
};

// What the config reader, `ticopd list`, `ticopd schema` and the manual know of an option.
struct OptionInfo {
  std::string name;
  Domain domain;
  OptionValue value;         // the default; none: absent unless given
  std::string help;          // for the manual: words of a config stand between backticks
  std::string instead_of{};  // the option that this one may be given in place of
  Phrase phrase{};           // in reports

  std::string in_words(const OptionValue& given) const { return phrase.of(given, value); }
};

// ConfigError: `KEY = GIVEN: allowed ...`, for a value outside the domain.
[[noreturn]] void refuse_value(const std::string& key, const std::string& given,
                               const Domain& domain);

// The values of options that no member holds: those that a program registers at run time.
using OwnOptions = std::map<std::string, OptionValue, std::less<>>;

// An option of an options struct such as CodecOptions. Its default is the member's initializer.
template <class Options>
struct Option : OptionInfo {
  OptionValue (*get)(const Options&, const std::string& name) = nullptr;
  void (*set)(Options&, const std::string& name, const OptionValue&) = nullptr;

  // The same option, with words for reports.
  Option said(std::string text, double factor = 1) && {
    phrase = {std::move(text), Phrase::When::always, factor};
    return std::move(*this);
  }
  Option said_unless_default(std::string text) && {
    phrase = {std::move(text), Phrase::When::unless_default};
    return std::move(*this);
  }
};

namespace option_members {

template <auto member>
struct Of;
template <class O, class V, V O::*member>
struct Of<member> {
  using Options = O;
  using Value = V;
};

template <class V>
OptionValue read(const V& v) {
  if constexpr (std::is_same_v<V, bool> || std::is_same_v<V, double>)
    return v;
  else if constexpr (std::is_integral_v<V>)
    return static_cast<std::int64_t>(v);
  else if constexpr (std::is_enum_v<V>)
    return std::string(words_of(v)[static_cast<std::size_t>(v)]);
  else if constexpr (std::is_same_v<V, std::string> || std::is_same_v<V, std::vector<double>>)
    return v.empty() ? OptionValue() : OptionValue(v);
  else if constexpr (requires { v.string(); })  // a path
    return v.empty() ? OptionValue() : OptionValue(v.string());
  else if constexpr (std::is_same_v<V, std::vector<int>>)
    return v.empty() ? OptionValue() : std::vector<std::int64_t>(v.begin(), v.end());
  else  // std::optional
    return v ? read(*v) : OptionValue();
}

template <class V>
void write(V& v, const OptionValue& value) {
  if constexpr (std::is_same_v<V, bool> || std::is_same_v<V, double> ||
                std::is_same_v<V, std::string> || std::is_same_v<V, std::vector<double>>) {
    v = std::get<V>(value);
  } else if constexpr (std::is_integral_v<V>) {
    v = static_cast<V>(std::get<std::int64_t>(value));
  } else if constexpr (std::is_enum_v<V>) {
    const auto words = words_of(v);
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] == std::get<std::string>(value)) v = static_cast<V>(i);
  } else if constexpr (requires { v.string(); }) {
    v = std::get<std::string>(value);
  } else if constexpr (std::is_same_v<V, std::vector<int>>) {
    v.clear();
    for (const std::int64_t x : std::get<std::vector<std::int64_t>>(value))
      v.push_back(static_cast<int>(x));
  } else {
    write(v.emplace(), value);
  }
}

}  // namespace option_members

// option<&CodecOptions::bits>("bits", domain::whole(1, 16), "..."). A member of an enum type needs
// `words_of(E)` beside the enum: its words in the order of its values.
template <auto member>
auto option(std::string name, Domain domain, std::string help, std::string instead_of = "") {
  using Options = typename option_members::Of<member>::Options;
  return Option<Options>{
      {std::move(name), std::move(domain), option_members::read(Options{}.*member), std::move(help),
       std::move(instead_of)},
      [](const Options& o, const std::string&) { return option_members::read(o.*member); },
      [](Options& o, const std::string&, const OptionValue& value) {
        option_members::write(o.*member, value);
      }};
}

// An option without a member, for entries that are added at run time: its value is in
// `options.own`.
template <class Options>
Option<Options> own_option(std::string name, Domain domain, OptionValue value, std::string help) {
  return {{std::move(name), std::move(domain), std::move(value), std::move(help)},
          [](const Options& o, const std::string& key) {
            const auto at = o.own.find(key);
            return at == o.own.end() ? OptionValue() : at->second;
          },
          [](Options& o, const std::string& key, const OptionValue& given) { o.own[key] = given; }};
}

// The value of such an option, or its default.
template <class V, class Options>
V own_value(const Table<Option<Options>>& table, const Options& options, std::string_view name) {
  const auto given = options.own.find(name);
  return std::get<V>(given == options.own.end() ? table.at(name).value : given->second);
}

// ConfigError, naming `SECTION.NAME`, for the first of the named options that is out of its domain.
template <class Options, class Names>
void check_options(const Table<Option<Options>>& table, const Names& names, const Options& options,
                   const std::string& section) {
  for (const auto& name : names) {
    const Option<Options>& o = table.at(name);
    const OptionValue value = o.get(options, o.name);
    if (!std::holds_alternative<std::monostate>(value) && !o.domain.allows(value))
      refuse_value(section + "." + o.name, to_text(value), o.domain);
  }
}

}  // namespace ticopd
