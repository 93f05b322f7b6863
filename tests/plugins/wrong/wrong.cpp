// A plug-in whose entry point fails as the environment variable says.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "ticopd/plugin.hpp"

namespace {

ticopd::Graph pair(const ticopd::GraphOptions&, std::uint64_t) {
  return ticopd::ring(2);
}

}  // namespace

TICOPD_PLUGIN("wrong", "0.1") {
  const char* const given = std::getenv("TICOPD_TEST_FAULT");
  const std::string fault = given == nullptr ? "" : given;
  if (fault == "throws") throw std::runtime_error("the licence server is away");
  if (fault == "throws a number") throw 7;
  if (fault == "built in") ticopd::graph_table().add({"ring", {}, "another ring", pair});
  if (fault == "metric") ticopd::add_metric({.column = "loss_max", .title = "another loss"});
  for (int i = 0; i < (fault == "twice" ? 2 : 1); ++i)
    ticopd::graph_table().add({"pair", {}, "two agents", pair});
}
