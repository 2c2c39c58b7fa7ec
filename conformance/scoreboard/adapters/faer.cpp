// faer (Rust, crates.io) as a plug-in: SpMM, SpMV, SpGEMM, transposes and conversions of CSR and CSC, triplets to both, f64 and f32, one thread.
// faer/src/lib.rs calls it. Read in its src/sparse/linalg/matmul.rs (0.24.4), product and sum rounded apart, in the order of the inner index:
// - sparse_dense_csc_matmul, for CSC and transposed CSR: each element of B is multiplied by alpha, and products are added to C, or to 0.
// - dense_sparse_csc_matmul, for CSR and transposed CSC: a chain from 0; then alpha times it replaces C or is added.
// - sparse_sparse_matmul_numeric: a chain from 0 for each element; CSR as the transposed product of the transposes (src/linalg/mat_ops.rs).
// beta is Accum::Replace or Accum::Add. Shapes that do not fit, short memory and a small stride are assertions of faer's, here refusals.
#include "faer/faer.hpp"
#include "score.hpp"

namespace {
using namespace faer;
int32_t format_of(const char *name) { return score::is(name, "csr") ? CSR : score::is(name, "csc") ? CSC : COO; }
Array<uint32_t> indices(const sc_sparse *a, const char *name) { return {sc_u32(a, name), sc_count(a, name)}; }
template <class T> Operand<T> operand(const sc_sparse *a) {
    const int32_t format = format_of(a->format);
    const char *outer = format == CSR ? "row_ptr" : format == CSC ? "col_ptr" : "row_idx", *inner = format == CSC ? "row_idx" : "col_idx";
    return {format, a->rows, a->cols, indices(a, outer), indices(a, inner),
            {static_cast<const T *>(sc_data(a, "values", a->dtype)), sc_count(a, "values")}};
}
template <class T> Dense<T> dense(const sc_dense *d, bool turned) {
    return {d->layout == SC_ROW_MAJOR, turned, d->rows, d->cols, d->ld, static_cast<T *>(d->data), d->count};
}
template <class T> int32_t take(sc_result *result, int32_t format, Array<uint32_t> outer, Array<uint32_t> inner, Array<T> values) {
    return score::answer(result, format == CSR ? "csr" : "csc", outer.data, outer.count, inner.data, values.data, values.count);
}
template <class T> int32_t run(const sc_task *task, sc_result *result) {
    const Sink<T> sink{result, take<T>, sc_refuse};
    const Operand<T> a = operand<T>(task->a);
    if (task->op == SC_SPMM || task->op == SC_SPMV) {
        const Dense<T> b = dense<T>(task->b, task->transpose_b), c = dense<T>(result->c, false);
        return dense_of(T())(&a, task->transpose_a, &b, &c, static_cast<T>(task->alpha), task->beta != 0, &sink);
    }
    if (task->op == SC_TRANSPOSE) return sparse_of(T())(TRANSPOSE, &a, nullptr, a.format, &sink);
    if (task->op == SC_CONVERT) return sparse_of(T())(CONVERSION, &a, nullptr, format_of(task->to), &sink);
    const Operand<T> b = operand<T>(task->b_sparse);
    return sparse_of(T())(PRODUCT, &a, &b, a.format, &sink);
}
std::string rules() {
    std::string text;
    for (int i = 0; i < 8; i++) {
        const bool csr = i & 1, turned = i & 2, tight = i & 4;
        const std::string head = csr ? R"("spm[mv].csr.f)" : R"("spm[mv].csc.f)";
        text += R"({"contracts": [)" + head + R"(64*", )" + head + R"(32_*"], "arithmetic": ")" + (csr != turned ? "muladd" : "muladd,fold-alpha-b") +
                R"(", "profile": [{"choice": "alpha0-reads-ab", "reason": "alpha = 0 still multiplies A and B"}], )" +
                R"("only": {"beta": [0, 1], "transpose_a": )" + (turned ? "true" : "false") +
                // faer asks for memory up to the last element; the suite, up to ld, for what would stand behind it, too.
                (tight ? R"(, "padded": false, "faults": ["inner-shape", "small-ldc", "short-output"]}}, )"
                       : R"(, "padded": true, "faults": ["inner-shape", "small-ldc"]}}, )");
    }
    return text + R"({"contracts": ["spgemm.cs[rc].f64*", "spgemm.cs[rc].f32_*"], "arithmetic": "muladd", "only": {"faults": ["inner-shape"]}},
        {"contracts": ["transpose.cs[rc].f64", "transpose.cs[rc].f32", "convert.csr.csc.f64", "convert.csr.csc.f32", "convert.csc.csr.f64",
         "convert.csc.csr.f32"]},
        {"contracts": ["convert.coo.cs[rc].f64", "convert.coo.cs[rc].f32"], "profile": [{"choice": "duplicates-sum-any-order",
         "reason": "try_new_from_triplets adds entries of one position in the matrix's type, in the order in which an unstable sort leaves them"}]})";
}
} // namespace

SCORE_PLUGIN(score::manifest("faer", SCORE_PACKAGE_VERSION, "sparse_dense_matmul, sparse_sparse_matmul, conversions, one thread", rules().c_str()),
             (task->a->dtype == SC_F64 ? run<double> : run<float>)(task, result))
