#include "places.hpp"

namespace ticopd::places {

std::string tree() {
  return TICOPD_SOURCE_DIR;
}
std::string binary() {
  return TICOPD_BINARY;
}
std::string public_headers() {
  return TICOPD_PUBLIC_HEADERS;
}
std::string stub_plugins() {
  return TICOPD_STUB_PLUGINS;
}
std::string plugins() {
  return TICOPD_PLUGINS;
}
std::string mpirun() {
  return TICOPD_MPIRUN;
}
std::string mpich_plugin() {
  return TICOPD_MPICH_PLUGIN;
}

}  // namespace ticopd::places
