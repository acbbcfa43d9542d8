// grad_a[rows of e] = grad_c[rows of e] @ b[e] and grad_b[e] = grad_c[rows of e].T @ a[rows of e]
// for each expert e, dense; other rows of grad_a are zero. Products are summed in float, in panels
// of the depth (see gemm_blocks.h), and rounded once. Bits depend on the values and the lengths of
// the sums only.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/grouped_gemm.h"
#include "grouped_gemm_backward.gen.h"

namespace opcast_ops {
namespace {

using Args = GroupedGemmBackwardArgs;

void GradA(const Args& args, const opcast::Launch& launch, const RowGroups& groups) {
  const Factor grad{args.T, args.grad_c, args.N}, b{args.T, args.b, args.K, false};
  const auto finish = [&](int64_t first, const Block& block, const Sums* sums, auto width) {
    for (int64_t i = 0; i < block.rows; ++i)
      Write(args.T, sums[i], block.columns, args.grad_a, (first + i) * args.K + block.j, width);
  };
  ForGroups(launch, groups, BlocksLike(args.M, args.E, args.K, args.N), grad, b, args.N, finish);
}

// A block of grad_b for each number below E times the blocks of an expert.
void GradB(const Args& args, const opcast::Launch& launch, const RowGroups& groups) {
  const Blocks blocks(args.N, args.K, args.M / std::max<int64_t>(1, args.E) + 1);
  const auto compute = [&](int64_t first, int64_t last, auto width) {
    ProductSpace* const space = SpaceOfThread();
    for (int64_t index = first; index < last; ++index) {
      const int64_t e = index / blocks.Count();
      const Block block = blocks.At(index % blocks.Count());
      Factor grad{args.T, args.grad_c, args.N, false}, a{args.T, args.a, args.K, false};
      grad.first = a.first = groups.Begin(e);
      Clear(block, space->sums);
      Multiply(grad, a, block, groups.Rows(e), space, width);
      for (int64_t i = 0; i < block.rows; ++i)
        Write(args.T, space->sums[i], block.columns, args.grad_b,
              (e * args.N + block.i + i) * args.K + block.j, width);
    }
  };
  opcast::ParallelFor(launch, args.E * blocks.Count(), blocks.PerChunk(), compute);
}

}  // namespace

opcast::Status GroupedGemmBackward(const Args& args, const opcast::Launch& launch) {
  const RowGroups groups{args.expert_offsets, args.E};
  GradA(args, launch, groups);
  GradB(args, launch, groups);
  return Visit(args, [&](const auto& typed) {
    using T = typename std::decay_t<decltype(typed)>::T;
    static_assert(kIsFactor<T>);
    ForOthers(groups, args.M, [&](int64_t begin, int64_t end) {
      std::fill(typed.grad_a + begin * args.K, typed.grad_a + end * args.K, static_cast<T>(0.0f));
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
