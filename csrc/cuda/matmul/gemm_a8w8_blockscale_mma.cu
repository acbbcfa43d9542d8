// gemm_a8w8_blockscale on tensor cores: see gemm_streamed.h. Numbers of 8 bits become float16,
// which holds them exactly; products are added in float, 128 at a time, and these sums times their
// scales in float.
//
// Registers: at most 255.
#include "gemm_a8w8_blockscale.gen.h"

#if defined(__CUDACC__)
#include "cuda/matmul/gemm_streamed_codes.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

constexpr int kBlock = 128;  // columns that share a scale, and rows of b

template <class Q, class O>
struct BlockscaleProduct : ByteFactors<Q> {
  const float *a_scale, *b_scale;
  O* c;

  OPCAST_DEVICE float RowFactor(int64_t row, int64_t unit) const {
    return row < this->a.rows ? a_scale[row * this->units + unit] : 0.0f;
  }
  OPCAST_DEVICE float ColumnFactor(int64_t column, int64_t unit) const {
    return column < this->b.rows ? b_scale[column / kBlock * this->units + unit] : 0.0f;
  }
  OPCAST_DEVICE void operator()(int64_t i, int64_t j, float sum) const {
    c[i * this->b.rows + j] = static_cast<O>(sum);
  }
};

}  // namespace

const char* GemmA8w8BlockscaleMmaSupported(const GemmA8w8BlockscaleArgs& a, const opcast::Launch&) {
  return WhyNotStreamed(a.batch, {a.a, a.b});
}

opcast::Status GemmA8w8BlockscaleMma(const GemmA8w8BlockscaleArgs& args,
                                     const opcast::Launch& launch,
                                     const GemmA8w8BlockscaleMmaParams& params) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using Q = typename Args::Q;
    if constexpr (std::is_same_v<Q, opcast::f8e4m3fnuz>) {
      return opcast::Status::Error("float8_e4m3fnuz");  // the definition rules it out
    } else {
      const StreamedRows left{reinterpret_cast<const uint8_t*>(a.a), a.K, a.batch};
      const StreamedRows right{reinterpret_cast<const uint8_t*>(a.b), a.K, a.N};
      return StreamedProduct(launch,
                             BlockscaleProduct<Q, typename Args::O>{
                                 {left, right, a.K / kBlock, 2}, a.a_scale, a.b_scale, a.c},
                             params.columns);
    }
  });
}

#else

const char* GemmA8w8BlockscaleMmaSupported(const GemmA8w8BlockscaleArgs&, const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}
opcast::Status GemmA8w8BlockscaleMma(const GemmA8w8BlockscaleArgs&, const opcast::Launch&,
                                     const GemmA8w8BlockscaleMmaParams&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
