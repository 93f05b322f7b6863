#include "ticopd/site/network.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void add_keygen(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("keygen", "Make the keys of a site or of an operator");
  auto name = std::make_shared<std::string>();
  auto for_operator = std::make_shared<bool>(false);
  auto out = std::make_shared<fs::path>(".");
  command->add_option("NAME", *name, "NAME.key stays here, NAME.pub goes to the operator")
      ->required();
  command->add_flag("--operator", *for_operator, "Of an operator, who signs rosters");
  command->add_option("--out", *out, "Folder for the two files; default here")->type_name("DIR");
  command->callback([=, &action] {
    action = [=] {
      make_key_files(*name, *for_operator, *out);
      show("{} and {}.pub are written; the first is secret\n", (*out / (*name + ".key")).string(),
           *name);
      return 0;
    };
  });
}

void add_init(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("init", "Make a roster, signed, and all keys of a network");
  auto network = std::make_shared<NewNetwork>();
  command->add_option("FILE", network->config, "The experiment, a TOML file")->required();
  command->add_option("--sites", network->sites, "Sites that share the agents")->required();
  command->add_option("--out", network->out, "A new folder")->type_name("DIR")->required();
  command->add_option("--host", network->host, "Where all sites are; edit the roster for others")
      ->capture_default_str();
  command->add_option("--port", network->port, "Of the first site; the others have the next ones")
      ->capture_default_str();
  repeatable(command->add_option("--set", network->set, "Override a key of the file"), "KEY=VALUE");
  command->callback([=, &action] {
    action = [=] {
      make_network(*network);
      const std::string out = network->out.string();
      show("{}/roster.toml is signed. Start each site:\n", out);
      for (int s = 0; s < network->sites; ++s)
        show("  {}\n",
             quoted({"ticopd", "network", "join", "--roster", out + "/roster.toml", "--as",
                     fmt::format("site-{}", s), "--key", fmt::format("{}/site-{}.key", out, s),
                     "--out", fmt::format("{}/run-{}", out, s)}));
      return 0;
    };
  });
}

void add_sign(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("sign", "Check a roster and sign it");
  auto roster = std::make_shared<fs::path>();
  auto key = std::make_shared<fs::path>();
  auto after = std::make_shared<fs::path>();
  command->add_option("ROSTER", *roster, "roster.toml")->required();
  command->add_option("--key", *key, "operator.key")->type_name("FILE")->required();
  command->add_option("--after", *after, "The roster before it: is this one allowed to follow?")
      ->type_name("FILE");
  command->callback([=, &action] {
    action = [=] {
      sign_roster(*roster, *key, *after);
      show("{}.sig is written\n", roster->string());
      return 0;
    };
  });
}

void add_hand_over(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("hand-over", "Name the operator who signs from now on");
  auto next = std::make_shared<fs::path>();
  auto key = std::make_shared<fs::path>();
  command->add_option("NEXT", *next, "The next operator's NAME.pub")->required();
  command->add_option("--key", *key, "operator.key of the one who signs now")
      ->type_name("FILE")
      ->required();
  command->footer(
      "Example: append what it prints to the next roster, which the next operator signs\n"
      "  ticopd network hand-over next.pub --key operator.key >> roster.toml");
  command->callback([=, &action] {
    action = [=] {
      show("{}", hand_over_text(*next, *key));
      return 0;
    };
  });
}

std::string line_of(const json& s) {
  std::size_t up = 0;
  double sent = 0, received = 0;
  for (const json& peer : s["peers"]) {
    up += peer["connected"].get<bool>() ? 1 : 0;
    sent += 8 * peer["sent_bytes"].get<double>();
    received += 8 * peer["received_bytes"].get<double>();
  }
  std::string line = fmt::format("{}  round {} of {}  {} of {} neighbours up",
                                 s["name"].get<std::string>(), s["round"].get<std::uint32_t>(),
                                 s["iterations"].get<std::uint32_t>(), up, s["peers"].size());
  if (const auto version = s.value("version", 1u); version > 1)
    line += fmt::format("  roster {}, epoch {}", version, s.value("epoch", 1u));
  if (s.contains("waiting"))  // first: what does not fit the terminal is cut off
    line += fmt::format("  waiting for {} since {}", s["waiting"]["site"].get<std::string>(),
                        duration(s["waiting"]["seconds"].get<double>()));
  for (const json& peer : s["peers"])
    if (const std::string difference = peer.value("difference", ""); !difference.empty())
      line += "  " + difference;
  line += fmt::format("  sent {}  received {}", bits(sent), bits(received));
  return line;
}

struct JoinFlags {
  JoinOptions join;
  bool quiet = false, json = false;
};

int join(const JoinFlags& flags) {
  JoinOptions options = flags.join;
  options.stop = &stop_requested();
  options.say = [&](const std::string& text) {
    if (!flags.quiet || is_warning(text)) tell("{}\n", text);
  };
  options.on_status = [&](const json& status) {
    if (flags.json) {
      fmt::print("{}\n", status.dump());
      std::fflush(stdout);
    } else if (!flags.quiet && live()) {
      draw_live(line_of(status), "");
    }
  };
  json summary;
  try {
    summary = join_network(options);
  } catch (...) {
    if (!flags.quiet && !flags.json && live()) clear_live();
    throw;
  }
  if (!flags.quiet && !flags.json && live()) clear_live();
  if (!flags.json && summary.contains("removed_by_version"))
    show(
        "version {} of the roster does not name {}: this site is not needed any more; its last "
        "models are in {}\n",
        summary["removed_by_version"].get<std::uint32_t>(), options.as, options.out.string());
  else if (!flags.json)
    show("{} has finished after {} rounds in {}: {}\n", options.as,
         summary["iterations"].get<std::uint32_t>(), duration(summary["seconds"]["total"]),
         options.out.string());
  return 0;
}

void add_join(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("join", "Run one site to the end; again: go on");
  auto flags = std::make_shared<JoinFlags>();
  JoinOptions& o = flags->join;
  command->add_option("--roster", o.roster, "The signed roster")->type_name("FILE")->required();
  command->add_option("--as", o.as, "The name of this site in it")->type_name("NAME")->required();
  command->add_option("--key", o.key, "The secret key of this site")->type_name("FILE")->required();
  command->add_option("--out", o.out, "The folder of this site")->type_name("DIR")->required();
  command->add_option("--operator", o.operator_file,
                      "The operator's public key; default operator.pub beside the roster. Read at "
                      "the first start, then kept");
  command->add_option("--data", o.data, "In place of problem.data: what to read on this machine");
  command->add_option("--test", o.test, "In place of problem.test");
  command->add_option("--listen", o.listen, "In place of the roster's address, as 0.0.0.0:7400");
  command->add_option("--threads", o.threads, "Threads; default: every core")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--offline", o.offline, "Never fetch data");
  command->add_flag("--quiet", flags->quiet, "Show no progress");
  command->add_flag("--json", flags->json, "Print a line of JSON a second");
  command->footer(
      "Exit codes: 0 finished and not needed any more, 75 start it again, 65 a neighbour or this\n"
      "  folder is not what it was, 69 no ZeroMQ or the port is taken, 78 roster, key or config");
  command->callback([=, &action] { action = [=] { return join(*flags); }; });
}

void add_status(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("status", "Show who is up, the round, and who waits for whom");
  auto folders = std::make_shared<std::vector<fs::path>>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("DIR", *folders, "Folders of sites")->required();
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([=, &action] {
    action = [=] {
      const json all = network_status(*folders);
      if (*as_json) {
        show_json(all);
        return 0;
      }
      for (const json& s : all) {
        const bool known = s.contains("peers") && s.contains("round") && s.contains("iterations");
        show("{:<5} {:<9} {}\n", s["up"].get<bool>() ? "up" : "down", s.value("state", ""),
             known ? line_of(s) : s["folder"].get<std::string>());
      }
      return 0;
    };
  });
}

void add_collect(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("collect", "Make one run folder of the folders of all sites");
  auto folders = std::make_shared<std::vector<fs::path>>();
  auto out = std::make_shared<fs::path>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("DIR", *folders, "The folders of all sites")->required();
  command->add_option("--out", *out, "A new folder for the run")->type_name("RUN")->required();
  command->add_flag("--json", *as_json, "Print run.json");
  command->callback([=, &action] {
    action = [=] {
      const json all = collect_network(*folders, *out);
      if (*as_json)
        show_json(all);
      else
        show("finished after {} rounds over {} sites: {}\n  digest {}\n",
             all["iterations"].get<std::uint32_t>(), all["sites"].size(), out->string(),
             all["digest"].get<std::string>());
      return 0;
    };
  });
}

}  // namespace

void add_network(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "network", "Sites on machines of their own that run one experiment together");
  command->require_subcommand(1);
  add_init(*command, action);
  add_keygen(*command, action);
  add_sign(*command, action);
  add_hand_over(*command, action);
  add_join(*command, action);
  add_status(*command, action);
  add_collect(*command, action);
  command->footer(
      "Examples:\n"
      "  ticopd network init experiments/sites.toml --sites 3 --out net\n"
      "  ticopd network join --roster net/roster.toml --as site-0 --key "
      "net/site-0.key --out net/run-0\n"
      "  ticopd network status net/run-*\n"
      "  ticopd network collect net/run-* --out runs/together");
}

}  // namespace ticopd::app
