#include "ticopd/report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/codecs/table.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

// Reads and validates metrics.csv. An error names the file and the line.
class MetricsReader {
 public:
  // `own`: the columns that only this run has, as its run.json names them.
  MetricsReader(fs::path file, const std::vector<std::string>& own)
      : file_(std::move(file)), bytes_(read_file(file_)), columns_(column_names().size()) {
    for (const std::string& name : own) own_.emplace_back(name, Series::Column{});
  }

  void read_into(Series& series) {
    std::string_view text = bytes_;
    read_header(take_line(text));
    while (!text.empty()) {
      ++line_;
      // The writer ends every line, so a last line without its end was cut off.
      const bool whole = text.find('\n') != std::string_view::npos;
      row(take_line(text));
      if (!whole) refuse("the file ends in the middle of a line");
    }
    if (columns_.front().empty())
      throw NoRowYet(fmt::format("{}:1: the run has logged no row yet", file_.string()));
    series.columns = std::move(columns_);
    series.own = std::move(own_);
  }

 private:
  // The columns that every file has come first; others may follow, in any number.
  void read_header(std::string_view header) {
    MetricColumns columns = metric_columns();
    std::erase_if(columns, [](const MetricInfo& metric) { return metric.added; });
    const std::string usual = csv_header(columns);
    const bool begins =
        header.starts_with(usual) && (header.size() == usual.size() || header[usual.size()] == ',');
    names_ = split(header);
    const auto known = [this](std::string_view name) {
      return find_metric(name) != nullptr ||
             std::ranges::any_of(own_, [&](const auto& column) { return column.first == name; });
    };
    if (!begins || !std::ranges::all_of(names_, known))
      refuse(fmt::format("expected the header {}", usual));
    const std::vector<std::string_view> reported = column_names();
    for (const std::string_view name : reported) cell_of_.push_back(place_of(name));
    for (const auto& [name, column] : own_) cell_of_own_.push_back(place_of(name));
  }

  std::size_t place_of(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  }

  // The number in a cell; empty if there is no such cell or nothing in it.
  std::optional<double> number(const std::vector<std::string_view>& cells,
                               std::size_t place) const {
    const std::string_view cell = place < cells.size() ? cells[place] : "";
    const std::optional<double> value = parse_number<double>(cell);
    if (!value && !cell.empty())
      refuse(fmt::format("{} = \"{}\" is no number", names_[place], cell));
    return value;
  }

  void row(std::string_view line) {
    const std::vector<std::string_view> cells = split(line);
    if (cells.size() != names_.size())
      refuse(fmt::format("{} cells, expected {}: the line is cut off or damaged", cells.size(),
                         names_.size()));
    for (std::size_t c = 0; c < columns_.size(); ++c)
      columns_[c].push_back(number(cells, cell_of_[c]));
    for (std::size_t c = 0; c < own_.size(); ++c)
      own_[c].second.push_back(number(cells, cell_of_own_[c]));
    const Series::Column& rounds = columns_.front();
    const double round = rounds.back().value_or(-1);
    if (!(round >= 0 && round <= 0xffffffffu && round == std::floor(round)))
      refuse(fmt::format("iteration = \"{}\" is not a round", cells.front()));
    if (rounds.size() > 1 && round <= *rounds[rounds.size() - 2])
      refuse(fmt::format("iteration {} comes after {}: rounds must ascend", round,
                         *rounds[rounds.size() - 2]));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw FormatError(fmt::format("{}:{}: {}", file_.string(), line_, what));
  }

  fs::path file_;
  std::string bytes_;
  std::vector<Series::Column> columns_;
  std::vector<std::string_view> names_;  // in the header
  std::vector<std::pair<std::string, Series::Column>> own_;
  std::vector<std::size_t> cell_of_own_;
  std::vector<std::size_t> cell_of_;  // each of column_names(); the number of cells: none
  int line_ = 1;
};

// The codec options that run.json has. Values that no option can have are left out, because
// run.json may be older than this program or edited by hand. Words are taken as they are: the kind
// may be one that another program registered.
CodecOptions codec_in(const json& codec) {
  CodecOptions options;
  if (codec.contains("kind") && !codec["kind"].is_string()) options.kind = "?";
  for (const Option<CodecOptions>& option : codec_options_table()) {
    if (!codec.contains(option.name)) continue;
    OptionValue value = option_value(codec[option.name]);
    if (const auto* whole = std::get_if<std::int64_t>(&value);
        whole != nullptr && option.domain.kind == Domain::Kind::number)
      value = static_cast<double>(*whole);
    const bool word =
        option.domain.kind == Domain::Kind::word && std::holds_alternative<std::string>(value);
    if (word || option.domain.allows(value)) option.set(options, option.name, value);
  }
  return options;
}

}  // namespace

const json& Series::field(const char* pointer) const {
  static const json nothing;
  const json* found = find_value(summary, pointer);
  return found != nullptr ? *found : nothing;
}

std::string Series::word(const char* pointer) const {
  const json& value = field(pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

const Series::Column& Series::column(std::string_view name) const {
  const auto names = column_names();
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw ConfigError(not_allowed("column", name, names));
  return columns[static_cast<std::size_t>(at - names.begin())];
}

std::uint32_t Series::last_iteration() const {
  return static_cast<std::uint32_t>(column("iteration").back().value_or(0));
}

std::string Series::status() const {
  return word("/status");
}

void Series::mark_stopped(std::string_view reason) {
  summary["status"] = "stopped";
  summary["reason"] = reason;
}

bool Series::has(std::string_view name) const {
  return column(name).back().has_value();
}

bool Series::blew_up() const {
  const Column& loss = column(has("loss_local") ? "loss_local" : "loss_max");
  return status() == "diverged" || std::ranges::any_of(loss, [&](const std::optional<double>& v) {
           return v && loss.front() && *v > 100 * *loss.front();
         });
}

std::string Series::algorithm() const {
  return word("/config/algorithm/name");
}

std::string Series::codec() const {
  const json& codec = field("/config/codec");
  const json& own = field("/codec");  // set if the method brings its own codec
  return in_words(codec_in(own.is_object() ? own : codec));
}

std::size_t Series::dimension() const {
  const json& d = field("/dimension");
  return d.is_number_unsigned() ? d.get<std::size_t>() : 0;
}

std::optional<double> Series::rate() const {
  // Use the difference to the first row: some methods send before their first round.
  const Column& bits = column("bits_payload");
  const double rounds = *column("iteration").back() - *column("iteration").front();
  if (rounds <= 0 || dimension() == 0 || !bits.front() || !bits.back()) return std::nullopt;
  return (*bits.back() - *bits.front()) / rounds / static_cast<double>(dimension());
}

Series read_series(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw FormatError(
        fmt::format("{}: {}, expected the folder of a run", folder.string(),
                    fs::exists(folder, error) ? "is a file" : "there is no such folder"));
  if (!fs::exists(folder / "run.json", error) && error)
    throw FormatError(
        fmt::format("{}: cannot be read: {}", (folder / "run.json").string(), error.message()));
  if (!fs::exists(folder / "run.json", error))
    throw FormatError(fmt::format(
        "{}: is not a ticopd run: there is no run.json{}", folder.string(),
        fs::exists(folder / "metrics.csv", error) ? " (the run has not ended: resume it)" : ""));
  Series series;
  series.folder = folder;
  // run.json is there from the start, metrics.csv after the first logged round.
  if (!fs::exists(folder / "metrics.csv", error) && !error)
    throw NoRowYet(fmt::format("{}: the run has logged no row yet", folder.string()));
  series.summary = RunFolder::require_summary(folder);
  series.label = series.word("/config/name");
  if (const std::string site = series.word("/site/name"); !site.empty()) series.label = site;
  if (series.label.empty()) series.label = fs::absolute(folder / "").parent_path().filename();
  series.group = series.label;
  if (const json& seed = series.field("/config/seed"); seed.is_number_unsigned())
    series.seed = seed.get<std::uint64_t>();
  std::vector<std::string> own;
  if (const json& names = series.field("/own_columns"); names.is_array())
    for (const json& name : names)
      if (name.is_string() && find_metric(name.get<std::string>()) == nullptr) own.push_back(name);
  MetricsReader(folder / "metrics.csv", own).read_into(series);
  return series;
}

std::vector<std::string_view> column_names() {
  std::vector<std::string_view> names;
  for (const MetricInfo& metric : metric_table())
    if (metric.presence != ColumnPresence::on_request) names.push_back(metric.column);
  return names;
}

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const MetricInfo& metric : metric_table())
    if (metric.better != Better::neither) names.push_back(metric.column);
  return names;
}

std::vector<std::size_t> shown_columns(std::span<const Series> runs) {
  const std::vector<std::string_view> names = column_names();
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < names.size(); ++c)
    if (find_metric(names[c])->presence == ColumnPresence::always ||
        std::ranges::any_of(runs, [&](const Series& run) { return run.has(names[c]); }))
      shown.push_back(c);
  return shown;
}

bool higher_is_better(std::string_view metric) {
  const MetricInfo* info = find_metric(metric);
  return info != nullptr && info->better == Better::higher;
}

std::string_view metric_title(std::string_view name) {
  const MetricInfo* info = find_metric(name);
  return info == nullptr ? name : info->title;
}

void require_metric(std::string_view key, std::string_view word) {
  const std::vector<std::string_view> names = metric_names();
  if (std::ranges::find(names, word) == names.end())
    throw ConfigError(not_allowed(key, word, names));
}

}  // namespace ticopd
