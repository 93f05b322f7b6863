#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "ticopd/error.hpp"
#include "ticopd/graph/bounds.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/stream.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

// Removes the next number from the line and returns it.
std::optional<int> take_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  int value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const auto used = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{}) return std::nullopt;
  if (used < line.size() && blanks.find(line[used]) == std::string_view::npos) return std::nullopt;
  line.remove_prefix(used);
  return value;
}

std::pair<int, int> parse_edge(std::string_view line, const std::optional<int>& agents,
                               const std::string& where) {
  const std::string_view whole = line;
  const auto i = take_number(line);
  const auto j = i ? take_number(line) : i;
  if (!i || !j || line.find_first_not_of(blanks) != std::string_view::npos)
    throw FormatError(
        fmt::format("{}: expected two agents as `i j`, found `{}`", where, printable(whole)));
  const int last = agents.value_or(max_agents) - 1;
  for (const int agent : {*i, *j})
    if (agent < 0 || agent > last)
      throw FormatError(fmt::format("{}: agent {} is outside 0 ... {}{}", where, agent, last,
                                    agents ? fmt::format(" (graph.agents = {})", *agents) : ""));
  if (*i == *j) throw FormatError(fmt::format("{}: edge {} {} is a self-loop", where, *i, *j));
  return std::minmax({*i, *j});
}

// Edges as they are read. Errors name the place and say what is wrong with the edge.
class EdgeSet {
 public:
  explicit EdgeSet(std::optional<int> agents) : agents_(agents) {
    if (agents) check_size("file", *agents, 0);
  }

  void add(std::pair<int, int> edge, const std::string& where) {
    if (!seen_.insert(edge).second)
      throw FormatError(
          fmt::format("{}: edge {} {} is given twice", where, edge.first, edge.second));
    largest_ = std::max(largest_, edge.second);
    check_size("file", agents(), static_cast<double>(seen_.size()));
  }

  bool empty() const { return seen_.empty(); }
  int agents() const { return agents_.value_or(largest_ + 1); }
  Graph graph() const { return {agents(), Edges(seen_.begin(), seen_.end())}; }

 private:
  std::optional<int> agents_;
  std::set<std::pair<int, int>> seen_;
  int largest_ = 0;  // agent
};

}  // namespace

Graph listed_edges(std::string_view text, std::optional<int> agents) try {
  EdgeSet edges(agents);
  std::string words(text);
  for (char& c : words)
    if (c == ',') c = ' ';
  std::string_view left = words;
  for (std::size_t at; (at = left.find_first_not_of(blanks)) != std::string_view::npos;) {
    left.remove_prefix(at);
    const std::string_view word = left.substr(0, left.find_first_of(blanks));
    left.remove_prefix(word.size());
    std::string pair(word);
    if (const auto dash = pair.find('-'); dash != std::string::npos && dash > 0) pair[dash] = ' ';
    edges.add(parse_edge(pair, agents, "graph.edges"), "graph.edges");
  }
  if (edges.empty() && agents.value_or(0) != 1)
    throw ConfigError("graph.edges: holds no edges; allowed is a list such as \"0-1 1-2 0-2\"");
  return edges.graph();
} catch (const FormatError& e) {
  throw ConfigError(e.what());
}

Graph edge_list(const std::filesystem::path& file, std::optional<int> agents) {
  EdgeSet edges(agents);
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored) || ::access(file.c_str(), R_OK) != 0)
    throw FormatError(fmt::format(
        "{}: the edge list of graph.path cannot be read: {}", file.string(),
        std::filesystem::is_directory(file, ignored) ? "it is a folder"
                                                     : "no such file, or no right to read it"));
  LineStream lines(file);
  std::string_view text;
  for (std::size_t number = 1; lines.next(text); ++number) {
    const std::string_view line = text.substr(0, text.find('#'));
    if (line.find_first_not_of(blanks) == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", file.string(), number);
    edges.add(parse_edge(line, agents, where), where);
  }
  if (!agents && edges.empty()) throw FormatError(file.string() + ": holds no edges");
  try {
    return edges.graph();
  } catch (const ConfigError& e) {  // only a graph that is not connected gets here
    throw ConfigError(fmt::format("graph.path = {}: {}", file.string(), e.what()));
  }
}

}  // namespace ticopd
