// x = q times the scale of its group of columns, dense rows. The product is rounded to float, and
// then to x.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/row_reductions.h"
#include "cpu/lib/scaled_8_bits.h"
#include "dequantize.gen.h"

namespace opcast_ops {
namespace {

// x[j] = q[j] * scale.
template <int kWidth, class Q, class O>
inline void Scale(const Q* q, float scale, int64_t n, O* x) {
  constexpr int64_t kPart = 256;
  alignas(64) float part[kPart];
  for (int64_t j = 0; j < n; j += kPart) {
    const int64_t count = std::min(kPart, n - j);
    WidenScaled<kWidth>(q + j, scale, count, part);
    Narrow<kWidth>(part, x + j, count);
  }
}

}  // namespace

opcast::Status Dequantize(const DequantizeArgs& args, const opcast::Launch& launch) {
  if (args.N == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.N / a.G;
    const auto groups = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) Scale<width>(a.q + i * n, a.scale[i], n, a.x + i * n);
    };
    opcast::ParallelFor(launch, a.batch * a.G, RowsPerChunk(n), groups);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
