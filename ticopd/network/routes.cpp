#include "ticopd/network/routes.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ticopd {
namespace {

// The position of an agent among the neighbours of another, which are in ascending order.
std::size_t place_among(const std::vector<int>& neighbours, int agent) {
  return static_cast<std::size_t>(std::ranges::lower_bound(neighbours, agent) - neighbours.begin());
}

}  // namespace

template <class T>
Routes<T>::Routes(const Mixing& matrix, const Placement& plan, const Graph& graph,
                  const LinkSchedule& schedule, std::uint64_t seed)
    : matrix_(matrix),
      placement_(plan),
      graph_(graph),
      schedule_(schedule),
      seed_(seed),
      by_link_(schedule.varies() && graph.edges() > 0) {
  if (by_link_) {
    lay_out_links();
    at(0);
  } else {
    by_agent();
  }
}

// Our own ids come first and are contiguous; those of ghost rows follow. Both are ascending.
template <class T>
std::size_t Routes<T>::slot_of(int id) const {
  const auto ours = ids_.begin() + static_cast<std::ptrdiff_t>(hosted_);
  const auto from =
      id >= ids_.front() && id < ids_.front() + static_cast<int>(hosted_) ? ids_.begin() : ours;
  return static_cast<std::size_t>(std::lower_bound(from, from == ours ? ids_.end() : ours, id) -
                                  ids_.begin());
}

// One row per agent. A message is a broadcast.
template <class T>
void Routes<T>::by_agent() {
  hosted_ = placement_.rows();
  total_ = static_cast<std::size_t>(placement_.agents());
  std::map<int, std::vector<int>> listeners;  // of our rows, their own agents included
  std::set<int> ghosts;
  for (int i = 0; i < placement_.agents(); ++i)
    for (const auto& [j, weight] : matrix_.rows[static_cast<std::size_t>(i)]) {
      if (placement_.owner(j) == placement_.rank())
        listeners[j].push_back(i);
      else if (placement_.owner(i) == placement_.rank())
        ghosts.insert(j);
    }
  for (std::size_t row = 0; row < hosted_; ++row) ids_.push_back(placement_.agent(row));
  ids_.insert(ids_.end(), ghosts.begin(), ghosts.end());
  for (const auto& [agent, who] : listeners) {  // a row that nobody reads is not sent
    Message m{.row = static_cast<std::size_t>(agent - placement_.first())};
    m.slot = m.row;
    std::set<int> ranks;
    for (const int i : who) {
      if (i == agent) continue;
      m.links.push_back(place_among(graph_.neighbours(agent), i));
      ranks.insert(placement_.owner(i));
    }
    ranks.erase(placement_.rank());
    m.ranks.assign(ranks.begin(), ranks.end());
    messages_.push_back(std::move(m));
  }
  for (const int agent : ghosts)
    arrivals_.push_back({agent, -1, placement_.owner(agent), slot_of(agent)});
  for (std::size_t row = 0; row < hosted_; ++row) {
    auto& terms = mixing_.rows.emplace_back();
    for (const auto& [agent, weight] :
         matrix_.rows[static_cast<std::size_t>(placement_.agent(row))])
      terms.push_back({slot_of(agent), static_cast<T>(weight)});
  }
}

template <class T>
int Routes<T>::link_id(int from, int to) const {
  return first_link_[static_cast<std::size_t>(from)] +
         static_cast<int>(place_among(graph_.neighbours(from), to));
}

// One row per directed link, numbered by agent and then by neighbour.
template <class T>
void Routes<T>::lay_out_links() {
  first_link_.push_back(0);
  for (int i = 0; i < placement_.agents(); ++i)
    first_link_.push_back(first_link_.back() + graph_.degree(i));
  total_ = static_cast<std::size_t>(first_link_.back());
  std::vector<int> ghosts;
  for (std::size_t row = 0; row < placement_.rows(); ++row) {
    const int agent = placement_.agent(row);
    for (const int j : graph_.neighbours(agent)) {
      ids_.push_back(link_id(agent, j));
      if (placement_.owner(j) != placement_.rank()) ghosts.push_back(link_id(j, agent));
    }
  }
  hosted_ = ids_.size();
  std::ranges::sort(ghosts);
  ids_.insert(ids_.end(), ghosts.begin(), ghosts.end());
  for (std::size_t row = 0; row < placement_.rows(); ++row) {
    const int agent = placement_.agent(row);
    const T share = T(1) / static_cast<T>(std::max(1, graph_.degree(agent)));
    auto& terms = mean_.rows.emplace_back();
    for (const int j : graph_.neighbours(agent))
      terms.push_back({slot_of(link_id(agent, j)), share});
  }
}

// Row i of M h is sum_j m_ij (h_ji - h_ij) over the active links. If every link is active and all
// rows of an agent are equal, this is row i of M h for a matrix whose rows sum to zero.
template <class T>
void Routes<T>::at(std::uint32_t round) {
  if (!by_link_) return;
  const std::vector<bool> active = schedule_.active(graph_, seed_, round);
  // The schedule has each edge once; `on` has it at both ends.
  std::vector<std::vector<bool>> on(static_cast<std::size_t>(placement_.agents()));
  std::size_t edge = 0;
  for (int i = 0; i < placement_.agents(); ++i) {
    on[static_cast<std::size_t>(i)].resize(graph_.neighbours(i).size());
    for (const int j : graph_.neighbours(i))
      if (j > i) {
        on[static_cast<std::size_t>(i)][place_among(graph_.neighbours(i), j)] = active[edge++];
      } else {
        on[static_cast<std::size_t>(i)][place_among(graph_.neighbours(i), j)] =
            on[static_cast<std::size_t>(j)][place_among(graph_.neighbours(j), i)];
      }
  }
  messages_.clear();
  arrivals_.clear();
  mixing_.rows.assign(placement_.rows(), {});
  for (std::size_t row = 0; row < placement_.rows(); ++row) {
    const int agent = placement_.agent(row);
    for (const auto& [j, weight] : matrix_.rows[static_cast<std::size_t>(agent)]) {
      if (j == agent) continue;
      const std::size_t place = place_among(graph_.neighbours(agent), j);
      if (!on[static_cast<std::size_t>(agent)][place]) continue;
      const std::size_t out = slot_of(link_id(agent, j)), in = slot_of(link_id(j, agent));
      mixing_.rows[row].push_back({in, static_cast<T>(weight)});
      mixing_.rows[row].push_back({out, static_cast<T>(-weight)});
      Message m{.row = row, .slot = out, .to = j, .ranks = {}, .links = {place}};
      if (placement_.owner(j) != placement_.rank()) {
        m.ranks = {placement_.owner(j)};
        arrivals_.push_back({j, agent, placement_.owner(j), in});
      }
      messages_.push_back(std::move(m));
    }
  }
  std::ranges::sort(arrivals_, {}, [](const Arrival& a) { return std::pair(a.agent, a.to); });
}

template class Routes<float>;
template class Routes<double>;

}  // namespace ticopd
