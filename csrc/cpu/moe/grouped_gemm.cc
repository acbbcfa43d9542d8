// c[rows of e] = a[rows of e] @ b[e].T for each expert e, dense; other rows of c are zero. Products
// are summed in float, in panels of the depth (see gemm_blocks.h), and rounded once. Bits depend on
// the values and K only.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/grouped_gemm.h"

#include "grouped_gemm.gen.h"

namespace opcast_ops {

opcast::Status GroupedGemm(const GroupedGemmArgs& args, const opcast::Launch& launch) {
  const RowGroups groups{args.expert_offsets, args.E};
  const Factor a{args.T, args.a, args.K}, b{args.T, args.b, args.K};
  const auto finish = [&](int64_t first, const Block& block, const Sums* sums, auto width) {
    for (int64_t i = 0; i < block.rows; ++i)
      Write(args.T, sums[i], block.columns, args.c, (first + i) * args.N + block.j, width);
  };
  ForGroups(launch, groups, BlocksLike(args.M, args.E, args.N, args.K), a, b, args.N, finish);
  return Visit(args, [&](const auto& typed) {
    using T = typename std::decay_t<decltype(typed)>::T;
    static_assert(kIsFactor<T>);
    ForOthers(groups, args.M, [&](int64_t begin, int64_t end) {
      std::fill(typed.c + begin * args.N, typed.c + end * args.N, static_cast<T>(0.0f));
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
