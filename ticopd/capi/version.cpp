#include "ticopd/capi/ticopd.h"

extern "C" int tc_abi(void) {
  return TC_ABI;
}

extern "C" const char* tc_version(void) {
  return TICOPD_VERSION;
}
