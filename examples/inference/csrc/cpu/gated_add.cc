#include "gated_add.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status GatedAdd(const GatedAddArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t grain = 1 + (1 << 14) / (a.N + 1);  // rows that are worth a thread
    opcast::ParallelFor(launch, a.batch, grain, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* x = a.x + a.x_lead.Offset(i);
        const T* gate = a.gate + a.gate_lead.Offset(i);
        const T* y = a.y + a.y_lead.Offset(i);
        T* z = a.z + i * a.N;
        for (int64_t k = 0; k < a.N; ++k) {
          z[k] = Narrow<T>(Widen(x[k]) + Widen(gate[k]) * Widen(y[k]));
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
