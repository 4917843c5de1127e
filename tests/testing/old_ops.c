/* A library of operators of a version that no Hearth has. */
#include "hearth/hearth_ops.h"

static const hearth_ops table = {HEARTH_OPS_VERSION + 1, 0, 0};

HEARTH_OPS_EXPORT const hearth_ops* hearth_ops_v1(void);
const hearth_ops* hearth_ops_v1(void) {
  return &table;
}
