#include "gated_add_backward.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status GatedAddBackward(const GatedAddBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t grain = 1 + (1 << 14) / (a.N + 1);  // rows that are worth a thread
    opcast::ParallelFor(launch, a.batch, grain, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* grad_z = a.grad_z + a.grad_z_lead.Offset(i);
        const T* gate = a.gate + a.gate_lead.Offset(i);
        const T* y = a.y + a.y_lead.Offset(i);
        for (int64_t k = 0; k < a.N; ++k) {
          a.grad_x[i * a.N + k] = grad_z[k];
          a.grad_gate[i * a.N + k] = Narrow<T>(Widen(grad_z[k]) * Widen(y[k]));
          a.grad_y[i * a.N + k] = Narrow<T>(Widen(grad_z[k]) * Widen(gate[k]));
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
