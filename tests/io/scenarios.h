/*
 * The contract of io.h as scenarios, each written once and run over every implementation: real
 * sockets of each kind, and the simulated network under many seeds.
 */
#ifndef TESTS_IO_SCENARIOS_H
#define TESTS_IO_SCENARIOS_H

#include "io/scenarios_conn.h"
#include "io/scenarios_loop.h"

#define SCENARIOS(X) CONN_SCENARIOS(X) LOOP_SCENARIOS(X)

#endif
