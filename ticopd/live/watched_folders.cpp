#include "ticopd/live/watched_folders.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/report/search_folder.hpp"
#include "ticopd/report/sites.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {

namespace fs = std::filesystem;

WatchedFolders::WatchedFolders(std::vector<std::string> words) : words_(std::move(words)) {
  // What is wrong from the start is an error; what goes wrong later is said on the page.
  require_folders(words_);
  gather_folders(words_, read_run);
  gather();
}

WatchedFolders::Stamp WatchedFolders::stamp_of(const fs::path& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) return {};
  return {about.st_dev, about.st_ino, static_cast<std::uint64_t>(about.st_size),
          about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
}

// Files whose change may add runs or remove them.
std::vector<std::pair<fs::path, WatchedFolders::Stamp>> WatchedFolders::stamps() const {
  std::vector<std::pair<fs::path, Stamp>> all;
  for (const std::string& word : words_) {
    const fs::path folder = folder_of_word(word);
    for (const char* name : {"compare.json", "run.json"})
      all.emplace_back(folder / name, stamp_of(folder / name));
    for (const fs::path& search : searches_in(folder))
      for (const char* name : {"search.json", "trials.csv"})
        all.emplace_back(search / name, stamp_of(search / name));
  }
  return all;
}

bool WatchedFolders::look() {
  bool changed = false;
  for (auto& [folder, known] : runs_) changed = read_if_changed(folder, known) || changed;
  if (changed || stamps() != seen_) {
    gather();
    return true;
  }
  return look_at_sites();
}

// A site says once a second how it does, and a lock says whether it lives.
bool WatchedFolders::look_at_sites() {
  const double now = seconds_now();
  if (now < sites_seen_at_ + 1) return false;
  sites_seen_at_ = now;
  nlohmann::json sites = sites_of(words_);
  return std::exchange(collection_.options.sites, sites) != sites;
}

// Reads a run's folder if its files, or its process, are not as they were.
bool WatchedFolders::read_if_changed(const fs::path& folder, Known& known) {
  constexpr double quiet = 2, pause = 2;  // seconds
  const double now = seconds_now();
  const Stamp summary = stamp_of(folder / "run.json"), metrics = stamp_of(folder / "metrics.csv");
  const bool same = summary == known.summary && metrics == known.metrics && known.changed_at > 0;
  if (same) {
    // A run that writes nothing for a while may have been killed.
    if (known.series.columns.empty() || known.series.status() != "running" ||
        !known.trouble.empty())
      return false;
    if (now - known.changed_at < quiet || now - known.asked_at < pause) return false;
    known.asked_at = now;
    const bool in_use = FolderGlance(folder).in_use();
    return std::exchange(known.in_use, in_use) != in_use;
  }
  known.summary = summary;
  known.metrics = metrics;
  known.in_use = known.changed_at > 0 || FolderGlance(folder).in_use();
  known.changed_at = now;
  try {
    known.series = read_series(folder);
    known.trouble.clear();
  } catch (const NoRowYet& e) {
    known.trouble = e.what();
  } catch (const Error& e) {
    std::error_code error;
    known.trouble = !known.series.columns.empty() && !fs::exists(folder, error)
                        ? fmt::format("{}: the folder is gone", folder.string())
                        : e.what();
  }
  return true;
}

Series WatchedFolders::read(const fs::path& folder) {
  Known& known = runs_[folder];
  read_if_changed(folder, known);
  if (known.series.columns.empty()) {
    std::error_code error;
    throw NoRowYet(
        fs::exists(folder / "run.json", error)
            ? known.trouble
            : fmt::format("{}: there is no run.json yet: the run has not begun", folder.string()));
  }
  Series series = known.series;
  if (!known.trouble.empty())
    series.mark_stopped(known.trouble);
  else if (!known.in_use && series.status() == "running")
    series.mark_stopped(reason_of_end(series));
  return series;
}

// One argument as it is now; as it was, with the reason, if it cannot be read any more.
Collection WatchedFolders::part(const std::string& word) {
  const Collection& before = parts_[word];
  std::string trouble = folder_of_word(word).string() + ": the folder is gone";
  try {
    Collection now = gather_folders(std::vector{word}, [&](const fs::path& f) { return read(f); });
    if (before.runs.empty() || !now.runs.empty()) return now;
  } catch (const Error& e) {
    trouble = e.what();
  }
  Collection kept = before;
  for (Series& run : kept.runs)
    if (run.status() == "running") run.mark_stopped(trouble);
  kept.missing = {trouble};
  return kept;
}

// Runs of one file have one name; who only looks need not give them others.
void WatchedFolders::tell_apart(std::vector<Series>& runs) {
  std::map<std::string, int> times;
  for (const Series& run : runs) ++times[run.label];
  for (Series& run : runs)
    if (times[run.label] > 1) run.label += fmt::format(" ({})", run.folder.string());
}

void WatchedFolders::gather() {
  seen_ = stamps();
  Collection all;
  for (const std::string& word : words_) {
    Collection& now = parts_[word] = part(word);
    all.runs.insert(all.runs.end(), now.runs.begin(), now.runs.end());
    all.missing.insert(all.missing.end(), now.missing.begin(), now.missing.end());
    all.options = now.options;
  }
  if (words_.size() > 1) all.options = {};  // none of them describes all
  all.options.sites = sites_of(words_);
  tell_apart(all.runs);
  collection_ = std::move(all);
}

bool WatchedFolders::running() const {
  const auto goes_on = [](const Series& run) { return run.status() == "running"; };
  if (std::ranges::any_of(collection_.runs, goes_on)) return true;
  // A comparison or a search between two runs.
  return std::ranges::any_of(words_, [](const std::string& word) {
    std::error_code error;
    const fs::path folder = folder_of_word(word);
    return fs::is_directory(folder, error) && FolderGlance(folder).in_use();
  });
}

}  // namespace ticopd
