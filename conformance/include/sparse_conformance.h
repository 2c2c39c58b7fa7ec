/* sparse_conformance.h: how a kernel in C, C++ or anything that can be called from C is judged. Version 1, frozen.
 *
 * A plug-in is a shared library that exports three functions:
 *
 *     uint32_t    sc_abi_version(void);                           return SC_ABI_VERSION;
 *     const char *sc_manifest(void);                              what it does, and how it rounds, as JSON
 *     int32_t     sc_run(const sc_task *task, sc_result *result); SC_OK, or sc_refuse(result, "why")
 *
 *     cc -O2 -shared -fPIC -I include my_kernel.c -o my_kernel.so
 *     conformance run --plugin ./my_kernel.so
 *
 * Rules: what is in a task is only read; a dense result is written in place, between the guards and never in the
 * padding; a sparse result goes into arrays that the host allocates (sc_new). Pointers are valid until sc_run returns.
 * sc_run is called by one thread at a time, and calls back from that thread only. Arrays start at multiples of 64 bytes.
 * Structs may grow at their end: read a later field only if struct_size reaches it. sc_array and sc_number never grow.
 *
 * Names of formats, arrays and extents are those of PLUGIN.md. C11 or C++11, 64-bit machines, little-endian. */
#ifndef SPARSE_CONFORMANCE_H
#define SPARSE_CONFORMANCE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SC_ABI_VERSION 1u

#ifdef __cplusplus
#define SC_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define SC_EXPORT __attribute__((visibility("default")))
#endif

/* What sc_run returns; anything else is a finding. */
enum { SC_OK = 0, SC_REFUSED = 1 };

/* Operations. */
enum {
    SC_SPMM = 1,      /* C = alpha * op(A) * op(B) + beta * C */
    SC_SPMV = 2,      /* the same with one column: b is x, c is y */
    SC_SDDMM = 3,     /* c[e] = alpha * dot(row i of b, row j of y) at every stored (i, j) of a, in a's order; see mode */
    SC_SPGEMM = 4,    /* A * B, both sparse, result in the same format */
    SC_TRANSPOSE = 5, /* A^T in the same format */
    SC_CONVERT = 6    /* A in format `to` */
};

/* Element types. tf32 is stored as f32; the 16- and 8-bit floats are given as their bits. */
enum {
    SC_F64 = 1, SC_F32 = 2, SC_TF32 = 3, SC_F16 = 4, SC_BF16 = 5, SC_E4M3 = 6, SC_E5M2 = 7,
    SC_U8 = 16, SC_U16 = 17, SC_U32 = 18, SC_U64 = 19
};

enum { SC_ROW_MAJOR = 0, SC_COL_MAJOR = 1 };

/* SDDMM: the plain product; times the value of a; plus beta times the value of a. */
enum { SC_PATTERN = 0, SC_SCALE = 1, SC_ADD_S = 2 };

/* One array of a sparse operand. */
typedef struct sc_array {
    const char *name;
    const void *data;
    uint64_t count; /* elements */
    int32_t dtype;
    int32_t reserved;
} sc_array;

/* A dimension or parameter by name; flags are 0 or 1. */
typedef struct sc_number {
    const char *name;
    uint64_t value;
} sc_number;

typedef struct sc_sparse {
    uint32_t struct_size;
    int32_t dtype; /* of the values */
    const char *format;
    uint64_t rows, cols;
    const sc_array *arrays;
    const sc_number *extents;
    uint32_t array_count, extent_count;
} sc_sparse;

/* Element (i, j) is data[sc_at(d, i, j)]. A vector has one column. */
typedef struct sc_dense {
    uint32_t struct_size;
    int32_t dtype;
    uint64_t rows, cols;
    uint64_t ld;    /* elements from one row (row-major) or column to the next */
    uint64_t count; /* elements behind data, padding included */
    int32_t layout;
    int32_t reserved;
    void *data;
} sc_dense;

/* Operands as stored; those that the operation lacks are NULL. */
typedef struct sc_task {
    uint32_t struct_size;
    int32_t op;
    const char *contract; /* such as "spmm.csr.f16_f16_f32_f32": operands, accumulator, output */
    const sc_sparse *a;
    const sc_sparse *b_sparse; /* SpGEMM */
    const sc_dense *b;         /* B of SpMM, x of SpMV, X of SDDMM */
    const sc_dense *y;         /* Y of SDDMM */
    double alpha, beta;        /* numbers of the accumulator's type */
    int32_t transpose_a, transpose_b;
    int32_t mode; /* SDDMM */
    uint32_t param_count;
    const char *to;          /* conversion: target format */
    const sc_number *params; /* conversion: its parameters */
} sc_task;

typedef struct sc_result {
    uint32_t struct_size;
    int32_t dtype;     /* of the result's values */
    const sc_dense *c; /* SpMM, SpMV, SDDMM: write here. Read it only if beta is not 0. */
    void *host;
    void *(*new_array)(struct sc_result *result, const char *name, int32_t dtype, uint64_t count);
    int32_t (*set_extent)(struct sc_result *result, const char *name, uint64_t value);
    void (*refuse)(struct sc_result *result, const char *message);
} sc_result;

/* What a plug-in exports. */
SC_EXPORT uint32_t sc_abi_version(void);
SC_EXPORT const char *sc_manifest(void);
SC_EXPORT int32_t sc_run(const sc_task *task, sc_result *result);

/* ---- Help in reading: NULL (0) where there is no such name, or it is of another type. ---- */

static inline const sc_array *sc_find(const sc_sparse *a, const char *name) {
    for (uint32_t i = 0; i < a->array_count; i++)
        if (strcmp(a->arrays[i].name, name) == 0) return &a->arrays[i];
    return NULL;
}

static inline const void *sc_data(const sc_sparse *a, const char *name, int32_t dtype) {
    const sc_array *found = sc_find(a, name);
    return found && found->dtype == dtype ? found->data : NULL;
}

static inline const uint8_t *sc_u8(const sc_sparse *a, const char *name) {
    return (const uint8_t *)sc_data(a, name, SC_U8);
}
static inline const uint16_t *sc_u16(const sc_sparse *a, const char *name) {
    return (const uint16_t *)sc_data(a, name, SC_U16);
}
static inline const uint32_t *sc_u32(const sc_sparse *a, const char *name) {
    return (const uint32_t *)sc_data(a, name, SC_U32);
}
static inline const uint64_t *sc_u64(const sc_sparse *a, const char *name) {
    return (const uint64_t *)sc_data(a, name, SC_U64);
}
static inline const float *sc_f32(const sc_sparse *a, const char *name) {
    return (const float *)sc_data(a, name, SC_F32);
}
static inline const double *sc_f64(const sc_sparse *a, const char *name) {
    return (const double *)sc_data(a, name, SC_F64);
}

/* Elements of an array. */
static inline uint64_t sc_count(const sc_sparse *a, const char *name) {
    const sc_array *found = sc_find(a, name);
    return found ? found->count : 0;
}

static inline uint64_t sc_lookup(const sc_number *list, uint32_t count, const char *name, uint64_t otherwise) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].value;
    return otherwise;
}

/* An extent of an operand, such as "width". */
static inline uint64_t sc_extent(const sc_sparse *a, const char *name) {
    return sc_lookup(a->extents, a->extent_count, name, 0);
}

/* A parameter of a conversion, or `otherwise` where it was not given. */
static inline uint64_t sc_param(const sc_task *task, const char *name, uint64_t otherwise) {
    return sc_lookup(task->params, task->param_count, name, otherwise);
}

/* Where element (i, j) is. */
static inline uint64_t sc_at(const sc_dense *d, uint64_t i, uint64_t j) {
    return d->layout == SC_ROW_MAJOR ? i * d->ld + j : j * d->ld + i;
}

/* ---- Help in answering. ---- */

/* `return sc_refuse(result, "why");` refuses the request. The text is copied. */
static inline int32_t sc_refuse(sc_result *result, const char *message) {
    result->refuse(result, message);
    return SC_REFUSED;
}

/* A new array of the sparse result, to be filled; NULL where the format has no such array, or it would be too large. */
static inline void *sc_new(sc_result *result, const char *name, int32_t dtype, uint64_t count) {
    return result->new_array(result, name, dtype, count);
}

static inline uint32_t *sc_new_u32(sc_result *result, const char *name, uint64_t count) {
    return (uint32_t *)sc_new(result, name, SC_U32, count);
}

/* An extent of the sparse result; rows and cols are there already. SC_OK, or SC_REFUSED where there is no such name. */
static inline int32_t sc_set_extent(sc_result *result, const char *name, uint64_t value) {
    return result->set_extent(result, name, value);
}

static inline int sc_holds(const sc_dense *d) {
    uint64_t inner = d->layout == SC_ROW_MAJOR ? d->cols : d->rows;
    uint64_t outer = d->layout == SC_ROW_MAJOR ? d->rows : d->cols;
    return d->ld >= inner && d->count >= d->ld * outer;
}

/* By its bits: with -ffast-math a compiler takes every number for finite, and leaves comparisons out. */
static inline int sc_finite(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits >> 52 & 0x7ff) != 0x7ff;
}

/* Why the request must be refused, or NULL: some cases ask for what no kernel may accept. A kernel with checks of its
 * own uses those instead. */
static inline const char *sc_illegal(const sc_task *task, const sc_result *result) {
    const sc_sparse *a = task->a;
    const sc_dense *b = task->b, *y = task->y, *c = result->c;
    uint64_t m = task->transpose_a ? a->cols : a->rows, k = task->transpose_a ? a->rows : a->cols;
    if (!sc_finite(task->alpha)) return "alpha is not finite";
    if (!sc_finite(task->beta)) return "beta is not finite";
    if (task->op == SC_SPGEMM && a->cols != task->b_sparse->rows) return "A's columns are not B's rows";
    if (task->op == SC_SPMM || task->op == SC_SPMV) {
        uint64_t inner = task->transpose_b ? b->cols : b->rows, n = task->transpose_b ? b->rows : b->cols;
        if (inner != k) return "op(A)'s columns are not op(B)'s rows";
        if (c->rows != m || c->cols != n) return "C has another shape than op(A) * op(B)";
    }
    if (task->op == SC_SDDMM) {
        if (b->cols != y->cols) return "X and Y have different numbers of columns";
        if (b->rows != a->rows || y->rows != a->cols) return "X and Y do not fit the pattern";
        if (c->rows != sc_count(a, "values")) return "the result has not one element per stored position";
    }
    if (c && !sc_holds(c)) return "the result's memory is too small for its shape and leading dimension";
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
