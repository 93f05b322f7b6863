#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/graph/link_schedule.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/operand.hpp"
#include "ticopd/network/placement.hpp"

namespace ticopd {

// The slots of a mirror's rows, and who sends what to whom. The matrix that the mirror mixes by
// decides: agent j's row goes to agent i if the matrix has an entry (i, j).
//
// On a fixed graph an agent has one row, and a message goes to all its listeners. If links come and
// go, a neighbour that missed a message could no longer follow. So then an agent has a row for each
// of its links, and a message is for one neighbour (as in the authors' code).
template <class T>
class Routes {
 public:
  Routes(const Mixing& matrix, const Placement& plan, const Graph& graph,
         const LinkSchedule& schedule, std::uint64_t seed);

  // A message that this rank sends.
  struct Message {
    std::size_t row = 0;                  // of the sending agent
    std::size_t slot = 0;                 // where its surrogate lies
    int to = -1;                          // the only agent it is for; -1: all listeners
    std::vector<int> ranks = {};          // that get it, ascending, without ours
    std::vector<std::size_t> links = {};  // positions of the listeners among the neighbours
  };
  // A message that this rank expects from another.
  struct Arrival {
    int agent, to, rank;
    std::size_t slot;
  };

  bool by_link() const { return by_link_; }
  void at(std::uint32_t round);  // prepares the exchange of this round

  // Ordered by agent, then by the agent a message is for, so that a receiving rank knows which
  // message comes next.
  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }

  const LocalMixing<T>& mixing() const { return mixing_; }
  // With a row per link: the mean over an agent's links, in place of the one row of a fixed graph.
  const LocalMixing<T>& mean() const { return mean_; }

  // The global number of each slot's row, over all ranks. Our own rows come first and are
  // contiguous.
  const std::vector<int>& ids() const { return ids_; }
  std::size_t hosted() const { return hosted_; }
  std::size_t total() const { return total_; }

 private:
  void by_agent();
  void lay_out_links();
  std::size_t slot_of(int id) const;
  int link_id(int from, int to) const;

  const Mixing& matrix_;
  const Placement& placement_;
  const Graph& graph_;
  LinkSchedule schedule_;
  std::uint64_t seed_;
  bool by_link_;
  std::vector<int> first_link_;  // by link: the first link id of each agent
  std::vector<int> ids_;
  std::size_t hosted_ = 0, total_ = 0;
  std::vector<Message> messages_;
  std::vector<Arrival> arrivals_;
  LocalMixing<T> mixing_, mean_;
};

extern template class Routes<float>;
extern template class Routes<double>;

}  // namespace ticopd
