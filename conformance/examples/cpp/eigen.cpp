// Eigen (3.4, header only) as a plug-in: SpMM, SpMV, SpGEMM, transposes and conversions of CSR and CSC in f32 and f64.
//
//     c++ -std=c++17 -O2 -DNDEBUG -ffp-contract=off -shared -fPIC -I conformance/include -isystem /usr/include/eigen3
//         conformance/examples/cpp/eigen.cpp -o eigen.so
//     conformance run --plugin ./eigen.so
//
// Read from its source (SparseCore/SparseDenseProduct.h, ConservativeSparseSparseProduct.h, SparseMatrix.h): a dense product
// is a chain over ascending inner indices from zero, product and sum rounded apart. `c += alpha * A * B` would scale A's values
// first, which overflows where the product does not (the suite found that), so alpha and beta are applied to the product. A
// sparse product sums each element over ascending inner indices, from its first product and not from zero (-0 stays -0, so its
// bits are not those of "muladd"), and keeps exact zeros. setFromTriplets adds duplicates in the order given, rounding each.
#include "sparse_conformance.h"
#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <algorithm>
#include <exception>
#include <vector>

namespace {

template <class T, int Major> using Sparse = Eigen::SparseMatrix<T, Major, int>;
template <class T, int Major> using SparseView = Eigen::Map<const Sparse<T, Major>>;
template <class T, int Major> using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Major>;
using Stride = Eigen::OuterStride<>;

bool by_rows(const sc_sparse *a) { return strcmp(a->format, "csr") == 0; }

template <class T> const T *values(const sc_sparse *a) { return static_cast<const T *>(sc_data(a, "values", a->dtype)); }

const int *indices(const uint32_t *list) { return reinterpret_cast<const int *>(list); }

// A as Eigen sees it: its own arrays, the transpose by swapping the meaning of the index arrays. `then` gets the view.
template <class T, class Then> void with_sparse(const sc_sparse *a, bool transposed, Then then) {
    const bool csr = by_rows(a);
    const uint32_t *outer = sc_u32(a, csr ? "row_ptr" : "col_ptr"), *inner = sc_u32(a, csr ? "col_idx" : "row_idx");
    const auto rows = static_cast<Eigen::Index>(transposed ? a->cols : a->rows);
    const auto cols = static_cast<Eigen::Index>(transposed ? a->rows : a->cols);
    const auto nnz = static_cast<Eigen::Index>(sc_count(a, "values"));
    if (csr != transposed)
        then(SparseView<T, Eigen::RowMajor>(rows, cols, nnz, indices(outer), indices(inner), values<T>(a)));
    else
        then(SparseView<T, Eigen::ColMajor>(rows, cols, nnz, indices(outer), indices(inner), values<T>(a)));
}

// A dense operand, its transpose by swapping rows, columns and layout.
template <class T, class Then> void with_dense(const sc_dense *d, bool transposed, Then then) {
    const auto rows = static_cast<Eigen::Index>(transposed ? d->cols : d->rows);
    const auto cols = static_cast<Eigen::Index>(transposed ? d->rows : d->cols);
    const Stride stride(static_cast<Eigen::Index>(d->ld));
    T *data = static_cast<T *>(d->data);
    if ((d->layout == SC_ROW_MAJOR) != transposed)
        then(Eigen::Map<Dense<T, Eigen::RowMajor>, 0, Stride>(data, rows, cols, stride));
    else
        then(Eigen::Map<Dense<T, Eigen::ColMajor>, 0, Stride>(data, rows, cols, stride));
}

// C = alpha * op(A) * op(B) + beta * C; neither A and B nor C are read where their factor is zero.
template <class T> void product(const sc_task *task, const sc_dense *to) {
    const T alpha = static_cast<T>(task->alpha), beta = static_cast<T>(task->beta);
    with_sparse<T>(task->a, task->transpose_a, [&](const auto &a) {
        with_dense<T>(task->b, task->transpose_b, [&](const auto &b) {
            with_dense<T>(to, false, [&](auto c) {
                Dense<T, Eigen::ColMajor> ab = Dense<T, Eigen::ColMajor>::Zero(c.rows(), c.cols());
                if (alpha != 0) ab.noalias() = a * b;
                if (beta == 0) c = alpha * ab;
                else c = alpha * ab + beta * c;
            });
        });
    });
}

// The arrays of a result under the names of its format.
template <class T, int Major> int32_t answer(sc_result *result, const Sparse<T, Major> &m) {
    const bool csr = Major == Eigen::RowMajor;
    const auto nnz = static_cast<uint64_t>(m.nonZeros()), outer = static_cast<uint64_t>(m.outerSize()) + 1;
    uint32_t *offsets = sc_new_u32(result, csr ? "row_ptr" : "col_ptr", outer);
    uint32_t *inner = sc_new_u32(result, csr ? "col_idx" : "row_idx", nnz);
    T *to = static_cast<T *>(sc_new(result, "values", result->dtype, nnz));
    if (!offsets || !inner || !to) return sc_refuse(result, "no memory");
    std::copy_n(m.outerIndexPtr(), outer, offsets);
    std::copy_n(m.innerIndexPtr(), nnz, inner);
    std::copy_n(m.valuePtr(), nnz, to);
    return SC_OK;
}

template <class T, int Major> int32_t multiply(const sc_task *task, sc_result *result) {
    Sparse<T, Major> c;
    with_sparse<T>(task->a, false, [&](const auto &a) {
        with_sparse<T>(task->b_sparse, false, [&](const auto &b) { c = a * b; });
    });
    return answer<T, Major>(result, c);
}

// CSR or CSC of op(A), whatever A is stored as; COO goes through triplets.
template <class T, int Major> int32_t stored_as(const sc_task *task, sc_result *result, bool transposed) {
    const sc_sparse *a = task->a;
    Sparse<T, Major> m(static_cast<Eigen::Index>(a->rows), static_cast<Eigen::Index>(a->cols));
    if (strcmp(a->format, "coo") == 0) {
        const uint32_t *row = sc_u32(a, "row_idx"), *col = sc_u32(a, "col_idx");
        std::vector<Eigen::Triplet<T>> triplets;
        for (uint64_t e = 0; e < sc_count(a, "values"); e++)
            triplets.emplace_back(static_cast<int>(row[e]), static_cast<int>(col[e]), values<T>(a)[e]);
        m.setFromTriplets(triplets.begin(), triplets.end());
    } else {
        with_sparse<T>(a, transposed, [&](const auto &view) { m = view; });
    }
    return answer<T, Major>(result, m);
}

template <class T> int32_t run(const sc_task *task, sc_result *result) {
    const bool csr = by_rows(task->a);
    switch (task->op) {
    case SC_SPMM:
    case SC_SPMV: product<T>(task, result->c); return SC_OK;
    case SC_SPGEMM:
        return csr ? multiply<T, Eigen::RowMajor>(task, result) : multiply<T, Eigen::ColMajor>(task, result);
    case SC_TRANSPOSE:
        return csr ? stored_as<T, Eigen::RowMajor>(task, result, true) : stored_as<T, Eigen::ColMajor>(task, result, true);
    case SC_CONVERT:
        return strcmp(task->to, "csr") == 0 ? stored_as<T, Eigen::RowMajor>(task, result, false)
                                            : stored_as<T, Eigen::ColMajor>(task, result, false);
    default: return sc_refuse(result, "Eigen has no such operation");
    }
}

} // namespace

uint32_t sc_abi_version() { return SC_ABI_VERSION; }

const char *sc_manifest() {
    return R"({ "protocol": 1, "name": "eigen", "version": "3.4", "description": "Eigen's sparse module, one thread",
        "determinism": "threads",
        "supports": [
            { "contracts": ["spmm.cs[rc].f32_*", "spmm.cs[rc].f64_*", "spmv.cs[rc].f32_*", "spmv.cs[rc].f64_*"],
              "arithmetic": "muladd" },
            { "contracts": ["spgemm.cs[rc].f32_*", "spgemm.cs[rc].f64_*"], "arithmetic": "any" },
            { "contracts": ["transpose.cs[rc].f32", "transpose.cs[rc].f64", "convert.csr.csc.f32", "convert.csr.csc.f64",
                            "convert.csc.csr.f32", "convert.csc.csr.f64"] },
            { "contracts": ["convert.coo.cs[rc].f32", "convert.coo.cs[rc].f64"],
              "profile": [{ "choice": "duplicates-sum-rounded",
                            "reason": "setFromTriplets adds them one after the other in the matrix's type" }] }
        ] })";
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    if (const char *illegal = sc_illegal(task, result)) return sc_refuse(result, illegal);
    try {
        return task->a->dtype == SC_F32 ? run<float>(task, result) : run<double>(task, result);
    } catch (const std::exception &error) {
        return sc_refuse(result, error.what());
    }
}
