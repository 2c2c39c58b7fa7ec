#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_conformance.h"

/* Elements before and after every array, which the plug-in must leave alone. None under the address sanitizer, which has
 * guards of its own and says which line wrote there. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD 0
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define GUARD 0
#endif
#ifndef GUARD
#define GUARD 256
#endif

/* Memory that the plug-in is given: guard, elements, guard. */
struct memory {
    const char *name;
    char *data;
    size_t bytes, size, count; /* all of it, of an element, elements between the guards */
    int is_output;
    char *before;
};

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

