// y[b, o] = bias[o] + the sum over the filter's taps of weight[o, tap] times image b at that tap.
//
// For every image and group that is a product of the filters and a matrix with a row per pixel of
// the result, which is read from the image where it is needed. Products are summed in float (see
// gemm_float_tile.h); the bias is added in double, and the sum rounded once.
//
// Registers: at most 128.
// sass: allows generic in ProductKernel: tiles are passed to functions by pointers
// sass: allows narrow in ProductKernel: tiles of rows at any address
#include "conv2d.gen.h"
#include "cuda/lib/gemm_float_tile.h"

namespace opcast_ops {
namespace {

// The filters of a group; their terms are the taps. The sides of filters without elements may have
// a product beyond 64 bits.
template <class T>
struct Filters {
  static constexpr bool kAlongDepth = true;
  const T* weight;
  int64_t groups, in_group, taps;

  explicit Filters(const Conv2dTyped<T>& args)
      : weight(args.weight),
        groups(args.groups),
        in_group(args.O / args.groups),
        taps(args.C < args.groups ? 0 : args.R * args.S * (args.C / args.groups)) {}

  OPCAST_DEVICE const T* At(int64_t part, int64_t i) const {
    return i < in_group ? weight + (part % groups * in_group + i) * taps : nullptr;
  }
  OPCAST_DEVICE float Term(const T* filter, int64_t tap) const {
    return filter == nullptr ? 0.0f : static_cast<float>(filter[tap]);
  }
};

// A pixel of the result, seen from its image.
template <class T>
struct Pixel {
  const T* planes;  // of the group's channels, or null
  int64_t h, w;     // of the first tap
};

// The pixels of an image; their terms are what the taps meet.
template <class T>
struct Pixels {
  static constexpr bool kAlongDepth = false;
  const T* x;
  int64_t channels, height, width, groups, in_group, pixels, across;
  int64_t stride[2], padding[2], dilation[2];
  uint32_t filter_height, filter_width;

  explicit Pixels(const Conv2dTyped<T>& args)
      : x(args.x),
        channels(args.C),
        height(args.H),
        width(args.W),
        groups(args.groups),
        in_group(args.C / args.groups),
        pixels(args.P * args.Q),
        across(args.Q),
        stride{args.stride[0], args.stride[1]},
        padding{args.padding[0], args.padding[1]},
        dilation{args.dilation[0], args.dilation[1]},
        filter_height(static_cast<uint32_t>(args.R)),
        filter_width(static_cast<uint32_t>(args.S)) {}

  OPCAST_DEVICE Pixel<T> At(int64_t part, int64_t j) const {
    if (j >= pixels) return {nullptr, 0, 0};
    const int64_t channel = part / groups * channels + part % groups * in_group;
    return {x + channel * (height * width), j / across * stride[0] - padding[0],
            j % across * stride[1] - padding[1]};
  }
  OPCAST_DEVICE float Term(const Pixel<T>& pixel, int64_t index) const {
    const uint32_t tap = static_cast<uint32_t>(index), line = tap / filter_width;
    const int64_t h = pixel.h + line % filter_height * dilation[0];
    const int64_t w = pixel.w + tap % filter_width * dilation[1];
    const bool inside = h >= 0 && h < height && w >= 0 && w < width && pixel.planes != nullptr;
    if (!inside) return 0;
    return static_cast<float>(pixel.planes[(line / filter_height * height + h) * width + w]);
  }
};

// Writes a sum plus the bias.
template <class T>
struct Biased {
  const T* bias;  // or null
  T* y;
  int64_t groups, in_group, pixels;

  OPCAST_DEVICE void operator()(int64_t part, int64_t i, int64_t j, float sum) const {
    const int64_t channel = part % groups * in_group + i;
    const double shift =
        bias == nullptr ? 0 : static_cast<double>(static_cast<float>(bias[channel]));
    T* plane = y + (part / groups * groups * in_group + channel) * pixels;
    plane[j] = static_cast<T>(static_cast<float>(sum + shift));
  }
};

}  // namespace

opcast::Status Conv2dCuda(const Conv2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Filters<T> filters(a);
    if (filters.taps > UINT32_MAX) return opcast::Status::Error("more than 2^32 - 1 taps");
    const Biased<T> out{a.bias, a.y, a.groups, filters.in_group, a.P * a.Q};
    return Product(launch, filters, Pixels<T>(a), out, a.B * a.groups, filters.in_group, out.pixels,
                   filters.taps);
  });
}

}  // namespace opcast_ops
