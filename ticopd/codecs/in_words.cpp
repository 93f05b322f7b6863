#include <algorithm>
#include <string>
#include <vector>

#include "ticopd/codecs/table.hpp"

namespace ticopd {
namespace {

// Collects the phrases of one codec and of the one behind it.
class Words {
 public:
  explicit Words(const CodecOptions& options) : options_(options) {}

  std::string of(const std::string& kind) {
    const CodecInfo* info = codec_table().find(kind);
    if (info == nullptr) return kind;
    std::string text = info->in_words.empty() ? info->name : info->in_words;
    for (const std::string& name : info->options) add(text, codec_options_table().at(name));
    return text;
  }

  // Nobody knows which options it takes.
  std::string of_unknown_kind() {
    std::string text = options_.kind;
    for (const Option<CodecOptions>& option : codec_options_table())
      if (option.get(options_, option.name) != option.value) add(text, option);
    return text;
  }

 private:
  // An option is said once, and not beside the one that it stands in for.
  void add(std::string& text, const Option<CodecOptions>& option) {
    OptionValue value = option.get(options_, option.name);
    if (std::holds_alternative<std::monostate>(value)) value = option.value;
    if (std::holds_alternative<std::monostate>(value)) return;
    if (was_said(option.name) || was_said(option.instead_of)) return;
    said_.push_back(option.name);
    if (option.name == "then") value = of(std::get<std::string>(value));
    const std::string phrase = option.in_words(value);
    if (!phrase.empty()) text += ", " + phrase;
  }

  bool was_said(const std::string& name) const {
    return !name.empty() && std::ranges::find(said_, name) != said_.end();
  }

  const CodecOptions& options_;
  std::vector<std::string> said_;
};

}  // namespace

std::string in_words(const CodecOptions& options) {
  Words words(options);
  return codec_table().find(options.kind) != nullptr ? words.of(options.kind)
                                                     : words.of_unknown_kind();
}

}  // namespace ticopd
