/*
 * A note for whoever asks a configuration file: where a router of this file keeps another map than
 * the file makes, the answer is of use only to those who know that.
 */
#ifndef CLI_STORED_NOTE_H
#define CLI_STORED_NOTE_H

#include "control/config.h"

/* Prints it on standard error when the map store of the configuration has another map of the pool.
 * Reads only. */
void note_stored_map(const struct config *config, const struct config_pool *pool);

#endif
