#pragma once

#include <string>
#include <zmq.hpp>

#include "ticopd/bytes.hpp"

namespace ticopd {

inline constexpr int largest_message = 257 << 10;

// The settings that all sockets between sites share, before they are bound to the address or
// connected.
void prepare(zmq::socket_t& socket, const std::string& address);

// A message that has these bytes, without a copy of them.
zmq::message_t owning(Bytes bytes);

// A dealer that proves to be `key`, to the listener of a site with the key `server`. `again`: it
// connects again when the connection is lost.
zmq::socket_t dealer_to(zmq::context_t& context, const std::string& address,
                        const std::string& server, const std::string& key,
                        const std::string& secret, bool again = true);

// A flood of strangers may have some hundred connections for a moment, before they are ended. Then
// the files of a checkpoint must still be opened. UnavailableError if this process may open too
// few.
void have_files();

}  // namespace ticopd
