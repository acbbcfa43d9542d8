// y[b, c, s] = (x[b, c, s] - mean) / sqrt(variance + eps) * weight[c] + bias[c] with the mean and
// the population variance of the group of channel c in sample b, dense arrays. A group is a row of
// memory, computed as layer_norm.h says.
//
// Registers: at most 128.
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/norm/layer_norm.h"
#include "group_norm.gen.h"

namespace opcast_ops {
namespace {

// The scales and shifts of a group's channels, which follow one another in its row.
template <class W_>
struct Channels {
  using W = W_;
  const W* weight;
  const W* bias;           // or null
  int64_t size, of_group;  // elements of a channel, channels of a group
  int64_t groups;          // of a sample

  OPCAST_DEVICE int64_t First(int64_t row) const { return row % groups * of_group; }
  OPCAST_DEVICE int64_t At(int64_t row, int64_t element) const {
    return First(row) + element / size;
  }

  template <class T, bool kWhole>
  OPCAST_DEVICE void Read(int64_t row, int64_t begin, int64_t n, Floats<T>* weights,
                          Floats<T>* shifts) const {
    const int64_t of_row = begin / size;
    int64_t left = (of_row + 1) * size - begin, channel = First(row) + of_row;
    OPCAST_UNROLL
    for (int e = 0; e < weights->kSize; ++e) {
      const bool there = kWhole || begin + e < n;
      weights->at[e] = there ? static_cast<float>(weight[channel]) : 0;
      shifts->at[e] = there && bias != nullptr ? static_cast<float>(bias[channel]) : 0;
      if (--left == 0) left = size, ++channel;
    }
  }
};

}  // namespace

opcast::Status GroupNormCuda(const GroupNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const int64_t channels = a.C / a.num_groups, n = channels * a.S;
    const Channels<W> affine{a.weight, a.bias, a.S, channels, a.num_groups};
    const LayerNormRow<T, Channels<W>> row{a.y, a.mean, a.rstd, a.x, affine, NormSizes(a.eps, n)};
    return ForRows<kFewerThreads>(a.B * a.num_groups, n, AlignedRows<T>({a.y, a.x}, n), launch,
                                  row);
  });
}

}  // namespace opcast_ops
