#include "ticopd/report/figure_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ticopd/error.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/report/series.hpp"
#include "ticopd/report/style.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// What a preset says in place of the defaults. Lengths are inches.
struct Preset {
  std::string_view name;
  double width;
  std::optional<double> height;
  double font_size, line_width;
  std::size_t usual;  // panels; 0: all
};
constexpr Preset presets[] = {
    {"paper-1col", 8.5 / 2.54, {}, 8, 1, 2},
    {"paper-2col", 7.16, {}, 8, 1, 0},
    {"slides", 10, 5.625, 16, 2, 2},  // 16:9
};

struct Unit {
  std::string_view name;
  double inches;
};
constexpr Unit units[] = {{"cm", 1 / 2.54}, {"mm", 1 / 25.4}, {"in", 1}, {"pt", 1 / 72.0}};

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  return parse_number<double>(std::string(trimmed(text.substr(0, text.size() - unit.size()))));
}

[[noreturn]] void refuse_text(std::string_view key, std::string_view given,
                              std::string_view allowed) {
  throw ConfigError(fmt::format("figure.{} = \"{}\": allowed {}", key, given, allowed));
}

double read_length(const char* key, const std::string& text, double least, double most) {
  const std::optional<double> inches = length_in_inches(text);
  if (!inches || *inches < least || *inches > most)
    refuse_text(key, text,
                fmt::format("is a length from {:g} in to {:g} in, such as \"8.5 cm\", in cm, mm, "
                            "in or pt",
                            least, most));
  return *inches;
}

// "Times, 9 pt", "Times" or "9 pt".
void read_font(const std::string& text, FigureOptions& figure) {
  constexpr std::string_view form =
      "is a family, a size from 4 pt to 72 pt, or both: "
      "\"Times, 9 pt\"";
  const std::size_t comma = text.find(',');
  std::string_view family = trimmed(std::string_view(text).substr(0, comma));
  std::string_view size = comma == std::string::npos
                              ? std::string_view()
                              : trimmed(std::string_view(text).substr(comma + 1));
  if (comma == std::string::npos && number_before(family, "pt")) std::swap(family, size);
  // gnuplot and LaTeX read the family: it may be no more than a name.
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' ||
           c == '-' || c == '_';
  };
  if (!std::ranges::all_of(family, in_name) || (comma != std::string::npos && family.empty()))
    refuse_text("font", text, form);
  figure.font = family;
  if (size.empty() && comma == std::string::npos) return;
  const std::optional<double> points = number_before(size, "pt");
  if (!points || !(*points >= 4 && *points <= 72)) refuse_text("font", text, form);
  figure.font_size = *points;
}

// The columns that a panel may have as x: counts and clocks.
std::vector<std::string_view> x_names() {
  std::vector<std::string_view> names{"bits"};
  for (const std::string_view column : column_names())
    if (find_metric(column)->better == Better::neither) names.push_back(column);
  return names;
}

std::string column_of(std::string_view key, std::string_view word, const std::string& bits) {
  const std::vector<std::string_view> names = x_names();
  if (std::ranges::find(names, word) == names.end())
    throw ConfigError(not_allowed(key, word, names));
  return std::string(word == "bits" ? std::string_view(bits) : word);
}

// "loss_max:bits", "end:loss_max", "bits_to:accuracy_min=0.9:codec.bits".
FigurePanel read_panel(const std::string& text, const std::string& bits) {
  constexpr std::string_view key = "figure.panels";
  const std::size_t colon = text.find(':');
  const std::string first = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (first == "end" || first == "bits_to") {
    const std::size_t next = rest.find(':');
    FigurePanel panel;
    panel.kind = first == "end" ? FigurePanel::Kind::end : FigurePanel::Kind::bits_to;
    if (next != std::string::npos) panel.x = rest.substr(next + 1);
    panel.metric = rest.substr(0, next);
    if (panel.kind == FigurePanel::Kind::bits_to) {
      try {
        const Target target = parse_target(panel.metric);
        panel.metric = target.metric;
        panel.value = target.value;
      } catch (const Error& e) {
        throw ConfigError(fmt::format("{}: \"{}\": {}", key, text, e.what()));
      }
    }
    require_metric(key, panel.metric);
    return panel;
  }
  if (colon == std::string::npos)
    throw ConfigError(fmt::format(
        "{} = \"{}\": allowed are METRIC:X, end:METRIC and bits_to:METRIC=VALUE, such as "
        "\"loss_max:bits\"",
        key, text));
  require_metric(key, first);
  return {FigurePanel::Kind::curves, first, column_of(key, rest, bits)};
}

// "log 1e-4..10", "linear", "0.9..1".
AxisWish read_axis(const std::string& column, const std::string& text) {
  AxisWish wish;
  const auto refuse_axis = [&] {
    refuse_text("axes." + column, text,
                "is log or linear, a range, or both, such as \"log 1e-4..10\"");
  };
  std::string_view rest = trimmed(text);
  for (const std::string_view word : {"log", "linear"})
    if (rest == word || rest.starts_with(std::string(word) + " ")) {
      wish.log = word == "log";
      rest = trimmed(rest.substr(word.size()));
      break;
    }
  if (rest.empty() && wish.log) return wish;
  const std::size_t dots = rest.find("..");
  if (dots == std::string_view::npos) refuse_axis();
  wish.low = parse_number<double>(std::string(trimmed(rest.substr(0, dots))));
  wish.high = parse_number<double>(std::string(trimmed(rest.substr(dots + 2))));
  if (!wish.low || !wish.high || !std::isfinite(*wish.low) || !std::isfinite(*wish.high) ||
      !(*wish.low < *wish.high))
    refuse_axis();
  if (wish.log.value_or(false) && *wish.low <= 0)
    refuse_text("axes." + column, text, "is a range above 0 on a logarithmic axis");
  return wish;
}

std::string read_colour(const std::string& label, const std::string& text) {
  const auto at = std::ranges::find(color_names, text);
  if (at != color_names.end())
    return std::string(colors[static_cast<std::size_t>(at - color_names.begin())]);
  const bool hex = text.size() == 7 && text[0] == '#' &&
                   text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
  if (!hex) {
    std::vector<std::string_view> allowed(color_names.begin(), color_names.end());
    allowed.insert(allowed.begin(), "#RRGGBB");
    throw ConfigError(not_allowed("figure.colours.\"" + label + "\"", text, allowed));
  }
  return text;
}

// The same checks as in a config, for --figure and compare.json.
json checked(json given) {
  if (given.is_null()) return json::object();
  if (!given.is_object()) refuse("figure", given, "is a table: [figure]");
  std::vector<std::string_view> names;
  for (const KeyInfo& key : plain_keys())
    if (key.name.starts_with("figure.")) names.push_back(std::string_view(key.name).substr(7));
  for (auto& [name, value] : given.items()) {
    if (std::ranges::find(names, name) == names.end())
      throw ConfigError(not_allowed("figure: key", name, names));
    check_value("figure." + name, plain_keys().at("figure." + name).domain, value);
  }
  return given;
}

}  // namespace

AxisWish FigureOptions::axis(std::string_view column) const {
  const auto at = axes.find(column);
  return at == axes.end() ? AxisWish() : at->second;
}

std::optional<double> length_in_inches(std::string_view text) {
  for (const Unit& unit : units)
    if (const auto value = number_before(trimmed(text), unit.name))
      return *value > 0 && std::isfinite(*value) ? std::optional(*value * unit.inches)
                                                 : std::nullopt;
  return std::nullopt;
}

FigureOptions read_figure(const json& raw, const std::string& bits) {
  const json given = checked(raw);
  const auto text = [&](const char* key) { return given.value(key, std::string()); };
  FigureOptions figure;
  if (const auto preset = std::ranges::find(presets, text("preset"), &Preset::name);
      preset != std::end(presets)) {
    figure.width = preset->width;
    figure.height = preset->height;
    figure.font_size = preset->font_size;
    figure.line_width = preset->line_width;
    figure.usual = preset->usual;
  }
  if (given.contains("width")) {
    figure.width = read_length("width", text("width"), 1, 40);
    figure.height.reset();  // of a preset, for another width
  }
  figure.height_is_fixed = given.contains("height");
  if (figure.height_is_fixed) figure.height = read_length("height", text("height"), 0.5, 40);
  if (given.contains("font")) read_font(text("font"), figure);
  for (const json& panel : given.value("panels", json::array()))
    figure.panels.push_back(read_panel(panel, bits));
  const json axes = given.value("axes", json::object());
  for (const auto& [column, wish] : axes.items()) {
    const std::vector<std::string_view> known = column_names();
    const std::string name = column == "bits" ? bits : column;
    if (std::ranges::find(known, name) == known.end())
      throw ConfigError(not_allowed("figure.axes: key", column, known));
    figure.axes[name] = read_axis(column, wish);
  }
  const json colours = given.value("colours", json::object());
  for (const auto& [label, colour] : colours.items())
    figure.colours[label] = read_colour(label, colour);
  if (given.contains("legend")) figure.legend = text("legend");
  figure.legend_columns = given.value("legend_columns", std::size_t{0});
  if (given.contains("format")) figure.formats = given["format"].get<std::vector<std::string>>();
  return figure;
}

void check_figure(const FigureOptions& figure, const std::vector<std::string>& names,
                  const std::vector<std::string>& swept) {
  for (const auto& [label, colour] : figure.colours)
    if (std::ranges::find(names, label) == names.end()) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      throw ConfigError(not_allowed("figure.colours: label", label, known));
    }
  for (const FigurePanel& panel : figure.panels) {
    if (panel.kind == FigurePanel::Kind::curves) continue;
    if (swept.empty())
      throw ConfigError(
          "figure.panels: end: and bits_to: draw against a swept key, and there is no [sweep]");
    const std::vector<std::string_view> known(swept.begin(), swept.end());
    if (!panel.x.empty() && std::ranges::find(swept, panel.x) == swept.end())
      throw ConfigError(not_allowed("figure.panels: swept key", panel.x, known));
  }
}

}  // namespace ticopd
