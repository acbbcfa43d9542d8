// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in float, within 4 units in the last
// place; a silu below the smallest float times a large value keeps its bits.
#include "gates.h"
#include "rows.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SiluAndMulRow {
  using Element = T;
  T* y;
  const T* x;
  bool aligned;

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n();
    const T* const gates = x + row * 2 * n;
    member.ForVectors<T, kVectors>([&](int, int64_t begin) {
      const Vector<T> gate = Load(gates, begin, size, aligned);
      Vector<T> value = Load(gates + n, begin, size, aligned);
      for (int e = 0; e < value.kSize; ++e) {
        const float g = static_cast<float>(gate.at[e]);
        const Scaled silu = Gated(g, Logistic::Part(fabsf(g)));
        value.at[e] = Round<T>(silu.Times(static_cast<float>(value.at[e])));
      }
      Store(value, y + row * n, begin, size, aligned);
    });
  }
};

}  // namespace

opcast::Status SiluAndMulCuda(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SiluAndMulRow<T> row{a.y, a.x, AlignedRows<T>({a.y, a.x}, a.D)};
    return ForRows(a.batch, a.D, launch, row);
  });
}

}  // namespace opcast_ops
