#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_conformance.h"

/* One element of the result. It is right if the order of its bits lies between lowest and highest (all floats of a type in
 * ascending order, -0 just below 0), or if it is a NaN or infinity that is allowed. */
struct want {
    uint64_t row, col, at;
    int64_t lowest, highest;
    int nan, inf, minus_inf;
    uint64_t bits;     /* what it should be */
    const char *exact; /* before rounding */
    double bound;      /* of |found - exact|; negative where none applies */
};

