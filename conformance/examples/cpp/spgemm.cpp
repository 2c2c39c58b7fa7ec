// A plug-in in C++17: SpGEMM of CSR matrices in f32 and f64, row by row with a sorted map (Gustavson), and SpMV.
//
//     c++ -std=c++17 -O2 -ffp-contract=off -shared -fPIC -I conformance/include conformance/examples/cpp/spgemm.cpp -o spgemm.so
//     conformance run --plugin ./spgemm.so
//
// No exception leaves sc_run: one that did would end the process, and be reported as a crash.
#include "sparse_conformance.h"
#include <exception>
#include <map>
#include <vector>

namespace {

template <class T> const T *get(const sc_sparse *a, const char *name, int32_t dtype) {
    return static_cast<const T *>(sc_data(a, name, dtype));
}

template <class T> struct Csr {
    const uint32_t *row_ptr, *col_idx;
    const T *values;
    Csr(const sc_sparse *a, int32_t dtype)
        : row_ptr(sc_u32(a, "row_ptr")), col_idx(sc_u32(a, "col_idx")), values(get<T>(a, "values", dtype)) {}
};

template <class T> int32_t multiply(const sc_task *task, sc_result *result) {
    const Csr<T> a(task->a, result->dtype), b(task->b_sparse, result->dtype);
    std::vector<std::map<uint32_t, T>> rows(task->a->rows);
    uint64_t nnz = 0;
    for (uint64_t i = 0; i < rows.size(); nnz += rows[i++].size())
        for (uint32_t e = a.row_ptr[i]; e < a.row_ptr[i + 1]; e++)
            for (uint32_t f = b.row_ptr[a.col_idx[e]]; f < b.row_ptr[a.col_idx[e] + 1]; f++)
                rows[i][b.col_idx[f]] += a.values[e] * b.values[f];
    uint32_t *row_ptr = sc_new_u32(result, "row_ptr", rows.size() + 1);
    uint32_t *col_idx = sc_new_u32(result, "col_idx", nnz);
    T *values = static_cast<T *>(sc_new(result, "values", result->dtype, nnz));
    if (!row_ptr || !col_idx || !values) return sc_refuse(result, "no memory");
    uint32_t at = row_ptr[0] = 0;
    for (uint64_t i = 0; i < rows.size(); row_ptr[++i] = at)
        for (const auto &[col, value] : rows[i]) {
            col_idx[at] = col;
            values[at++] = value;
        }
    return SC_OK;
}

template <class T> int32_t apply(const sc_task *task, sc_result *result) {
    const Csr<T> a(task->a, result->dtype);
    const T *x = static_cast<const T *>(task->b->data);
    T *y = static_cast<T *>(result->c->data);
    const T alpha = static_cast<T>(task->alpha), beta = static_cast<T>(task->beta);
    for (uint64_t i = 0; i < task->a->rows; i++) {
        T sum = 0;
        for (uint32_t e = a.row_ptr[i]; alpha != 0 && e < a.row_ptr[i + 1]; e++) sum += a.values[e] * x[a.col_idx[e]];
        y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
    }
    return SC_OK;
}

template <class T> int32_t run(const sc_task *task, sc_result *result) {
    return task->op == SC_SPGEMM ? multiply<T>(task, result) : apply<T>(task, result);
}

} // namespace

uint32_t sc_abi_version() { return SC_ABI_VERSION; }

const char *sc_manifest() {
    return R"({ "protocol": 1, "name": "cpp-spgemm", "version": "1.0", "description": "Gustavson with std::map, in C++",
        "determinism": "threads", "supports": [
            { "contracts": ["spgemm.csr.f32_*", "spgemm.csr.f64_*"], "arithmetic": "muladd" },
            { "contracts": ["spmv.csr.f32_*", "spmv.csr.f64_*"], "only": { "transpose_a": false }, "arithmetic": "muladd" }
        ] })";
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    if (const char *illegal = sc_illegal(task, result)) return sc_refuse(result, illegal);
    try {
        return result->dtype == SC_F32 ? run<float>(task, result) : run<double>(task, result);
    } catch (const std::exception &error) {
        return sc_refuse(result, error.what());
    }
}
