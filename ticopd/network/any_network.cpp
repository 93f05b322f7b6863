#include "ticopd/network/any_network.hpp"

#include <stdexcept>
#include <string>

#include "ticopd/system/clock.hpp"

namespace ticopd {
namespace {

template <class T>
std::vector<std::size_t> shard_sizes(const Objective<T>& objective) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < objective.agents(); ++i) sizes.push_back(objective.samples(i));
  return sizes;
}

}  // namespace

OwnChannel::OwnChannel(std::uint64_t& taken, std::uint16_t number)
    : taken_(taken), number_(number) {
  const std::string name = "Mirror: channel " + std::to_string(number);
  if (number >= 64) throw std::logic_error(name + ": allowed is 0 to 63");
  if (taken_ >> number & 1) throw std::logic_error(name + " already belongs to another mirror");
  taken_ |= 1ull << number;
}

PhaseTimer::PhaseTimer(double& seconds) : seconds_(seconds), begin_(seconds_now()) {}
PhaseTimer::~PhaseTimer() {
  seconds_ += seconds_now() - begin_;
}

template <class T>
AnyNetwork<T>::AnyNetwork(const Surroundings<T>& s)
    : s_(s),
      placement_(s.graph, s.transport.size(), s.transport.rank(), shard_sizes(s.objective),
                 s.blocks),
      laplacian_(ticopd::laplacian(s.graph)),
      w_minus_i_(minus_identity(mixing_matrix(s.graph, s.weights))),
      w_neighbours_(without_diagonal(mixing_matrix(s.graph, s.weights))),
      ledger_(placement_.rows()) {
  if (s.objective.agents() != s.graph.agents())
    throw ConfigError("graph.agents = " + std::to_string(s.graph.agents()) +
                      ", but the objective has " + std::to_string(s.objective.agents()) +
                      " agents");
  const std::vector<double> w = diagonal(mixing_matrix(s.graph, s.weights));
  for (std::size_t row = 0; row < placement_.rows(); ++row) {
    self_weight_.push_back(static_cast<T>(w[static_cast<std::size_t>(placement_.agent(row))]));
    degree_.push_back(static_cast<T>(s.graph.degree(placement_.agent(row))));
    const auto links = static_cast<std::size_t>(s.graph.degree(placement_.agent(row)));
    ledger_.agents[row].link_messages.resize(links);
    ledger_.agents[row].link_bytes.resize(links);
  }
}

template <class T>
const Mixing& AnyNetwork<T>::to_centre() {
  if (to_centre_.rows.empty()) to_centre_ = ticopd::to_centre(s_.graph);
  return to_centre_;
}

template <class T>
const Mixing& AnyNetwork<T>::from_centre() {
  if (from_centre_.rows.empty()) from_centre_ = ticopd::from_centre(s_.graph);
  return from_centre_;
}

template class AnyNetwork<float>;
template class AnyNetwork<double>;

}  // namespace ticopd
