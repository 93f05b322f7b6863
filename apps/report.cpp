#include "ticopd/report/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ReportFlags {
  std::vector<std::string> folders;
  fs::path out;
  std::string title;
  std::vector<std::string> targets;
  std::string bits;
  std::vector<std::string> figure;
  fs::path figure_file;
  bool json = false;
};

// --figure-file and --figure over what compare.json has, key by key.
void lay_over(json& figure, const ReportFlags& flags) {
  if (figure.is_null()) figure = json::object();
  if (!flags.figure_file.empty()) {
    const json file = read_toml(flags.figure_file);
    if (!file.contains("figure") || !file["figure"].is_object())
      throw ConfigError(fmt::format("{}: has no table [figure]", flags.figure_file.string()));
    figure.update(file["figure"]);
  }
  std::vector<std::string> assignments;
  for (const std::string& word : flags.figure) assignments.push_back("figure." + word);
  json tree{{"figure", figure}};
  apply_overrides(tree, assignments);
  figure = tree["figure"];
}

int report(const ReportFlags& flags) {
  std::vector<Target> targets;  // parsed first, so that a misspelt metric is reported at once
  for (const std::string& text : flags.targets) targets.push_back(parse_target(text));
  Collection all = read_folders(flags.folders);
  ReportOptions& options = all.options;
  // The report of one folder goes into that folder; that of several goes into a new one.
  if (!flags.out.empty()) options.folder = flags.out;
  std::optional<FolderClaim> made;
  if (options.folder.empty()) made.emplace(default_folder("report"));
  if (made) options.folder = made->path();
  if (!flags.title.empty()) options.title = flags.title;
  if (options.title.empty())
    options.title = all.runs.size() == 1 ? all.runs.front().label : "Report";
  if (!targets.empty()) options.targets = targets;
  if (options.targets.empty()) options.targets = default_targets(all.runs);
  if (!flags.bits.empty()) options.bits = "bits_" + flags.bits;
  lay_over(options.figure, flags);
  options.stop = &stop_requested();
  const Written written = write_report(options.folder, all.runs, options);
  for (const std::string& text : all.missing) tell("left out: {}\n", text);
  if (flags.json) {
    show_json(report_json(all.runs, options));
  } else {
    show("{}\n", summary_table(all.runs, options, 80));
    for (const fs::path& file : written.files) show("{}\n", file.string());
  }
  for (const std::string& text : written.missing) tell("missing: {}\n", text);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("report", "Write figures, table and page from run folders");
  auto flags = std::make_shared<ReportFlags>();
  command
      ->add_option("DIR", flags->folders,
                   "Run folders or comparison folders; LABEL=DIR gives a run another label")
      ->required();
  command
      ->add_option("--out", flags->out,
                   "Folder for the report; default: DIR, or runs/report-TIME if several are "
                   "given")
      ->type_name("DIR");
  command->add_option("--title", flags->title, "Title of the page")->type_name("TEXT");
  repeatable(command->add_option(
                 "--target", flags->targets,
                 "Show when each run reached a value: --target accuracy_min=0.9 (repeatable); "
                 "default: a value that about half of the runs reach"),
             "METRIC=VALUE");
  command
      ->add_option(
          "--bits", flags->bits,
          "Bits on the figure's axis: payload (as encoded, the default), paper (the papers' count) "
          "or link (times the neighbours)")
      ->check(CLI::IsMember({"paper", "payload", "link"}))
      ->type_name("WHICH");
  repeatable(command->add_option("--figure", flags->figure,
                                 "A key of [figure]: --figure preset=paper-1col --figure "
                                 "width='8.5 cm' (repeatable)"),
             "KEY=VALUE");
  command
      ->add_option("--figure-file", flags->figure_file,
                   "A TOML file with a table [figure], laid over that of the comparison")
      ->type_name("FILE");
  command->add_flag("--json", flags->json, "Print the report's data as JSON");
  command->footer(
      "Writes summary.csv, figure.svg, figure.pdf, figure.png, figure.gp and report.html.\n"
      "Examples:\n"
      "  ticopd report runs/paper_figure\n"
      "  ticopd report runs/paper_figure --figure preset=paper-1col --figure 'format=[\"pdf\"]'\n"
      "  ticopd report runs/eight runs/four --out runs/both --target accuracy_min=0.9\n"
      "  ticopd report '8 bits=runs/eight' '4 bits=runs/four' --title 'Fewer bits'");
  command->callback([=, &action] { action = [=] { return report(*flags); }; });
}

}  // namespace ticopd::app
