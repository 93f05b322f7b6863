#include "ticopd/experiment/schema.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"

namespace ticopd::app {

void add_schema(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("schema", "The JSON Schema of a config (draft 2020-12)");
  command->footer(
      "Example: let an editor complete and check configs\n"
      "  ticopd schema > ticopd.schema.json");
  command->callback([&action] {
    action = [] {
      show_json(config_schema());
      return 0;
    };
  });
}

}  // namespace ticopd::app
