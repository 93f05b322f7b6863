#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/error.hpp"

namespace ticopd::app {

void add_data(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("data", "Fetch data sets");
  command->require_subcommand(1);
  command->footer("Example:\n  ticopd data fetch mnist");
  auto* fetch =
      command->add_subcommand("fetch", "Fetch a data set into the cache and verify its checksums");
  auto name = std::make_shared<std::string>();
  auto flags = std::make_shared<RunFlags>();
  fetch->add_option("NAME", *name, "mnist")->required()->check(one_of({"mnist"}));
  fetch->add_flag("--offline", flags->offline, "Only check that it is in the cache");
  fetch->add_flag("--quiet", flags->quiet, "Print no messages");
  fetch->add_flag("--json", flags->json, "Print the folder as JSON");
  fetch->footer(
      "Example:\n  ticopd data fetch mnist\nThe cache is $XDG_CACHE_HOME/ticopd, or "
      "~/.cache/ticopd.");
  fetch->callback([=, &action] {
    action = [=] {
      const auto say = [=](const std::string& text) {
        if (!flags->quiet) tell("{}\n", text);
      };
      const std::string folder = fetch_mnist(flags->offline, say, true).string();
      if (flags->json)
        show_json({{"name", *name}, {"folder", folder}});
      else
        show("{}\n", folder);
      return 0;
    };
  });
}

}  // namespace ticopd::app
