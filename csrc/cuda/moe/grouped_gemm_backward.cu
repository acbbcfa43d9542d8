// grad_a[rows of e] = grad_c[rows of e] @ b[e] and grad_b[e] = grad_c[rows of e].T @ a[rows of e]
// for each expert e, dense; other rows of grad_a are zero. Products are summed in float (see
// gemm_float_tile.h) and rounded once.
//
// Registers: at most 128.
// sass: allows narrow in GradBKernel: tiles of rows at any address
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
#include "cuda/moe/grouped_gemm.h"
#include "grouped_gemm_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct GradAWork {
  const T *grad_c, *b;
  T* grad_a;
  int64_t n, k;

  OPCAST_DEVICE RowFactor<T, EvenRows> Left(int64_t begin, int64_t rows) const {
    return {grad_c + begin * n, rows, {n}};
  }
  OPCAST_DEVICE ColumnFactor<T, EvenRows> Right(int64_t e) const { return {b + e * n * k, k, {k}}; }
  OPCAST_DEVICE RowsOut<T> Out(int64_t, int64_t begin) const { return {grad_a + begin * k, k}; }
};

// A tile of grad_b, whose sums are as long as the expert has rows.
template <class T>
__global__ void __launch_bounds__(kProductThreads)
    GradBKernel(const T* grad_c, const T* a, T* grad_b, RowGroups groups, int64_t n, int64_t k) {
  const int64_t across = (k + kProductTile - 1) / kProductTile;
  const int64_t of_expert = (n + kProductTile - 1) / kProductTile * across;
  for (int64_t index = blockIdx.x; index < groups.count * of_expert; index += gridDim.x) {
    const int64_t e = index / of_expert, tile = index % of_expert, begin = groups.Begin(e);
    ComputeTile(ColumnFactor<T, EvenRows>{grad_c + begin * n, n, {n}},
                ColumnFactor<T, EvenRows>{a + begin * k, k, {k}}, RowsOut<T>{grad_b + e * n * k, k},
                0, tile / across * kProductTile, tile % across * kProductTile, n, k,
                groups.Rows(e));
  }
}

}  // namespace

opcast::Status GroupedGemmBackwardCuda(const GroupedGemmBackwardArgs& args,
                                       const opcast::Launch& launch) {
  const RowGroups groups{args.expert_offsets, args.E, args.M};
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::Status status = ClearOthers(launch, a.grad_a, groups, a.K);
    if (!status.ok()) return status;
    const GradAWork<T> work{a.grad_c, a.b, a.grad_a, a.N, a.K};
    status = GroupedRows(launch, work, groups, a.K, a.N);
    if (!status.ok()) return status;
    const int64_t tiles =
        (a.N + kProductTile - 1) / kProductTile * ((a.K + kProductTile - 1) / kProductTile);
    return opcast::Start(GradBKernel<T>, opcast::Blocks(a.E * tiles), kProductThreads, 0, launch,
                         a.grad_c, a.a, a.grad_b, groups, a.N, a.K);
  });
}

}  // namespace opcast_ops
