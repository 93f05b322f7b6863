#include <stdio.h>
#include <ticopd/capi/ticopd.h>

int main(void) {
  printf("ticopd %s from C\n", tc_version());
  return tc_abi() == TC_ABI ? 0 : 1;
}
