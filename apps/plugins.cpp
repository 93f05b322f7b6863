#include "apps/commands.hpp"
#include "ticopd/plugin.hpp"

namespace ticopd::app {
namespace {

Words& given() {
  static Words paths;
  return paths;
}

}  // namespace

void add_plugin_option(CLI::App& command) {
  repeatable(
      command.add_option_function<Words>(
          "--plugin",
          [](const Words& paths) { given().insert(given().end(), paths.begin(), paths.end()); },
          "Load algorithms, codecs, objectives or graphs of your own: --plugin ./my.so "
          "(repeatable)"),
      "FILE");
}

void load_given_plugins() {
  static std::size_t loaded = 0;
  constexpr PluginRecord ours = plugin_record("", "");
  while (loaded < given().size()) load_plugin(given()[loaded++], ours);
}

Words plugin_words() {
  Words words;
  for (const std::string& path : given()) words.insert(words.end(), {"--plugin", path});
  return words;
}

}  // namespace ticopd::app
