#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

namespace ticopd {

// All that an algorithm may use. The CPU network (over any transport) satisfies it, and so does the
// CUDA network: both run the same algorithm headers.
//
//   net.map(formula, x, y, ...)   the formula at every coordinate of every hosted row, in one sweep
//   net.gradient(x, g)            the objective at every hosted row
//   mirror.send(v) / receive()    the exchange; work between the two overlaps the transfer
template <class N>
concept Network = requires(N& net, typename N::Field& f, typename N::Mirror& m) {
  typename N::Scalar;
  { net.field() } -> std::same_as<typename N::Field>;  // zeros
  { net.start() } -> std::same_as<typename N::Field>;  // the common x0
  { net.round() } -> std::convertible_to<std::uint32_t>;
  net.gradient(std::as_const(f), f);
  net.full_gradient(std::as_const(f), f);  // over all samples, whatever the batch
  net.laplacian();
  net.w_minus_i();
  net.w_neighbours();
  net.self_weight();
  net.degree();
  net.to_centre();    // agent 0 reads the mean of all, the others nothing
  net.from_centre();  // everyone reads agent 0
  m.start_at_common(std::as_const(f));
  m.start_at(std::as_const(f));
  m.send(std::as_const(f));
  m.send(std::as_const(f), typename N::Scalar(1));
  m.send_raw(std::as_const(f));
  m.send_moved(std::as_const(f), typename N::Scalar(0));
  m.receive();
  { m.own() } -> std::convertible_to<const typename N::Field&>;
  { m.estimate() } -> std::convertible_to<const typename N::Field&>;
  { m.sent() } -> std::convertible_to<const typename N::Field&>;
  m.mixed();
  m.mixed_estimate();
};

}  // namespace ticopd
