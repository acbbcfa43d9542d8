// y[b, o] = bias[o] + the sum over the filter's taps of weight[o, tap] times image b at that tap.
//
// For every image and group that is a matrix product: the filters times a matrix with a row per tap
// and a column per pixel of the result, zero where the tap lies beside the image. Products are
// summed in float, in passes over the taps (see gemm_tile.h); the bias is added in double, and the
// sum rounded once. Bits of an image depend on it and on the filters only.
#include <algorithm>

#include "conv2d.gen.h"
#include "gemm_block.h"

namespace opcast_ops {
namespace {

using Args = Conv2dArgs;

constexpr int64_t kChannels = 256;  // share the pixels that a task gathers

// Taps of a filter. The sides of filters without elements may have a product beyond 64 bits.
int64_t Taps(const Args& args) {
  const int64_t channels = args.C / args.groups;
  return channels == 0 ? 0 : args.R * args.S * channels;
}

// What one task computes: some channels of a group at kBlock consecutive pixels of an image.
struct Task {
  int64_t image, group, channel, channels, pixel, pixels;

  static int64_t Count(const Args& args) {
    return args.B * args.groups * Parts(args) * Blocks(args.P * args.Q);
  }

  Task(const Args& args, int64_t index) {
    const int64_t in_group = args.O / args.groups, across = Blocks(args.P * args.Q);
    pixel = index % across * kBlock;
    pixels = std::min(kBlock, args.P * args.Q - pixel);
    index /= across;
    const int64_t part = index % Parts(args) * kChannels;
    channels = std::min(kChannels, in_group - part);
    index /= Parts(args);
    group = index % args.groups;
    channel = group * in_group + part;
    image = index / args.groups;
  }

 private:
  static int64_t Parts(const Args& args) {
    return (args.O / args.groups + kChannels - 1) / kChannels;
  }
};

// Copies elements `at`, at + step, ... of a row of n as floats, zeros where there are none.
template <class T>
inline void GatherRow(const T* row, int64_t n, int64_t at, int64_t step, int64_t count, float* to) {
  if (step == 1) {
    const int64_t first = std::clamp<int64_t>(-at, 0, count);
    const int64_t last = std::clamp<int64_t>(n - at, first, count);
    std::fill(to, to + first, 0.0f);
    for (int64_t i = first; i < last; ++i) to[i] = static_cast<float>(row[at + i]);
    std::fill(to + last, to + count, 0.0f);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = at + i * step;  // a step beyond the last may not fit in 64 bits
    to[i] = from >= 0 && from < n ? static_cast<float>(row[from]) : 0.0f;
  }
}

// Gathers rows `tap` to tap + depth of the matrix of the task's pixels; `to` has kBlock columns.
template <class T>
inline void Gather(const Conv2dTyped<T>& args, const Task& task, int64_t tap, int64_t depth,
                   float* to) {
  const int64_t per_group = args.C / args.groups, area = args.H * args.W;
  const T* planes = args.x + (task.image * args.C + task.group * per_group) * area;
  for (int64_t end = tap + depth; tap < end; ++tap, to += kBlock) {
    const int64_t s = tap % args.S, r = tap / args.S % args.R;
    const T* plane = planes + tap / (args.S * args.R) * area;
    int64_t p = task.pixel / args.Q, q = task.pixel % args.Q;
    for (int64_t j = 0; j < task.pixels; ++p, q = 0) {
      const int64_t count = std::min(task.pixels - j, args.Q - q);
      const int64_t h = p * args.stride[0] - args.padding[0] + r * args.dilation[0];
      const int64_t w = q * args.stride[1] - args.padding[1] + s * args.dilation[1];
      if (h >= 0 && h < args.H) {
        GatherRow(plane + h * args.W, args.W, w, args.stride[1], count, to + j);
      } else {
        std::fill(to + j, to + j + count, 0.0f);
      }
      j += count;
    }
    std::fill(to + task.pixels, to + kBlock, 0.0f);
  }
}

// Adds the products of the task's filters with its pixels to sums.
template <class T, int kWidth>
inline void Multiply(const Conv2dTyped<T>& args, const Task& task, float (*sums)[kBlock]) {
  const Args& plain = args;
  const int64_t taps = Taps(args);
  float x[kDepth * kBlock], space[kBlock * kDepth];
  for (int64_t tap = 0; tap < taps; tap += kDepth) {
    const int64_t depth = std::min(kDepth, taps - tap);
    Gather<T>(args, task, tap, depth, x);
    for (int64_t i = 0; i < task.channels; i += kBlock) {
      const int64_t rows = std::min(kBlock, task.channels - i);
      const FloatRows weight =
          Load(plain.T, args.weight, (task.channel + i) * taps + tap, taps, rows, depth, space);
      AddOuter<kWidth>({weight.data, weight.stride, 1}, x, rows, task.pixels, depth, sums + i);
    }
  }
}

// Writes the sums plus the bias.
template <class T>
inline void Finish(const Conv2dTyped<T>& args, const Task& task, const float (*sums)[kBlock]) {
  const T* bias = args.bias;
  for (int64_t i = 0; i < task.channels; ++i) {
    const int64_t channel = task.channel + i;
    const double shift =
        bias == nullptr ? 0 : static_cast<double>(static_cast<float>(bias[channel]));
    T* y = args.y + (task.image * args.O + channel) * args.P * args.Q + task.pixel;
    for (int64_t j = 0; j < task.pixels; ++j) y[j] = Round<T>(sums[i][j] + shift);
  }
}

}  // namespace

opcast::Status Conv2d(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t filters = std::min(kChannels, a.O / a.groups);
    const int64_t grain = BlocksPerChunk(filters, a.P * a.Q, Taps(a));
    opcast::ParallelFor(launch, Task::Count(a), grain,
                        [&a](int64_t begin, int64_t end, auto width) {
                          for (int64_t index = begin; index < end; ++index) {
                            const Task task(a, index);
                            float sums[kChannels][kBlock];
                            std::fill_n(sums[0], task.channels * kBlock, 0.0f);
                            Multiply<T, width>(a, task, sums);
                            Finish<T>(a, task, sums);
                          }
                        });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
