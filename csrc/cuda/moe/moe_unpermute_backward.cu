// For the row that row_map[i, s] names: its gradient is weights[i, s] * grad_y[i], and that of
// weights[i, s] is the sum of row * grad_y[i], as pairs of floats and rounded once. Other rows get
// zeros first.
//
// Registers: at most 64.
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/row_kernels.h"
#include "moe_unpermute_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct ZeroRow {
  using Element = T;
  T* matrix;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      Store<Form::kWhole>(Narrow(Floats<T>{}), matrix + row * n, begin, n);
    });
  }
};

template <class T>
struct ItemGradients {
  using Element = T;
  T* grad_permuted;
  float* grad_weights;
  const T *grad_y, *permuted;
  const int32_t* row_map;
  const float* weights;
  int64_t slots, rows;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t item, bool there) const {
    const int64_t n = member.n(), named = there ? row_map[item] : -1;
    const int64_t row = named < rows ? named : -1;  // the definition forbids others
    const float weight = row < 0 ? 0 : weights[item];
    Pair sum{};
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      if (row < 0) return;
      Floats<T> grad = Widen(Load<Form::kWhole>(grad_y + item / slots * n, begin, n));
      const Floats<T> x = Widen(Load<Form::kWhole>(permuted + row * n, begin, n));
      OPCAST_UNROLL
      for (int e = 0; e < grad.kSize; ++e) {
        if (member.Has<Form>(begin, e)) sum = sum + Multiply(grad.at[e], x.at[e]);
        grad.at[e] *= weight;
      }
      Store<Form::kWhole>(Narrow(grad), grad_permuted + row * n, begin, n);
    });
    const float total = Settle(member.Sum(sum)).high;
    if (member.Writes(item)) grad_weights[item] = row < 0 ? 0 : total;
  }
};

}  // namespace

opcast::Status MoeUnpermuteBackwardCuda(const MoeUnpermuteBackwardArgs& args,
                                        const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const bool aligned = AlignedRows<T>({a.grad_permuted, a.grad_y, a.permuted}, a.D);
    const opcast::Status status = ForRows(a.M, a.D, aligned, launch, ZeroRow<T>{a.grad_permuted});
    if (!status.ok()) return status;
    const ItemGradients<T> work{a.grad_permuted, a.grad_weights, a.grad_y, a.permuted,
                                a.row_map,       a.weights,      a.k,      a.M};
    return ForRows(a.N * a.k, a.D, aligned, launch, work);
  });
}

}  // namespace opcast_ops
