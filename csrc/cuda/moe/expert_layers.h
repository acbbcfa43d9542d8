// What the kernels of a mixture of experts share: rows are grouped by expert, multiplied, gated,
// multiplied again, and added up for each token in the order of its slots. All that is between x
// and y is float and is not rounded to fewer digits; see gemm_float_tile.h for the products. Args
// is the struct of the op.
#pragma once

#include <cstdint>

#include "cuda/lib/gates.h"
#include "cuda/moe/grouped_gemm.h"
#include "cuda/moe/named_rows.h"
#include "cuda/moe/permuted_rows.h"

namespace opcast_ops {

// Writes sums to a dense matrix, with the bias of each column.
struct BiasedOut {
  float* to;
  const float* bias;  // or null
  int64_t columns;

  OPCAST_DEVICE void operator()(int64_t, int64_t i, int64_t j, float sum) const {
    to[i * columns + j] = bias == nullptr ? sum : sum + bias[j];
  }
};

// Dense rows of n numbers, or matrices of so many rows, as factors.
template <class T>
struct DenseRows {
  const T* data;
  int64_t lines, n;

  OPCAST_DEVICE RowFactor<T, EvenRows> Rows(int64_t begin, int64_t rows) const {
    return {data + begin * n, rows, {n}};
  }
  OPCAST_DEVICE RowFactor<T, EvenRows> Matrix(int64_t e) const { return Rows(e * lines, lines); }
};

// Rows of floats that lie so far apart, as the left factor of the second product.
struct HiddenRows {
  const float* data;
  int64_t stride;

  OPCAST_DEVICE RowFactor<float, EvenRows> Rows(int64_t begin, int64_t rows) const {
    return {data + begin * stride, rows, {stride}};
  }
};

// to[rows of e] = rows of a @ matrix e of w, transposed, + the bias of e. a.Rows(begin, rows) and
// w.Matrix(e) are factors.
template <class A, class W>
struct ExpertWork {
  A a;
  W w;
  float* to;
  const float* bias;  // or null
  int64_t columns;

  OPCAST_DEVICE auto Left(int64_t begin, int64_t rows) const { return a.Rows(begin, rows); }
  OPCAST_DEVICE auto Right(int64_t e) const { return w.Matrix(e); }
  OPCAST_DEVICE BiasedOut Out(int64_t e, int64_t begin) const {
    return {to + begin * columns, bias == nullptr ? nullptr : bias + e * columns, columns};
  }
};

// What each expert's gates are made with; arrays may be null.
struct ExpertGates {
  const float *alpha, *beta, *limit;
  bool gate_first;

  OPCAST_DEVICE static float Or(const float* numbers, int64_t e, float none) {
    return numbers == nullptr ? none : numbers[e];
  }
};

// A gate times its sigmoid, which is that of `argument`.
struct SiluGate {
  OPCAST_DEVICE static Scaled Of(float gate, float argument) {
    const float nearby = gate < -kLargest ? NAN : argument < -190 ? -0.0f : gate;
    return TimesGate(nearby, Logistic::Part(fabsf(argument)));
  }
};
struct GeluTanhGate {
  OPCAST_DEVICE static Scaled Of(float gate, float) {
    return Gated(gate, CubicLogistic::Part(fabsf(gate)));
  }
};

// Replaces the first n floats of each expert's rows by gated values.
template <class Form>
__global__ void __launch_bounds__(kExpertThreads)
    GateKernel(float* hidden, int64_t n, RowGroups experts, ExpertGates gates) {
  const int64_t end = experts.Begin(experts.count);
  for (int64_t i = blockIdx.x; i < end; i += gridDim.x) {
    const int64_t e = experts.Of(i);
    const float alpha = ExpertGates::Or(gates.alpha, e, 1);
    const float beta = ExpertGates::Or(gates.beta, e, 0);
    const float limit = ExpertGates::Or(gates.limit, e, INFINITY);
    float* const row = hidden + i * 2 * n;
    const float* const gate_row = gates.gate_first ? row : row + n;
    const float* const value_row = gates.gate_first ? row + n : row;
    for (int64_t j = threadIdx.x; j < n; j += kExpertThreads) {
      const float gate = gate_row[j] > limit ? limit : gate_row[j];
      const float below = value_row[j] > limit ? limit : value_row[j];
      const float value = (below < -limit ? -limit : below) + beta;
      row[j] = Form::Of(gate, alpha * gate).Times(value);
    }
  }
}

template <class Args>
opcast::Status Gate(const Args& args, const RowGroups& experts, const opcast::Launch& launch) {
  const ExpertGates gates{args.swiglu_alpha, args.swiglu_beta, args.swiglu_limit, args.gate_first};
  const auto start = [&](void (*kernel)(float*, int64_t, RowGroups, ExpertGates)) {
    return opcast::Start(kernel, opcast::Blocks(experts.rows), kExpertThreads, 0, launch,
                         args.hidden, args.I, experts, gates);
  };
  const bool silu = args.activation == std::decay_t<decltype(args.activation)>::kSilu;
  return start(silu ? GateKernel<SiluGate> : GateKernel<GeluTanhGate>);
}

// Finds the rows of each expert, and copies those of x.
template <class Args>
opcast::Status GroupRows(const Args& a, const opcast::Launch& launch) {
  const Items items{a.topk_ids, a.N * a.k, a.E};
  const PutRows put{a.row_map, a.offsets, a.E};
  const opcast::Status status = PlaceItems(items, 1, a.counts, put, launch);
  if (!status.ok()) return status;
  return PermuteRows(a.permuted, a.x, items, a.row_map, a.offsets, a.k, a.D, launch);
}

// All that follows when the rows are grouped; for rows, w1 and w2 see ExpertWork.
template <class Args, class Rows, class W>
opcast::Status RunExperts(const Args& a, const Rows& rows, const W& w1, const W& w2,
                          const opcast::Launch& launch) {
  const RowGroups experts{a.offsets, a.E, a.N * a.k};
  const ExpertWork<Rows, W> first{rows, w1, a.hidden, a.w1_bias, 2 * a.I};
  opcast::Status status = GroupedRows(launch, first, experts, 2 * a.I, a.D);
  if (!status.ok()) return status;
  status = Gate(a, experts, launch);
  if (!status.ok()) return status;
  const ExpertWork<HiddenRows, W> second{{a.hidden, 2 * a.I}, w2, a.made, a.w2_bias, a.D};
  status = GroupedRows(launch, second, experts, a.D, a.I);
  if (!status.ok()) return status;
  const SumOfRows<float, std::decay_t<decltype(*a.y)>, WeightOfItem> sum{
      a.y, a.made, a.N * a.k, a.row_map, a.k, {a.topk_weights}};
  return SumRows(a.N, a.D, launch, sum);
}

}  // namespace opcast_ops
