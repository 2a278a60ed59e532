/* The words for states and kinds of transitions, as they stand in files, tables and commands. */
#include "move/map_store.h"

#include <string.h>

static const char *const state_names[TRANSITION_STATE_COUNT] = {
    [TRANSITION_STABLE] = "stable",     [TRANSITION_PREPARED] = "prepared",
    [TRANSITION_TRACKING] = "tracking", [TRANSITION_FROZEN] = "frozen",
    [TRANSITION_SWITCHED] = "switched", [TRANSITION_CLEANING] = "cleaning",
    [TRANSITION_ABORTING] = "aborting",
};

static const char *const kind_names[] = {
    [TRANSITION_CHANGE] = "change",
    [TRANSITION_REPLACE] = "replace",
    [TRANSITION_DEAD] = "dead",
};

static int find(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *transition_state_name(enum transition_state state)
{
    return state_names[state];
}

int transition_state_find(const char *name)
{
    return find(state_names, TRANSITION_STATE_COUNT, name);
}

const char *transition_kind_name(enum transition_kind kind)
{
    return kind_names[kind];
}

int transition_kind_find(const char *name)
{
    return find(kind_names, sizeof kind_names / sizeof kind_names[0], name);
}
