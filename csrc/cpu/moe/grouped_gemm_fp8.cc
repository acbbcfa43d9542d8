// c[rows of e] = a[rows of e] @ b[e].T for each expert e, where blocks of a and b have scales;
// other rows of c are zero. Numbers times scales are floats; their products are summed in float, in
// panels of the depth (see scaled_experts.h), and rounded once. Bits depend on the values and K
// only.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/scaled_experts.h"
#include "grouped_gemm_fp8.gen.h"

namespace opcast_ops {

opcast::Status GroupedGemmFp8(const GroupedGemmFp8Args& args, const opcast::Launch& launch) {
  const RowGroups groups{args.expert_offsets, args.E, args.masked_m};
  const auto finish = [&](int64_t first, const Block& block, const Sums* sums, auto width) {
    for (int64_t i = 0; i < block.rows; ++i)
      Write(args.O, sums[i], block.columns, args.c, (first + i) * args.N + block.j, width);
  };
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using Rows = ScaledRows<typename Args::Q, float>;
    using O = typename Args::O;
    const Rows rows{a.a, a.K, ScalesOf(a.a_scale, 1, a.K, 1, a.C)};
    const Rows matrices{a.b, a.K, ScalesOf(a.b_scale, a.N, a.K, a.R, a.C)};
    ForScaledGroups(launch, groups, BlocksLike(a.M, a.E, a.N, a.K), rows, matrices, a.N, finish);
    const auto clear = [&](int64_t begin, int64_t end) {
      std::fill(a.c + begin * a.N, a.c + end * a.N, static_cast<O>(0.0f));
    };
    ForOthers(groups, a.M, clear);
    for (int64_t e = 0; e < a.E && a.masked_m != nullptr; ++e)
      clear(groups.Begin(e) + groups.Rows(e), groups.Begin(e + 1));
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
