// gemm_a8w8 on tensor cores: see gemm_streamed.h. Numbers of 8 bits become float16, which holds
// them exactly; products are added in float, 64 at a time. Rows of whole steps of 64 numbers.
//
// Registers: at most 255.
// sass: allows fp64 in StreamedProductKernel: precision, as the head of this file says
// sass: allows narrow in StreamedProductKernel: biases and scales, once per column
#include "gemm_a8w8.gen.h"

#if defined(__CUDACC__)
#include "cuda/matmul/gemm_streamed_codes.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

template <class Q, class O>
struct A8w8Product : ByteFactors<Q> {
  const float *a_scale, *b_scale;
  const O* bias;  // or null
  O* c;

  OPCAST_DEVICE float RowFactor(int64_t, int64_t) const { return 1; }
  OPCAST_DEVICE float ColumnFactor(int64_t, int64_t) const { return 1; }
  OPCAST_DEVICE void operator()(int64_t i, int64_t j, float sum) const {
    double value = double{sum} * a_scale[i] * b_scale[j];
    if (bias != nullptr) value += static_cast<double>(static_cast<float>(bias[j]));
    c[i * this->b.rows + j] = static_cast<O>(static_cast<float>(value));
  }
};

}  // namespace

const char* GemmA8w8MmaSupported(const GemmA8w8Args& a, const opcast::Launch&) {
  return WhyNotStreamed(a.batch, {a.a, a.b});
}

opcast::Status GemmA8w8Mma(const GemmA8w8Args& args, const opcast::Launch& launch,
                           const GemmA8w8MmaParams& params) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using Q = typename Args::Q;
    if constexpr (std::is_same_v<Q, opcast::f8e4m3fnuz>) {
      return opcast::Status::Error("float8_e4m3fnuz");  // the definition rules it out
    } else {
      const StreamedRows left{reinterpret_cast<const uint8_t*>(a.a), a.K, a.batch};
      const StreamedRows right{reinterpret_cast<const uint8_t*>(a.b), a.K, a.N};
      return StreamedProduct(launch,
                             A8w8Product<Q, typename Args::O>{
                                 {left, right, a.K / 64, 1}, a.a_scale, a.b_scale, a.bias, a.c},
                             params.columns);
    }
  });
}

#else

const char* GemmA8w8MmaSupported(const GemmA8w8Args&, const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}
opcast::Status GemmA8w8Mma(const GemmA8w8Args&, const opcast::Launch&, const GemmA8w8MmaParams&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
