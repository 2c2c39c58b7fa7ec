// PETSc (Debian's petsc-dev, real numbers) as a plug-in: AIJ (CSR) times a vector, a dense and a sparse matrix, and transposes, in f64.
//
// Made for one process: MatCreateSeqAIJWithArrays takes the arrays as they lie. MatMatMult with MATSEQDENSE takes columns.
#include "score.hpp"
#include <petscmat.h>

namespace {
void check(PetscErrorCode error) { if (error) throw std::runtime_error("PETSc returns error " + std::to_string(error)); }

void start() {
    static const PetscErrorCode started = PetscInitializeNoArguments() || PetscPopSignalHandler() || PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
    check(started);
}

struct Matrix {
    Mat it = nullptr;
    ~Matrix() { MatDestroy(&it); }
};

void load(const sc_sparse *operand, Matrix &m) {
    const score::View<double> a(operand);
    check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, a.rows, a.cols, a.outer, a.inner, a.values, &m.it));
}

int32_t answer(sc_result *result, Mat m) {
    PetscInt rows = 0;
    const PetscInt *outer = nullptr, *inner = nullptr;
    PetscBool done = PETSC_FALSE;
    const PetscScalar *values = nullptr;
    check(MatGetRowIJ(m, 0, PETSC_FALSE, PETSC_FALSE, &rows, &outer, &inner, &done));
    check(MatSeqAIJGetArrayRead(m, &values));
    return score::answer(result, "csr", outer, static_cast<size_t>(rows) + 1, inner, values, static_cast<size_t>(outer[rows]));
}

int32_t run(const sc_task *task, sc_result *result) {
    start();
    Matrix a, b, c;
    load(task->a, a);
    if (task->op == SC_TRANSPOSE) return check(MatTranspose(a.it, MAT_INITIAL_MATRIX, &c.it)), answer(result, c.it);
    if (task->op == SC_SPGEMM) load(task->b_sparse, b);
    const PetscInt rows = static_cast<PetscInt>(task->b ? task->b->rows : 0), cols = static_cast<PetscInt>(task->b ? task->b->cols : 0);
    std::vector<double> from = task->b ? score::tight<double>(task->b) : std::vector<double>();
    if (task->op != SC_SPGEMM) check(MatCreateSeqDense(PETSC_COMM_SELF, rows, cols, from.data(), &b.it));
    if (task->op != SC_SPMV) check((task->transpose_a ? MatTransposeMatMult : MatMatMult)(a.it, b.it, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c.it));
    if (task->op == SC_SPGEMM) return answer(result, c.it);
    const PetscScalar *values = nullptr;
    if (task->op == SC_SPMM) return check(MatDenseGetArrayRead(c.it, &values)), score::put(result, values);
    Vec x = nullptr, y = nullptr;
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, rows, from.data(), &x));
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(result->c->rows), static_cast<double *>(result->c->data), &y));
    check((task->transpose_a ? MatMultTranspose : MatMult)(a.it, x, y));
    return check(VecDestroy(&x)), check(VecDestroy(&y)), SC_OK;
}
} // namespace

SCORE_PLUGIN(score::manifest("petsc", score::version(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR), "MatMult, MatMatMult, MatTranspose on MATSEQAIJ", R"(
    {"contracts": ["spm[mv].csr.f64*"], "only": {"alpha": [1], "beta": [0], "layout_b": "col", "layout_c": "col", "transpose_b": false, "padded": false, "faults": []}},
    {"contracts": ["spgemm.csr.f64*"], "only": {"faults": []}}, {"contracts": ["transpose.csr.f64"]})"),
             run(task, result))
