// x = q times the scale of its group of columns, dense rows. The product is rounded to float, and
// then to x.
//
// Registers: at most 48.
// sass: allows call in VectorsKernel: indices beyond 32 bits
// sass: allows narrow in VectorsKernel: arrays whose rows are not aligned
#include "cuda/lib/count_division.h"
#include "cuda/lib/for_each_vector.h"
#include "cuda/quant/codes.h"
#include "dequantize.gen.h"

namespace opcast_ops {
namespace {

template <class Q, class O>
struct DequantVectors {
  using Element = O;
  struct Input {
    Codes<O, Q> codes;
    float scale;
  };

  const Q* q;
  const float* scales;
  O* x;
  int64_t n, group;  // elements, and those that share a scale

  OPCAST_DEVICE float Scale(int64_t i) const { return scales[Divide(i, group).quotient]; }

  template <bool kWhole>
  OPCAST_DEVICE Input Read(int64_t at) const {
    if constexpr (kWhole) return {LoadCodes<true, O>(q, at, n), Scale(at)};
    return {};
  }

  template <bool kWhole>
  OPCAST_DEVICE void Write(int64_t at, const Input& input) const {
    if constexpr (kWhole) {
      Floats<O> values = Widen(input.codes);
      OPCAST_UNROLL
      for (float& value : values.at) value *= input.scale;
      Store<true>(Narrow(values), x, at, n);
    } else {
      OPCAST_NO_UNROLL
      for (int64_t i = at; i < n && i < at + Vector<O>::kSize; ++i)
        x[i] = static_cast<O>(static_cast<float>(q[i]) * Scale(i));
    }
  }
};

}  // namespace

opcast::Status DequantizeCuda(const DequantizeArgs& args, const opcast::Launch& launch) {
  if (args.N == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using O = typename Args::O;
    const int64_t n = a.batch * a.N, group = a.N / a.G;
    const DequantVectors<typename Args::Q, O> work{a.q, a.scale, a.x, n, group};
    const bool shared = group % Vector<O>::kSize == 0;  // by the elements of a vector
    return ForVectors(launch, n, shared && Aligned({a.q, a.x}), work);
  });
}

}  // namespace opcast_ops
