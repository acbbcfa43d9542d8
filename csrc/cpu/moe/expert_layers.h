// What the kernels of a mixture of experts share: rows are grouped by expert, multiplied, gated,
// multiplied again, and added up for each token in the order of its slots. All that is between x
// and y is float and is not rounded to fewer digits. Args is the struct of the op.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cpu/lib/gelu.h"
#include "cpu/moe/grouped_gemm.h"
#include "cpu/moe/named_rows.h"
#include "cpu/moe/permuted_rows.h"

namespace opcast_ops {

// The expert that has a row of those that are grouped.
inline int64_t ExpertOf(const RowGroups& experts, int64_t row) {
  return std::upper_bound(experts.offsets, experts.offsets + experts.count + 1, row) -
         experts.offsets - 1;
}

// What takes the sums of a product: rows of floats, to which the bias of the expert is added.
struct BiasedRows {
  RowGroups experts;
  const float* bias;  // a row for each expert, or null
  int64_t columns;
  float* to;

  template <class WidthType>
  void operator()(int64_t first, const Block& block, const Sums* sums, WidthType) const {
    const int64_t e = ExpertOf(experts, first);
    const float* const added = bias == nullptr ? nullptr : bias + e * columns + block.j;
    for (int64_t i = 0; i < block.rows; ++i) {
      float* const row = to + (first + i) * columns + block.j;
      std::copy_n(sums[i], block.columns, row);
      if (added == nullptr) continue;
      for (int64_t j = 0; j < block.columns; ++j) row[j] += added[j];
    }
  }
};

// An expert's gates: activate(gate, argument, width) of a gate and what silu's sigmoid is of.
struct ExpertGate {
  float alpha, beta, limit;

  template <class Args>
  ExpertGate(const Args& args, int64_t e)
      : alpha(args.swiglu_alpha == nullptr ? 1 : args.swiglu_alpha[e]),
        beta(args.swiglu_beta == nullptr ? 0 : args.swiglu_beta[e]),
        limit(args.swiglu_limit == nullptr ? std::numeric_limits<float>::infinity()
                                           : args.swiglu_limit[e]) {}

  template <class Activate, class WidthType>
  float Of(float gate, float value, Activate activate, WidthType width) const {
    const float g = Select(gate > limit, limit, gate);
    const float below = Select(value > limit, limit, value);
    return activate(g, alpha * g, width) * (Select(below < -limit, -limit, below) + beta);
  }
};

// Replaces the first half of each row by gated values.
template <class Args>
void Gate(const Args& args, const opcast::Launch& launch) {
  const int64_t n = args.I, gates = args.gate_first ? 0 : n;
  const RowGroups experts{args.offsets, args.E};
  const auto all = [&](auto activate) {
    return [&, activate](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        const ExpertGate form(args, ExpertOf(experts, i));
        float* const row = args.hidden + i * 2 * n;
        const auto gate = [&](float g, float v) { return form.Of(g, v, activate, width); };
        Map<width>(n, gate, row, row + gates, row + (n - gates));
      }
    };
  };
  const auto silu = [](float g, float argument, auto width) { return Gated<width>(g, argument); };
  const auto gelu = [](float g, float, auto width) { return GeluTanhShort<width>(g); };
  const int64_t rows = args.offsets[args.E];
  if (args.activation == std::decay_t<decltype(args.activation)>::kSilu)
    opcast::ParallelFor(launch, rows, RowsPerChunk(4 * n), all(silu));
  else
    opcast::ParallelFor(launch, rows, RowsPerChunk(4 * n), all(gelu));
}

// Adds up the rows of each token.
template <class Typed>
void AddUp(const Typed& args, const opcast::Launch& launch) {
  const NamedRows<float> rows{args.made, args.D, args.row_map, args.k};
  const auto add = [&](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) {
      const float* const weights = args.topk_weights + i * args.k;
      const auto weight = [weights](int64_t s) { return weights[s]; };
      SumRows<width>(rows.Of(i), weight, Passing(), args.y + i * args.D);
    }
  };
  opcast::ParallelFor(launch, args.N, RowsPerChunk(args.D * args.k), add);
}

}  // namespace opcast_ops
