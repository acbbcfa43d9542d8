// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in float: for results of float32
// within 4 units in the last place, for those of 16 bits as gates16.h has it. A silu below the
// smallest float times a large value keeps its bits.
//
// Registers: at most 64.
#include "gates.h"
#include "gates16.h"
#include "rows.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SiluAndMulRow {
  using Element = T;
  T* y;
  const T* x;

  OPCAST_DEVICE static float Of(float gate, float value) {
    if constexpr (sizeof(T) == 2)
      return ShortLogistic::Of(gate).Times(value);
    else
      return Gated(gate, Logistic::Part(fabsf(gate))).Times(value);
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    const T* const gates = x + row * 2 * n;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      const Floats<T> gate = Widen(Load<Form::kWhole>(gates, begin, n));
      Floats<T> value = Widen(Load<Form::kWhole>(gates + n, begin, n));
      OPCAST_UNROLL
      for (int e = 0; e < value.kSize; ++e) value.at[e] = Of(gate.at[e], value.at[e]);
      Store<Form::kWhole>(Narrow(value), y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status SiluAndMulCuda(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return ForRows(a.batch, a.D, AlignedRows<T>({a.y, a.x}, a.D), launch,
                   SiluAndMulRow<T>{a.y, a.x});
  });
}

}  // namespace opcast_ops
