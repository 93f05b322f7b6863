#include "ticopd/site/zmq_sockets.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/site/messages.hpp"

namespace ticopd {
namespace {

static_assert(largest_message >= static_cast<int>(piece_bytes + message_header_bytes));
constexpr rlim_t least_files = 1024, many_files = 4096;

}  // namespace

void prepare(zmq::socket_t& s, const std::string& address) {
  s.set(zmq::sockopt::maxmsgsize, std::int64_t{largest_message});
  s.set(zmq::sockopt::handshake_ivl, 5000);
  s.set(zmq::sockopt::heartbeat_ivl, 500);
  s.set(zmq::sockopt::heartbeat_timeout, 1500);
  s.set(zmq::sockopt::sndhwm, 256);
  s.set(zmq::sockopt::rcvhwm, 256);
  s.set(zmq::sockopt::linger, 200);  // the last word of a site that ends
  s.set(zmq::sockopt::reconnect_ivl, 100);
  s.set(zmq::sockopt::reconnect_ivl_max, 5000);
  s.set(zmq::sockopt::tcp_keepalive, 1);
  s.set(zmq::sockopt::ipv6, address.starts_with('['));
}

zmq::message_t owning(Bytes bytes) {
  auto* kept = new Bytes(std::move(bytes));
  return {kept->data(), kept->size(), [](void*, void* b) { delete static_cast<Bytes*>(b); }, kept};
}

zmq::socket_t dealer_to(zmq::context_t& context, const std::string& address,
                        const std::string& server, const std::string& key,
                        const std::string& secret, bool again) {
  zmq::socket_t s(context, zmq::socket_type::dealer);
  prepare(s, address);
  if (!again) s.set(zmq::sockopt::reconnect_ivl, -1);
  s.set(zmq::sockopt::immediate, true);
  s.set(zmq::sockopt::curve_serverkey, zmq::buffer(server));
  s.set(zmq::sockopt::curve_publickey, zmq::buffer(key));
  s.set(zmq::sockopt::curve_secretkey, zmq::buffer(secret));
  s.connect("tcp://" + address);
  return s;
}

void have_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, many_files);
  if (files.rlim_cur < wanted) {
    files.rlim_cur = wanted;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur < least_files)
    throw UnavailableError("this process may open " + std::to_string(files.rlim_cur) +
                           " files (ulimit -n); a site needs " + std::to_string(least_files));
}

}  // namespace ticopd
