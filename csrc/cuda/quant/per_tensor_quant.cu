// q = x / scale, dense arrays. See codes.h.
//
// Registers: at most 64.
// sass: allows call, fp64 in VectorsKernel: precision, as the head of this file says
// sass: allows narrow in VectorsKernel: arrays whose rows are not aligned
#include "cuda/lib/for_each_vector.h"
#include "cuda/quant/codes.h"
#include "per_tensor_quant.gen.h"

namespace opcast_ops {
namespace {

template <class T, class Q>
struct QuantVectors {
  using Element = T;
  struct Input {
    Vector<T> x;
    ScaleDivision division;
  };

  const T* x;
  const float* scale;
  Q* q;
  int64_t n;

  template <bool kWhole>
  OPCAST_DEVICE Input Read(int64_t at) const {
    return {Load<kWhole>(x, at, n), ScaleDivision::By(*scale)};
  }

  template <bool kWhole>
  OPCAST_DEVICE void Write(int64_t at, const Input& input) const {
    StoreCodes<kWhole>(Quantised<Q, T>(Widen(input.x), input.division), q, at, n);
  }
};

}  // namespace

opcast::Status PerTensorQuantCuda(const PerTensorQuantArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const QuantVectors<typename Args::T, typename Args::Q> work{a.x, a.scale, a.q, a.batch};
    return ForVectors(launch, a.batch, Aligned({a.x, a.q}), work);
  });
}

}  // namespace opcast_ops
