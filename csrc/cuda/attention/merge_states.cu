// v = the sum of e^s v over the parts, divided by that of e^s, and s its logarithm, for each row:
// see state_merge.h.
//
// Registers: at most 72.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/attention/state_merge.h"
#include "merge_states.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct States {
  int64_t count, heads;
  const T* v;
  const float* s;

  OPCAST_DEVICE int64_t At(int64_t row, int64_t i) const {
    return (row / heads * count + i) * heads + row % heads;
  }
  OPCAST_DEVICE const T* V(int64_t row, int64_t i, int64_t n) const { return v + At(row, i) * n; }
  OPCAST_DEVICE float S(int64_t row, int64_t i) const { return s[At(row, i)]; }
};

}  // namespace

opcast::Status MergeStatesCuda(const MergeStatesArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const MergeRow<T, States<T>> row{{a.S, a.H, a.v_parts, a.s_parts}, a.v, a.s};
    return ForRows(a.N * a.H, a.D, AlignedRows<T>({a.v, a.v_parts}, a.D), launch, row);
  });
}

}  // namespace opcast_ops
