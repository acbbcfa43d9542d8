// y = silu(gate) * up, its gradients and tangents, and those of its gradients: each a function of
// the numbers at one place. Computed in double, rounded once.
#include <cmath>

#include "numbers.h"
#include "swiglu.gen.h"
#include "swiglu_backward.gen.h"
#include "swiglu_backward_backward.gen.h"
#include "swiglu_backward_forward.gen.h"
#include "swiglu_forward.gen.h"

namespace inference_ops {
namespace {

// silu at a place, and its first and second derivative.
struct Silu {
  explicit Silu(double x) {
    const double sigmoid = 1 / (1 + std::exp(-x));
    value = x * sigmoid;
    slope = sigmoid * (1 + x * (1 - sigmoid));
    bend = sigmoid * (1 - sigmoid) * (2 + x * (1 - 2 * sigmoid));
  }
  double value, slope, bend;
};

// Calls body(a, i) for every place i, with the typed arguments.
template <class Args, class Body>
opcast::Status Each(const Args& args, const opcast::Launch& launch, Body body) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, a.batch, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(a, i);
    });
    return opcast::Status::Ok();
  });
}

// Rounds a number to an element.
template <class T>
void Put(T* to, double value) {
  *to = Narrow<T>(value);
}

}  // namespace

opcast::Status Swiglu(const SwigluArgs& args, const opcast::Launch& launch) {
  return Each(args, launch, [](const auto& a, int64_t i) {
    const double gate = Widen(a.gate[i]);
    Put(a.y + i, gate / (1 + std::exp(-gate)) * Widen(a.up[i]));
  });
}

opcast::Status SwigluBackward(const SwigluBackwardArgs& args, const opcast::Launch& launch) {
  return Each(args, launch, [](const auto& a, int64_t i) {
    const Silu silu(Widen(a.gate[i]));
    const double grad = Widen(a.grad_y[i]);
    Put(a.grad_gate + i, grad * Widen(a.up[i]) * silu.slope);
    Put(a.grad_up + i, grad * silu.value);
  });
}

opcast::Status SwigluForward(const SwigluForwardArgs& args, const opcast::Launch& launch) {
  return Each(args, launch, [](const auto& a, int64_t i) {
    const Silu silu(Widen(a.gate[i]));
    const double by_gate = Widen(a.tangent_gate[i]) * Widen(a.up[i]) * silu.slope;
    Put(a.tangent_y + i, by_gate + Widen(a.tangent_up[i]) * silu.value);
  });
}

opcast::Status SwigluBackwardBackward(const SwigluBackwardBackwardArgs& args,
                                      const opcast::Launch& launch) {
  return Each(args, launch, [](const auto& a, int64_t i) {
    const Silu silu(Widen(a.gate[i]));
    const double up = Widen(a.up[i]), grad = Widen(a.grad_y[i]);
    const double of_gate = Widen(a.grad2_grad_gate[i]), of_up = Widen(a.grad2_grad_up[i]);
    Put(a.grad2_grad_y + i, of_gate * up * silu.slope + of_up * silu.value);
    Put(a.grad2_gate + i, grad * (of_gate * up * silu.bend + of_up * silu.slope));
    Put(a.grad2_up + i, grad * of_gate * silu.slope);
  });
}

opcast::Status SwigluBackwardForward(const SwigluBackwardForwardArgs& args,
                                     const opcast::Launch& launch) {
  return Each(args, launch, [](const auto& a, int64_t i) {
    const Silu silu(Widen(a.gate[i]));
    const double up = Widen(a.up[i]), grad = Widen(a.grad_y[i]);
    const double moved = Widen(a.tangent_gate[i]), moved_grad = Widen(a.tangent_grad_y[i]);
    const double change = moved_grad * up + grad * Widen(a.tangent_up[i]);
    Put(a.tangent_grad_gate + i, change * silu.slope + grad * moved * up * silu.bend);
    Put(a.tangent_grad_up + i, moved_grad * silu.value + grad * moved * silu.slope);
  });
}

}  // namespace inference_ops
