
/* ---- From here on the same in every reproducer. ---- */

static uint64_t bits_at(const void *data, size_t at) {
#if WIDTH == 64
    return ((const uint64_t *)data)[at];
#elif WIDTH == 32
    return ((const uint32_t *)data)[at];
#elif WIDTH == 16
    return ((const uint16_t *)data)[at];
#else
    return ((const uint8_t *)data)[at];
#endif
}

static const uint64_t sign_bit = (uint64_t)1 << (WIDTH - 1);

static int64_t order(uint64_t bits) {
    int64_t magnitude = (int64_t)(bits & (sign_bit - 1));
    return bits & sign_bit ? -1 - magnitude : magnitude;
}

/* The value of an element of the result's type. */
static double number(uint64_t bits) {
    double value = 0;
    if (WIDTH == 64) {
        memcpy(&value, &bits, sizeof value);
    } else if (WIDTH == 32 || OUT == SC_BF16) {
        uint32_t word = OUT == SC_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &word, sizeof narrow);
        value = narrow;
    } else if (OUT == SC_F16) {
        int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
        value = exponent == 31 ? (fraction ? NAN : INFINITY)
                               : ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
        if (bits & sign_bit) value = -value;
    }
    return value;
}

static int is_right(const struct want *want, uint64_t found) {
    double value = number(found);
    if (isnan(value)) return want->nan;
    if (isinf(value)) return value > 0 ? want->inf : want->minus_inf;
    return want->lowest <= order(found) && order(found) <= want->highest;
}

static size_t check_elements(const void *data, uint64_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < want_count; i++) {
        const struct want *want = &wants[i];
        if (want->at >= count) {
            printf("element (%llu, %llu) is missing\n", (unsigned long long)want->row, (unsigned long long)want->col);
            wrong++;
            continue;
        }
        uint64_t found = bits_at(data, want->at);
        if (is_right(want, found)) continue;
        if (wrong++ >= 20) continue;
        printf("element (%llu, %llu): expected %s, rounded %.17g (0x%llx); found %.17g (0x%llx)",
               (unsigned long long)want->row, (unsigned long long)want->col, want->exact, number(want->bits),
               (unsigned long long)want->bits, number(found), (unsigned long long)found);
        if (want->bound >= 0) printf("; bound %.3g", want->bound);
        printf("\n");
    }
    printf("%zu of %zu elements wrong\n", wrong, want_count);
    return wrong;
}

/* ---- What may not be written. ---- */

/* Guards of inputs are NaN and indices out of range; those of the result a small number, so that adding to it shows. */
static int fill(const struct memory *memory) { return memory->is_output ? 0x3c : 0xff; }

static void guard(struct memory *memory) {
    size_t inside = memory->count * memory->size, front = GUARD * memory->size;
    if (front > 0) {
        memset(memory->data, fill(memory), front);
        memset(memory->data + front + inside, fill(memory), memory->bytes - front - inside);
    }
    memory->before = malloc(memory->bytes);
    if (memory->before == NULL) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    memcpy(memory->before, memory->data, memory->bytes);
}

/* 1 if a guard, or any element of an input, has changed. */
static size_t was_written(const struct memory *memory) {
    for (size_t at = 0; at < memory->bytes; at++) {
        if (memory->data[at] == memory->before[at]) continue;
        long long element = (long long)(at / memory->size) - GUARD;
        int inside = element >= 0 && (size_t)element < memory->count;
        if (inside && memory->is_output) continue;
        if (inside) printf("the input %s was written: element %lld of %zu\n", memory->name, element, memory->count);
        else printf("outside %s was written: element %lld of %zu\n", memory->name, element, memory->count);
        return 1;
    }
    return 0;
}

static char refusal[512];

static void refuse(sc_result *result, const char *message) {
    (void)result;
    snprintf(refusal, sizeof refusal, "%s", message);
}

#ifdef SPARSE_RESULT
static struct {
    char name[64];
    void *data;
    uint64_t count;
    int32_t dtype;
    struct memory memory;
} made[64];
static size_t made_count;

static size_t size_of(int32_t dtype) {
    switch (dtype) {
    case SC_F64: case SC_U64: return 8;
    case SC_F32: case SC_TF32: case SC_U32: return 4;
    case SC_F16: case SC_BF16: case SC_U16: return 2;
    default: return 1;
    }
}

static void *new_array(sc_result *result, const char *name, int32_t dtype, uint64_t count) {
    (void)result;
    if (made_count == 64 || count > 1u << 28) return NULL;
    snprintf(made[made_count].name, sizeof made[0].name, "%s", name);
    size_t size = size_of(dtype), bytes = (2 * GUARD + count + 64) * size / 64 * 64 + 64;
    char *data = aligned_alloc(64, bytes);
    if (data == NULL) return NULL;
    memset(data, 0x3c, bytes);
    made[made_count].memory = (struct memory){ made[made_count].name, data, bytes, size, count, 1, NULL };
    guard(&made[made_count].memory);
    made[made_count].data = data + GUARD * size;
    made[made_count].count = count;
    made[made_count].dtype = dtype;
    return made[made_count++].data;
}

static int32_t set_extent(sc_result *result, const char *name, uint64_t value) {
    (void)result;
    printf("extent %s = %llu\n", name, (unsigned long long)value);
    return SC_OK;
}

static size_t check_memory(void) {
    size_t broken = 0;
    for (size_t i = 0; i < made_count; i++) broken += was_written(&made[i].memory);
    return broken;
}

static size_t check(void) {
    size_t wrong = 0;
    for (size_t i = 0; i < want_array_count; i++) {
        const sc_array *want = &want_arrays[i];
        size_t at = 0;
        while (at < made_count && strcmp(made[at].name, want->name) != 0) at++;
        int same = at < made_count && made[at].count == want->count && made[at].dtype == want->dtype &&
                   memcmp(made[at].data, want->data, want->count * size_of(want->dtype)) == 0;
        printf("array %s: %s\n", want->name, at == made_count ? "missing" : same ? "as expected" : "other than expected");
        wrong += !same;
    }
    for (size_t at = 0; want_count > 0 && at < made_count; at++)
        if (strcmp(made[at].name, "values") == 0) return wrong + check_elements(made[at].data, made[at].count);
    return wrong + (want_count > 0);
}
#else
static size_t check_memory(void) { return 0; }

/* The elements, and that nothing between them was written. */
static size_t check(void) {
    const struct memory *c = &memories[sizeof memories / sizeof memories[0] - 1];
    size_t wrong = check_elements(c_data, c->count);
    for (size_t at = 0; at < c->count; at++) {
        size_t i = 0;
        while (i < want_count && wants[i].at != at) i++;
        if (want_count > 0 && i == want_count && memcmp(&c_data[at], c->before + (GUARD + at) * c->size, c->size) != 0) {
            printf("offset %zu lies outside the result and was written\n", at);
            wrong++;
        }
    }
    return wrong;
}
#endif

/* ---- Is the case the plug-in's at all? ---- */

/* A pattern of a manifest: * is any text, ? any letter, [..] one of these, [!..] any but these. */
static int fits(const char *pattern, const char *end, const char *name) {
    for (; pattern < end; pattern++, name++) {
        if (*pattern == '*') {
            do {
                if (fits(pattern + 1, end, name)) return 1;
            } while (*name++ != 0);
            return 0;
        }
        if (*name == 0) return 0;
        if (*pattern == '[') {
            int negated = pattern[1] == '!', among = 0;
            for (pattern += 1 + negated; pattern < end && *pattern != ']'; pattern++) {
                if (pattern[1] == '-' && pattern + 2 < end && pattern[2] != ']') {
                    among |= pattern[0] <= *name && *name <= pattern[2];
                    pattern += 2;
                } else {
                    among |= *pattern == *name;
                }
            }
            if (among == negated) return 0;
        } else if (*pattern != '?' && *pattern != *name) {
            return 0;
        }
    }
    return *name == 0;
}

/* True if a string of the manifest fits the contract. Its "only" and "excludes" are not looked at. */
static int names(const char *manifest, const char *contract) {
    for (const char *at = strchr(manifest, '"'); at != NULL; at = strchr(at, '"')) {
        const char *end = ++at;
        while (*end != 0 && *end != '"') end += *end == '\\' && end[1] != 0 ? 2 : 1;
        if (fits(at, end, contract)) return 1;
        if (*end == 0) return 0;
        at = end + 1;
    }
    return 0;
}

/* A plug-in that ends the process has given no answer. */
static int came_back;

static void ended(void) {
    if (came_back) return;
    printf("the plug-in ended the process\n");
    fflush(stdout);
    _Exit(1);
}

static int judge(int32_t code) {
    size_t broken = check_memory();
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) broken += was_written(&memories[i]);
    if (broken > 0) return 1;
    if (code != SC_OK && code != SC_REFUSED) {
        printf("returned %d, which is neither SC_OK nor SC_REFUSED\n", (int)code);
        return 1;
    }
    if (code == SC_REFUSED) {
        printf("refused: %s\n", refusal);
        return must_refuse[0] == 0;
    }
    if (must_refuse[0] != 0) {
        printf("accepted what must be refused: %s\n", must_refuse);
        return 1;
    }
    return check() != 0;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s ./plugin.so\n", argv[0]);
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    uint32_t (*version)(void) = (uint32_t(*)(void))(uintptr_t)dlsym(library, "sc_abi_version");
    int32_t (*run)(const sc_task *, sc_result *) =
        (int32_t(*)(const sc_task *, sc_result *))(uintptr_t)dlsym(library, "sc_run");
    if (version == NULL || run == NULL || version() != SC_ABI_VERSION) {
        fprintf(stderr, "%s is no plug-in of version %u\n", argv[1], SC_ABI_VERSION);
        return 2;
    }
    const char *(*manifest)(void) = (const char *(*)(void))(uintptr_t)dlsym(library, "sc_manifest");
    const char *text = manifest == NULL ? NULL : manifest();
    if (text == NULL || !names(text, task.contract)) {
        fprintf(stderr, "the manifest of %s does not name %s: it is not asked\n", argv[1], task.contract);
        return 2;
    }
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) guard(&memories[i]);
    sc_result result = {0};
    result.struct_size = sizeof result;
    result.dtype = OUT;
    result.refuse = refuse;
#ifdef SPARSE_RESULT
    result.new_array = new_array;
    result.set_extent = set_extent;
#else
    result.c = &c;
#endif
    atexit(ended);
    int32_t code = run(&task, &result);
    came_back = 1;
    int wrong = judge(code);
    printf(wrong ? "wrong\n" : "right\n");
    return wrong;
}
