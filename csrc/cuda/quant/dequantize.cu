// x = q times the scale of its group of columns, dense rows. The product is rounded to float, and
// then to x.
//
// Registers: at most 48.
#include "cuda/lib/for_each_element.h"
#include "dequantize.gen.h"

namespace opcast_ops {
namespace {

template <class Q, class O>
struct DequantElement {
  const Q* q;
  const float* scale;
  int64_t group;  // columns that share a scale
  O* x;

  OPCAST_DEVICE void operator()(int64_t i) const {
    x[i] = static_cast<O>(static_cast<float>(q[i]) * scale[i / group]);
  }
};

}  // namespace

opcast::Status DequantizeCuda(const DequantizeArgs& args, const opcast::Launch& launch) {
  if (args.N == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const DequantElement<typename Args::Q, typename Args::O> element{a.q, a.scale, a.N / a.G, a.x};
    return ForEach(launch, a.batch * a.N, element);
  });
}

}  // namespace opcast_ops
