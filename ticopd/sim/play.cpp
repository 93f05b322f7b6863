#include "ticopd/sim/play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "ticopd/error.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/run/epoch.hpp"
#include "ticopd/run/solve.hpp"
#include "ticopd/sim/sim_world.hpp"
#include "ticopd/site/kept_roster.hpp"
#include "ticopd/site/site.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

// A roster as the simulator signs it: its number.
Bytes text_of(std::size_t roster) {
  Bytes bytes(sizeof roster);
  std::memcpy(bytes.data(), &roster, sizeof roster);
  return bytes;
}
std::size_t roster_of(std::span<const std::byte> text) {
  std::size_t roster = 0;
  if (text.size() == sizeof roster) std::memcpy(&roster, text.data(), sizeof roster);
  return roster;
}

template <class T>
Placement placement_of(const SimRoster<T>& r, int own) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < r.setup.graph.agents(); ++i) sizes.push_back(r.setup.objective->samples(i));
  return {r.setup.graph, static_cast<int>(r.sites.size()), own, sizes, r.setup.execution.blocks};
}

template <class T>
SimSites sites_of(const SimRoster<T>& r) {
  const std::size_t count = r.sites.size();
  SimSites s{r.sites, std::vector<std::vector<bool>>(count, std::vector<bool>(count))};
  const Placement placement = placement_of(r, 0);
  for (int i = 0; i < r.setup.graph.agents(); ++i)
    for (const int j : r.setup.graph.neighbours(i)) {
      const auto a = static_cast<std::size_t>(placement.owner(i));
      const auto b = static_cast<std::size_t>(placement.owner(j));
      if (a != b) s.neighbours[a][b] = s.neighbours[b][a] = true;
    }
  return s;
}

// The rosters of one seed, each with a setup of its epoch.
template <class T>
struct Rosters {
  Rosters(const SimProblem<T>& problem, std::size_t count) {
    std::vector<std::string> names;
    for (int s = 0; s < problem.sites; ++s) names.push_back(fmt::format("site-{}", s));
    add({problem.algorithm, problem.setup, std::move(names)});
    for (std::size_t r = 0; r < count; ++r) add(problem.later[r]);
  }
  void add(const SimRoster<T>& r) {
    all.push_back(r);
    setups.push_back(std::make_unique<Setup<T>>(r.setup));
    begin_epoch(*setups.back(), r.epoch);
  }
  std::vector<SimSites> sites() const {
    std::vector<SimSites> s;
    for (const SimRoster<T>& r : all) s.push_back(sites_of(r));
    return s;
  }
  std::size_t last() const { return all.size() - 1; }

  std::vector<SimRoster<T>> all;
  std::vector<std::unique_ptr<Setup<T>>> setups;
};

// One seed: the processes of sites, and what is judged in the end.
template <class T>
class Game {
 public:
  Game(const SimProblem<T>& problem, std::uint64_t seed, const Faults& faults)
      : problem_(problem),
        dice_(seed ^ 0x5175),
        rosters_(problem, faults.has("roster")
                              ? static_cast<std::size_t>(dice_.between(
                                    0, static_cast<std::int64_t>(problem.later.size())))
                              : 0),
        world_(rosters_.sites(), seed, faults) {
    options_.checkpoint_rounds = static_cast<std::uint32_t>(dice_.between(1, 8));
    options_.limits.piece = static_cast<std::size_t>(dice_.between(16, 400));
    options_.limits.window = static_cast<std::size_t>(dice_.between(1, 4096));
    options_.unsafe_bytes = static_cast<std::size_t>(dice_.between(256, 1 << 20));
  }

  SimOutcome operator()() {
    world_.run([this](SimSite& site) -> std::function<void()> {
      return [this, &site] { process(site); };
    });
    SimOutcome& outcome = world_.outcome;
    outcome.time = world_.now();
    // Fibers that still live hold objects on their stacks.
    for (const auto& site : world_.all)
      if (site->fiber) {
        site->calls_to_live = 0;
        site->fiber->resume();
        site->fiber.reset();
      }
    if (outcome.what.empty()) judge();
    return outcome;
  }

 private:
  void process(SimSite& site) {
    SimOutcome& outcome = world_.outcome;
    try {
      if (live(site)) site.finished = true;
    } catch (const Killed&) {
      ++(site.power_fails ? outcome.power_losses : outcome.kills);
    } catch (const DiskError&) {  // somebody makes room and starts it again
    } catch (const Diverged& e) {
      site.diverged = e.what();
      site.finished = true;
      if (!problem_.digest.empty()) outcome.what = fmt::format("{}: {}", site.name, e.what());
    } catch (const FormatError& e) {
      outcome.what = fmt::format("{} refuses: {}", site.name, e.what());
      if (world_.may_refuse(site.name, e.what())) outcome.end = SimOutcome::End::refused;
    } catch (const std::exception& e) {
      outcome.what = fmt::format("{}: {}", site.name, e.what());
    }
  }

  // A process, through all epochs that it sees. True if nobody needs the site any more.
  bool live(SimSite& site) {
    KeptRoster kept(site);
    site.follows = roster_of(kept.read());
    if (site.given > site.follows) {
      const std::size_t before = site.follows;
      kept.write(text_of(site.given));
      site.follows = site.given;
      site.wire = before;
      if (world_.sites(before).find(site.name) >= 0 &&
          rosters_.all[before].epoch != rosters_.all[site.given].epoch)
        hand_on_roster({site, site, site}, names_of(site, before), names_of(site, site.given));
    }
    for (;;) {
      const std::size_t now = site.follows;
      site.wire = now;
      if (world_.sites(now).find(site.name) < 0) return true;
      const Site<T>* running = nullptr;
      SiteOptions mine = options_of(site);
      mine.on_round = [&](std::uint32_t) { remember(site, running->x()); };
      Site<T> one(rosters_.all[now].algorithm, *rosters_.setups[now], {site, site, site}, mine);
      running = &one;
      if (const std::string why = wrong_start(site, one.start()); !why.empty())
        world_.outcome.what = why;
      const SiteEnd end = one.run();
      if (end == SiteEnd::superseded) continue;
      site.logged = one.logged();
      site.start = ticopd::kept(one.start());
      if (end == SiteEnd::confirmed) return true;
      for (const std::string& name : world_.sites(site.follows).names) world_.start_again(name);
      return false;
    }
  }

  // Where a later epoch may begin. A clone has the same past.
  void remember(const SimSite& site, const Field<T>& x) {
    for (std::size_t row = 0; row < x.rows(); ++row)
      world_.machine_of(site.name).models.insert(hash_row(std::as_bytes(x.row(row))));
  }

  // An epoch begins with models of a complete round, or where the objective says.
  std::string wrong_start(const SimSite& site, const Field<T>& start) {
    const Setup<T>& setup = problem_.setup;
    std::vector<T> x0(start.cols());
    if (start.rows() > 0) setup.objective->start(setup.seed_of_problem(), x0);
    for (std::size_t row = 0; row < start.rows(); ++row)
      if (!std::ranges::equal(start.row(row), x0) &&
          !world_.machine_of(site.name).models.contains(hash_row(std::as_bytes(start.row(row)))))
        return site.name + " begins an epoch where no round has ended";
    return {};
  }

  SiteNames names_of(const SimSite& site, std::size_t roster) const {
    const SimRoster<T>& r = rosters_.all[roster];
    return {.names = r.sites,
            .own = world_.sites(roster).find(site.name),
            .network = std::uint64_t{0x7469636f7064} + r.epoch,
            .roster = {.owner = 0x6f776e,
                       .bytes = roster,
                       .version = static_cast<std::uint32_t>(roster) + 1,
                       .epoch = r.epoch},
            .signed_roster = text_of(roster)};
  }

  SiteOptions options_of(SimSite& site) {
    SiteOptions o = options_;
    o.sites = names_of(site, site.follows);
    // Somebody starts a site again that has left, if another one still needs it: it may have been
    // put back to an old copy of its folder, or have missed the last word.
    o.on_wait = [this, &site](int number, Time since) {
      if (world_.now() > since + 100 * one_second)
        world_.start_again(world_.sites(site.follows).names[static_cast<std::size_t>(number)]);
    };
    o.on_roster = [this, &site](std::span<const std::byte> text) -> std::optional<SiteNames> {
      const std::size_t roster = roster_of(text);
      if (roster <= site.follows) return std::nullopt;
      KeptRoster(site).write(text);
      site.follows = roster;
      if (rosters_.all[roster].epoch == rosters_.all[site.wire].epoch) site.wire = roster;
      return names_of(site, roster);
    };
    return o;
  }

  // The digest over the sites of the last roster, or why there is none.
  void judge() {
    const std::vector<std::string>& names = rosters_.all.back().sites;
    SimOutcome& outcome = world_.outcome;
    if (problem_.digest.empty()) {
      for (const std::string& name : names)
        if (world_.machine_of(name).diverged.empty())
          outcome.what = name + " does not know that the run has diverged";
      if (outcome.what.empty()) outcome.end = SimOutcome::End::same;
      return;
    }
    const std::vector<LoggedRows>& first = world_.machine_of(names.front()).logged;
    Digest digest;
    for (std::size_t l = 0; l < first.size(); ++l) {
      std::vector<RowHash> rows;
      for (const std::string& name : names) {
        const std::vector<LoggedRows>& own = world_.machine_of(name).logged;
        if (own.size() != first.size() || own[l].round != first[l].round) {
          outcome.what = "the sites logged different rounds";
          return;
        }
        rows.insert(rows.end(), own[l].rows.begin(), own[l].rows.end());
      }
      digest.add(first[l].round, rows);
    }
    const std::string wanted = reference();
    if (digest.hex() == wanted)
      outcome.end = SimOutcome::End::same;
    else
      outcome.what = fmt::format("digest {} instead of {}", digest.hex(), wanted);
  }

  // Of the undisturbed run, from where the last epoch began.
  std::string reference() {
    const SimRoster<T>& r = rosters_.all.back();
    if (r.epoch == 1) return problem_.digest;
    Field<T> start(static_cast<std::size_t>(r.setup.graph.agents()),
                   r.setup.objective->dimension());
    for (std::size_t s = 0; s < r.sites.size(); ++s) {
      const Placement placement = placement_of(r, static_cast<int>(s));
      Field<T> own(placement.rows(), start.cols());
      put_back(world_.machine_of(r.sites[s]).start, own);
      for (std::size_t row = 0; row < own.rows(); ++row)
        std::ranges::copy(std::as_const(own).row(row),
                          start.row(static_cast<std::size_t>(placement.agent(row))).begin());
    }
    Setup<T> setup = *rosters_.setups.back();
    setup.start_of = [&](int agent, std::span<T> x) {
      std::ranges::copy(std::as_const(start).row(static_cast<std::size_t>(agent)), x.begin());
    };
    return solve(r.algorithm, setup).digest;
  }

  const SimProblem<T>& problem_;
  SimRandom dice_;
  Rosters<T> rosters_;
  SimWorld world_;
  SiteOptions options_;
};

}  // namespace

template <class T>
SimOutcome play(const SimProblem<T>& problem, std::uint64_t seed, const Faults& faults) {
  return Game<T>(problem, seed, faults)();
}

template SimOutcome play(const SimProblem<float>&, std::uint64_t, const Faults&);
template SimOutcome play(const SimProblem<double>&, std::uint64_t, const Faults&);

}  // namespace ticopd
