// gemm for at most 64 rows of 16 bits on tensor cores: see gemm_streamed.h. Products are added
// in float, 32 at a time; the rest is computed in double and rounded once.
//
// Registers: at most 255.
// sass: allows call, fp64 in StreamedProductKernel: precision, as the head of this file says
// sass: allows narrow in StreamedProductKernel: biases and scales, once per column
#include "cuda/matmul/gemm_epilogue.h"
#include "gemm.gen.h"

#if defined(__CUDACC__)
#include "cuda/matmul/gemm_streamed.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

constexpr int64_t kMostRows = 64;

template <class T, class O>
struct FewRowsProduct {
  using Number = T;
  static constexpr int kPairs = 4, kTiles = 4;
  using Codes = uint4;
  struct Zero {};

  StreamedRows a, b;
  int64_t units, steps;
  GemmFinish<T, O> finish;

  OPCAST_DEVICE Piece<4> Left(int64_t row, int64_t step, int t) const {
    return Numbers(Load16(a.Row(row) + step * 64 + t * 16), {});
  }
  OPCAST_DEVICE uint4 Right(int64_t row, int64_t step, int t) const {
    return LoadOnce(b.Row(row) + step * 64 + t * 16);
  }
  OPCAST_DEVICE Zero ZeroOf(int64_t, int64_t) const { return {}; }
  OPCAST_DEVICE Piece<4> Numbers(const uint4& v, Zero) const { return {{v.x, v.y, v.z, v.w}}; }
  OPCAST_DEVICE float RowFactor(int64_t, int64_t) const { return 1; }
  OPCAST_DEVICE float ColumnFactor(int64_t, int64_t) const { return 1; }
  OPCAST_DEVICE void operator()(int64_t i, int64_t j, float sum) const { finish(0, i, j, sum); }
};

}  // namespace

const char* GemmRowsSupported(const GemmArgs& a, const opcast::Launch&) {
  if (a.batch * a.M > kMostRows) return "there are more than 64 rows";
  const int64_t row = a.a_layout.Stride(-2);
  for (int64_t i = 0; i < a.batch; ++i) {
    if (a.M > 0 && a.a_layout.Batch(i) != i * a.M * row) return "rows of a do not lie evenly";
  }
  if (row % 8 != 0 || a.b_layout.Stride(-2) % 8 != 0)
    return "rows do not begin at multiples of 16 bytes";
  return WhyNotStreamed(a.M, {a.a, a.b});
}

opcast::Status GemmRows(const GemmArgs& args, const opcast::Launch& launch,
                        const GemmRowsParams& params) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using T = typename Args::T;
    if constexpr (std::is_same_v<T, float>) {
      return opcast::Status::Error("float32 on tensor cores");  // the definition rules it out
    } else {
      const StreamedRows left{reinterpret_cast<const uint8_t*>(a.a), 2 * a.a_layout.Stride(-2),
                              a.batch * a.M};
      const StreamedRows right{reinterpret_cast<const uint8_t*>(a.b), 2 * a.b_layout.Stride(-2),
                               a.N};
      return StreamedProduct(
          launch, FewRowsProduct<T, typename Args::O>{left, right, a.K / 32, 1, GemmFinish(a)},
          params.columns);
    }
  });
}

#else

const char* GemmRowsSupported(const GemmArgs&, const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}
opcast::Status GemmRows(const GemmArgs&, const opcast::Launch&, const GemmRowsParams&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
