// c = a @ b.T for b of 4 bits, (code - zero) * scale, dense rows. Products of the differences with
// a are summed in float within a group of columns (see gemm_float_tile.h). These sums times the
// scales are added in double, and rounded once.
//
// Registers: at most 128.
// sass: allows call in ProductKernel: indices beyond 32 bits
// sass: allows fp64 in ProductKernel: precision, as the head of this file says
// sass: allows narrow in ProductKernel: tiles of rows at any address
#include "cuda/lib/gemm_factors.h"
#include "cuda/lib/gemm_float_tile.h"
#include "cuda/matmul/gemm_epilogue_plain.h"
#include "gemm_w4a16.gen.h"

namespace opcast_ops {
namespace {

// Differences are kDown times what they are, so that products with the largest floats have room.
constexpr float kDown = 0x1p-8f;

// Weights without their scales as a factor of gemm_float_tile.h.
struct PackedWeights {
  static constexpr bool kAlongDepth = true;

  const uint8_t* codes;
  const uint8_t* zero;  // or null
  int64_t rows, depth, group_size;

  OPCAST_DEVICE int64_t At(int64_t, int64_t i) const { return i < rows ? i * depth : -1; }
  OPCAST_DEVICE float Term(int64_t row, int64_t k) const {
    if (row < 0) return 0;
    const int64_t place = row + k;
    const int pair = codes[place / 2], code = place % 2 == 0 ? pair & 15 : pair >> 4;
    return static_cast<float>(code - (zero == nullptr ? 8 : zero[place / group_size])) * kDown;
  }
};

template <class T>
struct GroupPasses {
  using Total = double;

  const T* scale;
  int64_t columns, groups, group_size;

  OPCAST_DEVICE bool EndAt(int64_t k) const {
    return k % group_size == 0 || k % group_size % kProductPass == 0;
  }
  OPCAST_DEVICE double Factor(int64_t, int64_t j, int64_t k) const {
    if (j >= columns) return 0;
    return static_cast<float>(scale[j * groups + (k - 1) / group_size]) / double{kDown};
  }
};

}  // namespace

opcast::Status GemmW4a16Cuda(const GemmW4a16Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const RowFactor<T, EvenRows> left{a.a, a.batch, {a.K}};
    const PackedWeights right{a.b_packed, a.zero, a.N, a.K, a.group_size};
    const GroupPasses<T> passes{a.scale, a.N, a.K / a.group_size, a.group_size};
    const PlainFinish<T> finish{a.c, a.N};
    return Product(launch, left, right, finish, 1, a.batch, a.N, a.K, passes);
  });
}

}  // namespace opcast_ops
