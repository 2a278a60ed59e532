/* The simulated network. */
#include "io/io_sim.h"
