// v = (e^s_a v_a + e^s_b v_b) / (e^s_a + e^s_b) and s = log(e^s_a + e^s_b) for each row, dense
// rows: see state_merge.h.
//
// Registers: at most 72.
// sass: allows call, fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/attention/state_merge.h"
#include "merge_state.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct TwoStates {
  static constexpr int64_t count = 2;
  const T *v_a, *v_b;
  const float *s_a, *s_b;

  OPCAST_DEVICE const T* V(int64_t row, int64_t i, int64_t n) const {
    return (i == 0 ? v_a : v_b) + row * n;
  }
  OPCAST_DEVICE float S(int64_t row, int64_t i) const { return i == 0 ? s_a[row] : s_b[row]; }
};

}  // namespace

opcast::Status MergeStateCuda(const MergeStateArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const MergeRow<T, TwoStates<T>> row{{a.v_a, a.v_b, a.s_a, a.s_b}, a.v, a.s};
    return ForRows(a.N * a.H, a.D, AlignedRows<T>({a.v, a.v_a, a.v_b}, a.D), launch, row);
  });
}

}  // namespace opcast_ops
