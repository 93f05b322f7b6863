#include "docs/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/transport/table.hpp"

namespace ticopd {
namespace {

template <class Words>
std::string code(const Words& words) {
  std::string text;
  for (const auto& word : words) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", word);
  return text;
}

// A bar would end the cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string without_double_blanks(std::string rows) {
  for (std::size_t at = 0; (at = rows.find("|  |", at)) != std::string::npos;)
    rows.erase(at + 1, 1);
  return rows;
}

std::string range_text(double low, double high, bool low_allowed) {
  if (std::isinf(high)) return fmt::format("{} {:g}", low_allowed ? "from" : "above", low);
  return low_allowed ? fmt::format("{:g} to {:g}", low, high)
                     : fmt::format("above {:g}, at most {:g}", low, high);
}

std::string allowed_text(const Domain& d) {
  const bool endless = d.most == INT64_MAX;
  const std::string whole = endless ? fmt::format("a whole number from {}", d.least)
                                    : fmt::format("{} to {}", d.least, d.most);
  switch (d.kind) {
    case Domain::Kind::integer:
      if (d.or_list) return whole + ", or a list of seeds";
      return d.words.empty() ? whole : fmt::format("{}, {}", code(d.words), whole);
    case Domain::Kind::number:
      return range_text(d.low, d.high, d.low_allowed);
    case Domain::Kind::word:
      return code(d.allowed_words());
    case Domain::Kind::integers:
      return fmt::format("a list, each {}", whole);
    case Domain::Kind::numbers:
      return fmt::format("a list, each {}",
                         std::isinf(d.low) ? "a number" : range_text(d.low, d.high, d.low_allowed));
    case Domain::Kind::texts:
      return d.words.empty() ? "a list of strings" : fmt::format("a list: {}", code(d.words));
    case Domain::Kind::table:
      return "a table";
    case Domain::Kind::text_table:
      return "a table of strings";
    default:
      return "";
  }
}

std::string key_rows(const std::string& section) {
  std::vector<KeyInfo> keys = config_keys();
  std::erase_if(keys, [&](const KeyInfo& key) {
    const auto dot = key.name.find('.');
    return (dot == std::string::npos ? "" : key.name.substr(0, dot)) != section;
  });
  const bool taken = std::ranges::any_of(keys, [](const KeyInfo& k) { return !k.takers.empty(); });
  std::string text = taken ? "| key | default | allowed | read by | |\n|---|---|---|---|---|\n"
                           : "| key | default | allowed | |\n|---|---|---|---|\n";
  for (const KeyInfo& key : keys) {
    const nlohmann::json value = to_json(key.value);
    text += fmt::format("| `{}` |{} | {} |{} {} |\n", key.name,
                        value.is_null() ? "" : fmt::format(" `{}`", value.dump()),
                        allowed_text(key.domain),
                        taken ? fmt::format(" {} |", code(key.takers)) : "", cell(key.help));
  }
  return text;
}

std::string algorithm_rows() {
  std::string text = "| algorithm | parameter | default | allowed | |\n|---|---|---|---|---|\n";
  const auto row = [&](const AlgorithmInfo& a, std::string_view name, const std::string& value,
                       const std::string& allowed, std::string_view help) {
    text += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", a.name, name, value, allowed,
                        cell(std::string(help)));
  };
  for (const AlgorithmInfo& a : algorithm_table()) {
    for (const ParameterInfo& p : a.parameters)
      row(a, p.name,
          p.required          ? "required"
          : p.derived.empty() ? fmt::format("`{:g}`", p.value)
                              : fmt::format("`{}`", p.derived),
          fmt::format("{}{}", p.range.whole ? "a whole number, " : "",
                      range_text(p.range.low, p.range.high, p.range.low_allowed)),
          p.help);
    for (const FlagInfo& f : a.flags) row(a, f.name, f.value ? "`true`" : "`false`", "", f.help);
    for (const ChoiceInfo& c : a.choices)
      row(a, c.name, fmt::format("`\"{}\"`", c.value), code(c.words), c.help);
  }
  return text;
}

// Entries with a name, the options they read, and a line about them.
template <class Entries, class Name>
std::string kind_rows(const std::string& head, const Entries& entries, Name name) {
  std::string text = fmt::format("| {} | options | |\n|---|---|---|\n", head);
  for (const auto& e : entries)
    text += fmt::format("| `{}` | {} | {} |\n", name(e), code(e.options), cell(e.summary));
  return text;
}

std::string transport_rows() {
  std::string text = "| transport | |\n|---|---|\n";
  for (const TransportInfo& t : transport_table())
    text += fmt::format("| `{}` | {} |\n", t.name, cell(t.summary));
  return text;
}

std::string column_rows() {
  std::string text = "| column | measured at | |\n|---|---|---|\n";
  for (const MetricInfo& m : metric_table())
    text += fmt::format("| `{}` | `{}` | {} |\n", m.column, name_of(m.level),
                        cell(std::string(m.help)));
  return text;
}

std::string rows_of(const std::string& name) {
  const auto by_name = [](const auto& entry) { return entry.name; };
  const std::string keys = "keys";
  if (name == keys) return key_rows("");
  if (name.starts_with(keys + " ")) return key_rows(name.substr(keys.size() + 1));
  if (name == "algorithms") return algorithm_rows();
  if (name == "codecs") return kind_rows("codec", codec_table(), by_name);
  if (name == "graphs") return kind_rows("graph", graph_table(), by_name);
  if (name == "objectives") return kind_rows("objective", objective_table(), by_name);
  if (name == "data")
    return kind_rows("form", data_table(), [](const DataInfo& d) { return d.form(); });
  if (name == "transports") return transport_rows();
  if (name == "columns") return column_rows();
  throw std::runtime_error("no such table: " + name);
}

}  // namespace

std::string with_fresh_tables(const std::string& page) {
  const std::string begin = "<!-- table: ", close = " -->\n", end = "<!-- end -->";
  std::string fresh;
  std::size_t at = 0;
  for (std::size_t mark; (mark = page.find(begin, at)) != std::string::npos;) {
    const std::size_t name_at = mark + begin.size(), name_end = page.find(close, name_at);
    const std::size_t last = page.find(end, name_at);
    if (name_end == std::string::npos || last == std::string::npos)
      throw std::runtime_error("a table without <!-- end -->: " + page.substr(mark, 60));
    fresh += page.substr(at, name_end + close.size() - at);
    fresh += "\n" + without_double_blanks(rows_of(page.substr(name_at, name_end - name_at))) + "\n";
    at = last;
  }
  return fresh + page.substr(at);
}

}  // namespace ticopd
