// y[b, o] = bias[o] + the sum over the filter's taps of weight[o, tap] times image b at that tap.
//
// For every image and group that is a product of matrices (see gemm_blocks.h): the filters are rows
// along the depth, and the pixels of the result are rows across it, with a line for each tap, zero
// where the tap lies beside the image. Lines are copied for the pixels that are packed at a time,
// unless they lie in the image as they are. Sums are float and begin with the bias. Bits of an
// image depend on it and on the filters only.
#include "cpu/lib/standard_headers.h"

#include <algorithm>

#include "conv2d.gen.h"
#include "cpu/conv/conv2d_row.h"
#include "cpu/lib/gemm_blocks.h"

namespace opcast_ops {
namespace {

// Taps of a filter. The sides of filters without elements may have a product beyond 64 bits.
int64_t Taps(const Conv2dArgs& args) {
  const int64_t channels = args.C / args.groups;
  return channels == 0 ? 0 : args.R * args.S * channels;
}

// The lines of a group of an image: what lies at a tap of each pixel of the result.
template <class T, int kWidth>
class TapLines final : public LineMaker {
 public:
  TapLines(const Conv2dTyped<T>& args, int64_t image, int64_t group)
      : args_(args),
        planes_(args.x + (image * args.C + group * (args.C / args.groups)) * Area()),
        keeps_rows_(args.Q == args.W && args.stride[0] == 1 && args.stride[1] == 1) {}

  const void* Line(int64_t tap, int64_t pixel, int64_t pixels, void* space) override {
#if defined(__x86_64__)
    if constexpr (kWidth == 64) {
      return MakeWide(tap, pixel, pixels, space);
    } else
#endif
    {
      return Make(tap, pixel, pixels, space);
    }
  }

 private:
#if defined(__x86_64__)
  __attribute__((flatten, target(OPCAST_AVX512)))
  const void* MakeWide(int64_t tap, int64_t pixel, int64_t pixels, void* space) {
    return Make(tap, pixel, pixels, space);
  }
#endif

  const void* Make(int64_t tap, int64_t pixel, int64_t pixels, void* space) {
    Find(tap, pixel);
    const int64_t s = s_, r = r_;
    const T* plane = planes_ + channel_ * Area();
    const int64_t down = r * args_.dilation[0] - args_.padding[0];
    const int64_t right = s * args_.dilation[1] - args_.padding[1];
    T* to = static_cast<T*>(space);
    if (keeps_rows_) return Shifted(plane, down, right, pixel, pixels, to);
    int64_t p = p_, q = q_;
    for (int64_t count; pixels > 0; ++p, q = 0, pixels -= count, to += count) {
      count = std::min(pixels, args_.Q - q);
      const int64_t h = p * args_.stride[0] + down, w = q * args_.stride[1] + right;
      if (h >= 0 && h < args_.H) {
        CopyRow<kWidth>(plane + h * args_.W, args_.W, w, args_.stride[1], count, to);
      } else {
        std::fill_n(to, count, T());
      }
    }
    return space;
  }

  int64_t Area() const { return args_.H * args_.W; }

  // Finds the coordinates of a tap and of a pixel. Taps are asked for one after the other, for the
  // same pixels: divisions would take longer than all the rest.
  void Find(int64_t tap, int64_t pixel) {
    if (tap == tap_ + 1) {
      if (++s_ == args_.S) s_ = 0, ++r_;
      if (r_ == args_.R) r_ = 0, ++channel_;
    } else if (tap != tap_) {
      s_ = tap % args_.S;
      r_ = tap / args_.S % args_.R;
      channel_ = tap / (args_.S * args_.R);
    }
    tap_ = tap;
    if (pixel == pixel_) return;
    pixel_ = pixel;
    p_ = pixel / args_.Q;
    q_ = pixel % args_.Q;
  }

  // A line where the result's rows are as long as the image's: a stretch of the image, with zeros
  // where it lies beyond an edge.
  const T* Shifted(const T* plane, int64_t down, int64_t right, int64_t pixel, int64_t pixels,
                   T* to) const {
    if (std::abs(right) >= args_.W) {
      std::fill_n(to, pixels, T());
      return to;
    }
    const int64_t from = pixel + down * args_.W + right;
    const int64_t first = std::clamp<int64_t>(-from, 0, pixels);
    const int64_t last = std::clamp<int64_t>(Area() - from, first, pixels);
    if (right == 0 && last - first == pixels) return plane + from;
    CopyRow<kWidth>(plane, Area(), from, 1, pixels, to);
    // The first columns of the result, or the last ones, meet what lies beside the image.
    const int64_t edge = right < 0 ? 0 : args_.W - right, beyond = std::abs(right);
    for (int64_t at = edge - q_; at < pixels; at += args_.W) {
      for (int64_t j = std::max<int64_t>(at, 0); j < std::min(at + beyond, pixels); ++j)
        to[j] = T();
    }
    return to;
  }

  const Conv2dTyped<T>& args_;
  const T* const planes_;
  const bool keeps_rows_;
  int64_t tap_ = 0, s_ = 0, r_ = 0, channel_ = 0;  // the tap's column, row and channel
  int64_t pixel_ = 0, p_ = 0, q_ = 0;              // the pixel's row and column
};

// Computes a block of the result of a group of an image.
template <class T, int kWidth>
void Compute(const Conv2dTyped<T>& args, int64_t image, int64_t group, const Block& block,
             ProductSpace* space) {
  const Conv2dArgs& plain = args;
  const int64_t taps = Taps(args), filters = args.O / args.groups;
  TapLines<T, kWidth> lines(args, image, group);
  const Factor a{plain.T, args.weight + group * filters * taps, taps};
  Factor b{plain.T, nullptr, 0, false};
  b.maker = &lines;
  const int64_t channel = group * filters + block.i;
  for (int64_t i = 0; i < block.rows; ++i) {
    const float bias = args.bias == nullptr ? 0 : static_cast<float>(args.bias[channel + i]);
    std::fill_n(space->sums[i], block.columns, bias);
  }
  Multiply(a, b, block, taps, space, Width<kWidth>());
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t at = (image * args.O + channel + i) * args.P * args.Q + block.j;
    Write(plain.T, space->sums[i], block.columns, args.y, at, Width<kWidth>());
  }
}

}  // namespace

opcast::Status Conv2d(const Conv2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    static_assert(kIsFactor<T>);
    const Blocks blocks(a.O / a.groups, a.P * a.Q, Taps(a));
    const auto compute = [&](int64_t begin, int64_t end, auto width) {
      ProductSpace* const space = SpaceOfThread();
      for (int64_t index = begin; index < end; ++index) {
        const int64_t part = index / blocks.Count();
        Compute<T, width>(a, part / a.groups, part % a.groups, blocks.At(index % blocks.Count()),
                          space);
      }
    };
    opcast::ParallelFor(launch, a.B * a.groups * blocks.Count(), blocks.PerChunk(), compute);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
