/*
 * What a plan's change of nodes would move if the placement were slots: the measure for what other
 * systems move.
 */
#ifndef CLI_PLAN_SLOTS_H
#define CLI_PLAN_SLOTS_H

#include "cli/plan_print.h"

/* Fills planned->slots_…, where the placement is a profile. CLI_OK, or CLI_FAILED after saying why.
 */
int plan_with_slots(struct planned *planned);

#endif
