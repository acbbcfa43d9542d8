// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in float, within 4 units in the last
// place; a silu below the smallest float times a large value keeps its bits.
#include "gates.h"
#include "rows.h"
#include "silu_and_mul.gen.h"

namespace ops {
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
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const SiluAndMulRow<T> row{static_cast<T*>(args.y), static_cast<const T*>(args.x),
                               AlignedRows<T>({args.y, args.x}, args.D)};
    return ForRows(args.batch, args.D, launch, row);
  });
}

}  // namespace ops
