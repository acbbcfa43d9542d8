// y[i, j] = (value + 1) * gate * sigmoid(alpha * gate), where the gate is x[i, 2j], but at most
// limit, and the value x[i, 2j + 1], but at most limit away from 0: the activation of gpt-oss, as
// vLLM's swigluoai_and_mul computes it. Dense rows; see swigluoai.h.
//
// Registers: at most 64.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/swigluoai.h"
#include "swigluoai_and_mul.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SwigluoaiRow {
  using Element = T;
  T* y;
  const T* x;
  LimitedGates gates;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      PairsOf<T> pairs;
      pairs.template Load<Form::kWhole>(x + row * 2 * n, begin, n);
      Floats<T> result;
      OPCAST_UNROLL
      for (int e = 0; e < result.kSize; ++e)
        result.at[e] = gates.GatedTimes<T>(gates.limits.Gate(pairs.gates.at[e]),
                                           gates.limits.OnePlusValue(pairs.values.at[e]));
      Store<Form::kWhole>(Narrow(result), y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status SwigluoaiAndMulCuda(const SwigluoaiAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SwigluoaiRow<T> row{a.y, a.x, LimitedGates(a.limit, a.alpha)};
    return ForRows(a.batch, a.D, AlignedRows<T>({a.y, a.x}, a.D), launch, row);
  });
}

}  // namespace opcast_ops
