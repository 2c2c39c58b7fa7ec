// The functions of faer/src/lib.rs, which says what they do, and what they take, as C++ has it.
#pragma once
#include "sparse_conformance.h"

namespace faer {
template <class T> struct Array { const T *data; size_t count; };
enum : int32_t { CSR, CSC, COO };
template <class T> struct Operand { int32_t format; size_t rows, cols; Array<uint32_t> outer, inner; Array<T> values; };
template <class T> struct Dense { bool by_rows, turned; size_t rows, cols, ld; T *data; size_t count; };
template <class T> struct Sink {
    sc_result *result;
    int32_t (*take)(sc_result *, int32_t format, Array<uint32_t> outer, Array<uint32_t> inner, Array<T> values);
    int32_t (*refuse)(sc_result *, const char *reason);
};
enum : int32_t { PRODUCT, TRANSPOSE, CONVERSION };

#define SCORE_FAER(T, BITS)                                                                                                         \
    extern "C" int32_t score_faer_dense_f##BITS(const Operand<T> *, bool turned, const Dense<T> *, const Dense<T> *, T, bool add,   \
                                                const Sink<T> *);                                                                   \
    extern "C" int32_t score_faer_sparse_f##BITS(int32_t what, const Operand<T> *, const Operand<T> *, int32_t to, const Sink<T> *);\
    static const auto &dense_of(T) { return score_faer_dense_f##BITS; }                                                             \
    static const auto &sparse_of(T) { return score_faer_sparse_f##BITS; }
SCORE_FAER(float, 32)
SCORE_FAER(double, 64)
} // namespace faer
