#include "move/mover.h"

#include <errno.h>
#include <stdlib.h>

struct mover {
    struct mover_options options;
};

int mover_create(const struct mover_options *options, struct map_record *const *records,
                 struct mover **ret_mover)
{
    (void)records;
    struct mover *mover = calloc(1, sizeof *mover);
    if (!mover)
        return -ENOMEM;
    mover->options = *options;
    *ret_mover = mover;
    return 0;
}

void mover_destroy(struct mover **mover)
{
    free(*mover);
    *mover = NULL;
}

int mover_start(struct mover *mover, const struct mover_change *change, mover_answer answer,
                void *context)
{
    (void)mover;
    (void)change;
    (void)answer;
    (void)context;
    return -ENOMEM;
}

int mover_tell(struct mover *mover, uint32_t pool, enum mover_verb verb,
               const struct throttle_settings *throttle, mover_answer answer, void *context)
{
    (void)mover;
    (void)pool;
    (void)verb;
    (void)throttle;
    (void)answer;
    (void)context;
    return -ENOMEM;
}

int mover_ask_estimate(struct mover *mover, const struct mover_change *change,
                       mover_estimated answer, void *context)
{
    (void)mover;
    (void)change;
    (void)answer;
    (void)context;
    return -ENOMEM;
}

bool mover_read(struct mover *mover, uint32_t pool, struct mover_report *ret_report)
{
    (void)mover;
    (void)pool;
    (void)ret_report;
    return false;
}

void mover_report_release(struct mover_report *report)
{
    (void)report;
}

void mover_read_loss(struct mover *mover, uint32_t pool, struct mover_loss *ret_loss)
{
    (void)mover;
    (void)pool;
    *ret_loss = (struct mover_loss){0};
}
