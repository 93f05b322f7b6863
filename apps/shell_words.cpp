#include "apps/commands.hpp"

namespace ticopd::app {

std::string quoted(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-+=./,:@%") == std::string::npos;
    if (!line.empty()) line += ' ';
    if (plain) {
      line += word;
      continue;
    }
    // Inside single quotes the shell changes nothing. A single quote itself is written '\''.
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

Words words_to_repeat(const RunFlags& flags) {
  Words words = plugin_words();
  for (const std::string& set : flags.set) words.insert(words.end(), {"--set", set});
  if (flags.device != "cpu") words.insert(words.end(), {"--device", flags.device});
  return words;
}

}  // namespace ticopd::app
