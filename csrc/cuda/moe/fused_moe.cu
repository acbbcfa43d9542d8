// y[t] = the sum over slots s of topk_weights[t, s] * w2[e] @ (act(g) * v) for e = topk_ids[t, s]
// and w1[e] @ x[t] = g, v. Rows are grouped by expert, multiplied, gated, multiplied again, and
// added up for each token in the order of its slots. All that is between x and y is float and is
// not rounded to fewer digits; see gemm_float_tile.h for the products.
//
// Registers: at most 128.
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
// sass: allows call in PlaceItemsKernel: indices beyond 32 bits
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/gates.h"
#include "cuda/moe/grouped_gemm.h"
#include "cuda/moe/named_rows.h"
#include "cuda/moe/permuted_rows.h"
#include "fused_moe.gen.h"

namespace opcast_ops {
namespace {

// to[rows of e] = a[rows of e] @ w[e].T; rows of a are `stride` apart.
template <class A, class T>
struct ExpertWork {
  const A* a;
  int64_t stride;
  const T* w;
  float* to;
  int64_t columns, depth;

  OPCAST_DEVICE RowFactor<A, EvenRows> Left(int64_t begin, int64_t rows) const {
    return {a + begin * stride, rows, {stride}};
  }
  OPCAST_DEVICE RowFactor<T, EvenRows> Right(int64_t e) const {
    return {w + e * columns * depth, columns, {depth}};
  }
  OPCAST_DEVICE RowsOut<float> Out(int64_t begin) const { return {to + begin * columns, columns}; }
};

// Replaces gates by gated values, in the rows of experts.
template <class Gates>
__global__ void __launch_bounds__(kExpertThreads)
    GateKernel(float* hidden, int64_t n, int64_t most, const int32_t* rows) {
  for (int64_t i = blockIdx.x; i < most && i < *rows; i += gridDim.x) {
    float* const row = hidden + i * 2 * n;
    for (int64_t j = threadIdx.x; j < n; j += kExpertThreads)
      row[j] = Gated(row[j], Gates::Part(fabsf(row[j]))).Times(row[n + j]);
  }
}

opcast::Status Gate(const FusedMoeArgs& args, const opcast::Launch& launch) {
  const int64_t most = args.N * args.k;
  const auto start = [&](void (*kernel)(float*, int64_t, int64_t, const int32_t*)) {
    return opcast::Start(kernel, opcast::Blocks(most), kExpertThreads, 0, launch, args.hidden,
                         args.I, most, args.offsets + args.E);
  };
  if (args.activation == FusedMoeActivation::kSilu) return start(GateKernel<Logistic>);
  return start(GateKernel<CubicLogistic>);
}

// Groups the rows of x by expert.
template <class T>
opcast::Status GroupRows(const FusedMoeTyped<T>& a, const opcast::Launch& launch) {
  const Items items{a.topk_ids, a.N * a.k, a.E};
  const PutRows put{a.row_map, a.offsets, a.E};
  const opcast::Status status = PlaceItems(items, 1, a.counts, put, launch);
  if (!status.ok()) return status;
  return PermuteRows(a.permuted, a.x, items, a.row_map, a.offsets, a.k, a.D, launch);
}

template <class T>
opcast::Status Run(const FusedMoeTyped<T>& a, const opcast::Launch& launch) {
  opcast::Status status = GroupRows(a, launch);
  if (!status.ok()) return status;
  const RowGroups groups{a.offsets, a.E, a.N * a.k};
  const ExpertWork<T, T> first{a.permuted, a.D, a.w1, a.hidden, 2 * a.I, a.D};
  status = GroupedRows(launch, first, groups, 2 * a.I, a.D);
  if (!status.ok()) return status;
  status = Gate(a, launch);
  if (!status.ok()) return status;
  const ExpertWork<float, T> second{a.hidden, 2 * a.I, a.w2, a.made, a.D, a.I};
  status = GroupedRows(launch, second, groups, a.D, a.I);
  if (!status.ok()) return status;
  const SumOfRows<float, T, WeightOfItem> sum{a.y,       a.made, a.N * a.k,
                                              a.row_map, a.k,    {a.topk_weights}};
  return SumRows(a.N, a.D, launch, sum);
}

}  // namespace

opcast::Status FusedMoeCuda(const FusedMoeArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return Run(a, launch); });
}

}  // namespace opcast_ops
