// A plug-in that needs a function that nobody has.
#include "ticopd/plugin.hpp"

namespace ticopd {
void not_there();
}

TICOPD_PLUGIN("no_symbol", "0.1") {
  ticopd::not_there();
}
