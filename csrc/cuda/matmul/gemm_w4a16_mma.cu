// gemm_w4a16 on tensor cores: see gemm_streamed.h. Codes less what stands for zero are small
// integers, exact in 16 bits; their products with a are added in float, a group at a time, and
// these sums times the scales in float. Groups are multiples of 128 columns.
//
// Registers: at most 255.
// sass: allows narrow in StreamedProductKernel: biases and scales, once per column
#include "gemm_w4a16.gen.h"

#if defined(__CUDACC__)
#include "cuda/matmul/gemm_streamed_codes.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

constexpr int kStepTerms = 128;

template <class T>
struct W4a16Product {
  using Number = T;
  static constexpr int kPairs = 16, kTiles = 2;
  using Codes = uint4;
  using Zero = uint32_t;

  StreamedRows a, b;
  int64_t units, steps;
  const T* scale;
  const uint8_t* zero;  // or null
  T* c;

  OPCAST_DEVICE Piece<16> Left(int64_t row, int64_t step, int t) const {
    const uint8_t* const from = a.Row(row) + (step * kStepTerms + t * 32) * 2;
    Piece<16> piece;
    OPCAST_UNROLL
    for (int i = 0; i < 4; ++i) {
      const uint4 part = Load16(from + 16 * i);
      piece.at[4 * i] = part.x, piece.at[4 * i + 1] = part.y;
      piece.at[4 * i + 2] = part.z, piece.at[4 * i + 3] = part.w;
    }
    return piece;
  }
  OPCAST_DEVICE uint4 Right(int64_t row, int64_t step, int t) const {
    return LoadOnce(b.Row(row) + step * (kStepTerms / 2) + t * 16);
  }
  OPCAST_DEVICE uint32_t ZeroOf(int64_t column, int64_t unit) const {
    const float code = zero == nullptr || column >= b.rows
                           ? 8.0f
                           : static_cast<float>(zero[column * units + unit]);
    return Pack<T>(code * kDown<T>, code * kDown<T>);
  }
  OPCAST_DEVICE Piece<16> Numbers(const uint4& codes, uint32_t less) const {
    return CodesLess<T>(codes, less);
  }
  OPCAST_DEVICE float RowFactor(int64_t, int64_t) const { return 1; }
  OPCAST_DEVICE float ColumnFactor(int64_t column, int64_t unit) const {
    return column < b.rows ? static_cast<float>(scale[column * units + unit]) / kDown<T> : 0.0f;
  }
  OPCAST_DEVICE void operator()(int64_t i, int64_t j, float sum) const {
    c[i * b.rows + j] = static_cast<T>(sum);
  }
};

template <class T>
opcast::Status ProductOf(const GemmW4a16Typed<T>& a, const opcast::Launch& launch,
                         int64_t columns) {
  const StreamedRows left{reinterpret_cast<const uint8_t*>(a.a), 2 * a.K, a.batch};
  const StreamedRows right{a.b_packed, a.K / 2, a.N};
  return StreamedProduct(launch,
                         W4a16Product<T>{left, right, a.K / a.group_size, a.group_size / kStepTerms,
                                         a.scale, a.zero, a.c},
                         columns);
}

}  // namespace

const char* GemmW4a16MmaSupported(const GemmW4a16Args& a, const opcast::Launch&) {
  return WhyNotStreamed(a.batch, {a.a, a.b_packed});
}

opcast::Status GemmW4a16Mma(const GemmW4a16Args& args, const opcast::Launch& launch,
                            const GemmW4a16MmaParams& params) {
  if (args.T == opcast::DType::kF16)
    return ProductOf(GemmW4a16Typed<opcast::f16>(args), launch, params.columns);
  return ProductOf(GemmW4a16Typed<opcast::bf16>(args), launch, params.columns);
}

#else

const char* GemmW4a16MmaSupported(const GemmW4a16Args&, const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}
opcast::Status GemmW4a16Mma(const GemmW4a16Args&, const opcast::Launch&,
                            const GemmW4a16MmaParams&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
