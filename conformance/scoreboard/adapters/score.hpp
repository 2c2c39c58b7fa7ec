// What the adapters of the scoreboard in C++ have in common: operands as plain columns, results handed over, three functions exported.
//
// Nothing here computes. An adapter that needs alpha or beta passes them to its library, or declares that it takes none.
#pragma once
#include "sparse_conformance.h"
#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace score {

inline bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

// The arrays of a CSR, CSC or COO operand where they lie. Libraries ask for pointers that are not const: what they change there
// is found by the suite. `outer` is row_ptr, col_ptr or (COO) row_idx, `inner` col_idx, row_idx or (COO) col_idx.
template <class T> struct View {
    bool csr, coo;
    int rows, cols, nnz;
    int *outer, *inner;
    T *values;
    explicit View(const sc_sparse *a)
        : csr(is(a->format, "csr")), coo(is(a->format, "coo")), rows(static_cast<int>(a->rows)), cols(static_cast<int>(a->cols)),
          nnz(static_cast<int>(sc_count(a, "values"))), outer(ints(a, csr ? "row_ptr" : coo ? "row_idx" : "col_ptr")),
          inner(ints(a, csr || coo ? "col_idx" : "row_idx")),
          values(static_cast<T *>(const_cast<void *>(sc_data(a, "values", a->dtype)))) {}
    static int *ints(const sc_sparse *a, const char *name) {
        return reinterpret_cast<int *>(const_cast<uint32_t *>(sc_u32(a, name)));
    }
};

// A dense operand copied without gaps, by columns or by rows; zeros fill it up to `rows` x `cols`, where a library wants a larger one.
template <class T> std::vector<T> tight(const sc_dense *d, bool by_rows = false, uint64_t rows = 0, uint64_t cols = 0) {
    rows = std::max(rows, d->rows), cols = std::max(cols, d->cols);
    std::vector<T> copy(rows * cols);
    for (uint64_t i = 0; i < d->rows; i++)
        for (uint64_t j = 0; j < d->cols; j++)
            copy[by_rows ? i * cols + j : j * rows + i] = static_cast<const T *>(d->data)[sc_at(d, i, j)];
    return copy;
}

// A dense result into the memory of the task, from an array without gaps, or with `ld` elements from one line to the next.
template <class T> int32_t put(sc_result *result, const T *from, bool by_rows = false, uint64_t ld = 0) {
    const sc_dense *d = result->c;
    ld = std::max(ld, by_rows ? d->cols : d->rows);
    for (uint64_t i = 0; i < d->rows; i++)
        for (uint64_t j = 0; j < d->cols; j++)
            static_cast<T *>(d->data)[sc_at(d, i, j)] = from[by_rows ? i * ld + j : j * ld + i];
    return SC_OK;
}

// A sparse result: offsets of its rows or columns (COO: row indices, `outer` of them), indices and values.
template <class T, class Outer, class Inner>
int32_t answer(sc_result *result, const char *format, const Outer *outer, size_t outer_count, const Inner *inner, const T *values,
               size_t nnz) {
    const bool csr = is(format, "csr"), coo = is(format, "coo");
    uint32_t *to = sc_new_u32(result, csr ? "row_ptr" : coo ? "row_idx" : "col_ptr", outer_count);
    uint32_t *index = sc_new_u32(result, csr || coo ? "col_idx" : "row_idx", nnz);
    T *value = static_cast<T *>(sc_new(result, "values", result->dtype, nnz));
    if (!to || !index || !value) return sc_refuse(result, "no memory");
    for (size_t i = 0; i < outer_count; i++) to[i] = static_cast<uint32_t>(outer[i]);
    for (size_t e = 0; e < nnz; e++) index[e] = static_cast<uint32_t>(inner[e]);
    if (nnz) std::copy_n(values, nnz, value);
    return SC_OK;
}

inline std::string version(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

inline std::string manifest(const char *name, const std::string &version, const char *description, const char *rules) {
    return std::string(R"({"protocol": 1, "name": ")") + name + R"(", "version": ")" + version + R"(", "description": ")" + description +
           R"(", "supports": [)" + rules + "]}";
}

} // namespace score

// The three functions of a plug-in; CALL answers a request and may throw.
#define SCORE_PLUGIN(MANIFEST, CALL)                                                                                                \
    uint32_t sc_abi_version() { return SC_ABI_VERSION; }                                                                            \
    const char *sc_manifest() {                                                                                                     \
        static const std::string text = MANIFEST;                                                                                   \
        return text.c_str();                                                                                                        \
    }                                                                                                                               \
    int32_t sc_run(const sc_task *task, sc_result *result) {                                                                        \
        try {                                                                                                                       \
            return CALL;                                                                                                            \
        } catch (const std::exception &error) {                                                                                     \
            return sc_refuse(result, error.what());                                                                                 \
        }                                                                                                                           \
    }
