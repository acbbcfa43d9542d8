// For the row that row_map[i, s] names: its gradient is weights[i, s] * grad_y[i], and that of
// weights[i, s] is the sum of row * grad_y[i], in double and rounded once. Other rows get zeros
// first.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/row_reductions.h"
#include "moe_unpermute_backward.gen.h"

namespace opcast_ops {
namespace {

template <int kWidth, class T>
inline void GradientsOf(const MoeUnpermuteBackwardTyped<T>& args, int64_t token, int64_t slot) {
  const int64_t item = token * args.k + slot, n = args.D, row = args.row_map[item];
  const T* const grad_y = args.grad_y + token * n;
  if (row < 0) {
    args.grad_weights[item] = 0;
    return;
  }
  const float weight = args.weights[item];
  Map<kWidth>(
      n, [weight](float grad) { return weight * grad; }, args.grad_permuted + row * n, grad_y);
  const T* const both[] = {grad_y, args.permuted + row * n};
  args.grad_weights[item] = Round<float>(
      DoubleSum<kWidth>(n, both, [](const auto* x, auto* sum) { MultiplyAdd(x[0], x[1], sum); }));
}

}  // namespace

opcast::Status MoeUnpermuteBackward(const MoeUnpermuteBackwardArgs& args,
                                    const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.M * a.D, kChunk, [&](int64_t begin, int64_t end) {
      std::fill(a.grad_permuted + begin, a.grad_permuted + end, static_cast<T>(0.0f));
    });
    opcast::ParallelFor(launch, a.N, RowsPerChunk(a.D * a.k),
                        [&](int64_t begin, int64_t end, auto width) {
                          for (int64_t i = begin; i < end; ++i) {
                            for (int64_t s = 0; s < a.k; ++s) GradientsOf<width>(a, i, s);
                          }
                        });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
