// q = x / scale, dense arrays. See quantise_rows.h.
//
// Registers: at most 48.
#include "cuda/lib/for_each_element.h"
#include "cuda/quant/quantise_rows.h"
#include "per_tensor_quant.gen.h"

namespace opcast_ops {
namespace {

template <class T, class Q>
struct QuantElement {
  const T* x;
  const float* scale;
  Q* q;

  OPCAST_DEVICE void operator()(int64_t i) const {
    q[i] = Quantised<Q>(static_cast<float>(x[i]), *scale);
  }
};

}  // namespace

opcast::Status PerTensorQuantCuda(const PerTensorQuantArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const QuantElement<typename Args::T, typename Args::Q> element{a.x, a.scale, a.q};
    return ForEach(launch, a.batch, element);
  });
}

}  // namespace opcast_ops
