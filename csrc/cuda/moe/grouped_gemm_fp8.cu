// c[rows of e] = a[rows of e] @ b[e].T for each expert e, where blocks of a and b have scales;
// other rows of c are zero. Numbers times scales are floats; their products are summed in float
// (see gemm_float_tile.h) and rounded once.
//
// Registers: at most 128.
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
#include "cuda/moe/scaled_experts.h"
#include "grouped_gemm_fp8.gen.h"

namespace opcast_ops {
namespace {

template <class Q, class O>
struct ScaledGemmWork {
  using Rows = ScaledRows<Elements<Q>, float>;
  Rows a, b;
  O* c;
  int64_t n;

  OPCAST_DEVICE auto Left(int64_t begin, int64_t rows) const { return a.Rows(begin, rows); }
  OPCAST_DEVICE auto Right(int64_t e) const { return b.Matrix(e); }
  OPCAST_DEVICE RowsOut<O> Out(int64_t, int64_t begin) const { return {c + begin * n, n}; }
};

}  // namespace

opcast::Status GroupedGemmFp8Cuda(const GroupedGemmFp8Args& args, const opcast::Launch& launch) {
  const RowGroups groups{args.expert_offsets, args.E, args.M, args.masked_m};
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const opcast::Status cleared = ClearOthers(launch, a.c, groups, a.N);
    if (!cleared.ok()) return cleared;
    using Scales = BlockScales<float>;
    const ScaledGemmWork<typename Args::Q, typename Args::O> work{
        {{a.a}, Scales(a.a_scale, 1, a.K, 1, a.C), a.M, a.K},
        {{a.b}, Scales(a.b_scale, a.N, a.K, a.R, a.C), a.N, a.K},
        a.c,
        a.N};
    return GroupedRows(launch, work, groups, a.N, a.K);
  });
}

}  // namespace opcast_ops
