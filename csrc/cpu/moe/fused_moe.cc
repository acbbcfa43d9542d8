// y[t] = the sum over slots s of topk_weights[t, s] * w2[e] @ (act(g) * v) for e = topk_ids[t, s]
// and w1[e] @ x[t] = g, v. Rows are grouped by expert, multiplied, gated, multiplied again, and
// added up for each token in the order of its slots. All that is between x and y is float and is
// not rounded to fewer digits; see gemm_blocks.h for the products.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/gelu.h"
#include "cpu/moe/grouped_gemm.h"
#include "cpu/moe/named_rows.h"
#include "cpu/moe/permuted_rows.h"
#include "fused_moe.gen.h"

namespace opcast_ops {
namespace {

using Args = FusedMoeArgs;

// to[rows of e] = a[rows of e] @ the matrix of e, transposed, as floats.
void MultiplyRows(const Args& args, const opcast::Launch& launch, const Factor& a, const Factor& b,
                  int64_t columns, int64_t depth, float* to) {
  const RowGroups groups{args.offsets, args.E};
  const auto finish = [=](int64_t first, const Block& block, const Sums* sums, auto) {
    for (int64_t i = 0; i < block.rows; ++i)
      std::copy_n(sums[i], block.columns, to + (first + i) * columns + block.j);
  };
  const Blocks like = BlocksLike(args.N * args.k, args.E, columns, depth);
  ForGroups(launch, groups, like, a, b, columns, finish);
}

// Replaces gates by gated values.
void Gate(const Args& args, const opcast::Launch& launch) {
  const int64_t n = args.I;
  const auto all = [&](auto activate) {
    return [&, activate](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        float* const row = args.hidden + i * 2 * n;
        const auto gate = [&](float g, float v) { return activate(g, width) * v; };
        Map<width>(n, gate, row, row, row + n);
      }
    };
  };
  const auto silu = [](float g, auto width) { return Gated<width>(g, g); };
  const auto gelu = [](float g, auto width) { return GeluTanhShort<width>(g); };
  const int64_t rows = args.offsets[args.E];
  if (args.activation == FusedMoeActivation::kSilu)
    opcast::ParallelFor(launch, rows, RowsPerChunk(4 * n), all(silu));
  else
    opcast::ParallelFor(launch, rows, RowsPerChunk(4 * n), all(gelu));
}

// Adds up the rows of each token.
template <class T>
void AddUp(const FusedMoeTyped<T>& args, const opcast::Launch& launch) {
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

}  // namespace

opcast::Status FusedMoe(const FusedMoeArgs& args, const opcast::Launch& launch) {
  const Items items{args.topk_ids, args.N * args.k, args.E};
  const PermutedPlaces places{args.row_map, args.offsets};
  FindPlaces(items, args.counts, places);
  return Visit(args, [&](const auto& a) {
    static_assert(kIsFactor<typename std::decay_t<decltype(a)>::T>);
    PermuteRows(launch, a.x, a.D, a.k, items, places, a.permuted);
    const Factor rows{args.T, args.permuted, args.D}, w1{args.T, args.w1, args.D};
    MultiplyRows(args, launch, rows, w1, 2 * args.I, args.D, args.hidden);
    Gate(args, launch);
    const Factor gated{opcast::DType::kF32, args.hidden, 2 * args.I}, w2{args.T, args.w2, args.I};
    MultiplyRows(args, launch, gated, w2, args.D, args.I, args.made);
    AddUp(a, launch);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
