// y[i, j] = x[i, j] * scale * weight[j] * silu(z[i, j]), rows with contiguous elements. The scale
// is 1 / sqrt(mean square + eps) of a group of a row's columns, of x or of x * silu(z).
//
// A team of threads has a group. Numbers are computed in float, and those of which a part leaves
// the range of floats in double; so are groups whose squares do. The scale is found in pairs of
// floats. Within 4 units in the last place.
//
// Registers: at most 144.
// sass: allows call, fp64 in RowsKernel: numbers beyond the range of floats, indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/count_division.h"
#include "cuda/lib/gates.h"
#include "cuda/lib/row_kernels.h"
#include "cuda/norm/norm_scale.h"
#include "rms_norm_gated.gen.h"

namespace opcast_ops {
namespace {

// The gate of z, which is silu, and its product with others.
OPCAST_DEVICE Scaled Silu(float z) { return Gated(z, Logistic::Part(fabsf(z))); }
OPCAST_DEVICE double WideGated(float x, float z) {
  return double{x} * (z / (1 + ::exp(-double{z})));
}

// Whether products with a gate and another such number lose nothing on the way.
OPCAST_DEVICE bool HasRoom(float v) { return fabsf(v) >= 0x1p-60f && fabsf(v) < 0x1p60f; }

template <class T, class W>
struct GatedNormGroup {
  using Element = T;
  T* y;
  const T *x, *z;
  const W* weight;
  opcast::BatchOffsets x_rows, z_rows;
  NormSizes sizes;
  double eps;
  int64_t groups;
  bool norms_x;  // not x * silu(z)

  // The numbers whose squares are added: exact for x, else off by a few units in the last place.
  OPCAST_DEVICE Floats<T> Sources(const Floats<T>& values, const Floats<T>& gates) const {
    Floats<T> sources = values;
    if (norms_x) return sources;
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e) sources.at[e] = Silu(gates.at[e]).Times(values.at[e]);
    return sources;
  }

  // 1 / sqrt(mean square + eps) where the squares leave the range of floats.
  template <class Form>
  OPCAST_DEVICE double WideScale(Member& member, const Held<T, Form>& held_x,
                                 const Held<T, Form>& held_z, bool there) const {
    double squares = 0;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held_x.At(k, begin)), gates = Widen(held_z.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        if (!there || !member.Has<Form>(begin, e)) continue;
        const double source = norms_x ? double{values.at[e]} : WideGated(values.at[e], gates.at[e]);
        squares += source * source;
      }
    });
    return 1 / ::sqrt(member.Sum(squares) / static_cast<double>(member.n()) + eps);
  }

  // The results of a vector, where `wide` scales what floats cannot hold, or all if there is no
  // factor.
  OPCAST_DEVICE static Floats<T> Results(const Floats<T>& values, const Floats<T>& gates,
                                         const Floats<T>& weights, float factor, double wide) {
    Floats<T> results;
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e) {
      const float v = values.at[e], gate = gates.at[e], weight = weights.at[e];
      const float scaled = v * factor, gated = Silu(gate).TimesBoth(scaled, weight);
      const bool zero = v == 0 || gate == 0 || weight == 0;
      const bool normal = fabsf(gated) >= 0x1p-126f && fabsf(gated) <= kLargest;
      const bool fine =
          factor > 0 && (zero ? gated == 0 : normal && HasRoom(scaled) && HasRoom(weight));
      results.at[e] = fine ? gated : static_cast<float>(WideGated(v, gate) * wide * weight);
    }
    return results;
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Divided at = Divide(there ? row : 0, groups);
    const int64_t first = at.rest * n;
    const Held<T, Form> held_x(member, x + x_rows(at.quotient) + first, there);
    const Held<T, Form> held_z(member, z + z_rows(at.quotient) + first, there);
    Pair squares{};
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held_x.At(k, begin)), gates = Widen(held_z.At(k, begin));
      squares = AddSquares(squares, Sources(values, gates));
    });
    Lifted sum;
    sum.squares = Settle(member.Sum(squares));
    const Pair scale = sum.Scale(Settle(Multiply(sum.squares, sizes.share)), sizes.eps);
    double wide = double{scale.high} + scale.low;
    const bool lost = member.Any(sum.Adjust(sizes.eps));
    if (lost) wide = WideScale<Form>(member, held_x, held_z, there);
    if (!there) return;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight + first, begin, n);
      const Floats<T> results = Results(Widen(held_x.At(k, begin)), Widen(held_z.At(k, begin)),
                                        weights, lost ? 0 : scale.high + scale.low, wide);
      Store<Form::kWhole>(Narrow(results), y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status RmsNormGatedCuda(const RmsNormGatedArgs& args, const opcast::Launch& launch) {
  if (args.N == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const int64_t n = a.N / a.groups;
    const opcast::BatchOffsets x_rows(a.x_layout), z_rows(a.z_layout);
    constexpr int kSize = Vector<T>::kSize;
    const bool aligned = AlignedRows<T>({a.y, a.x, a.z, a.weight}, n) &&
                         x_rows.DivisibleBy(kSize) && z_rows.DivisibleBy(kSize);
    const GatedNormGroup<T, W> group{a.y,
                                     a.x,
                                     a.z,
                                     a.weight,
                                     x_rows,
                                     z_rows,
                                     NormSizes(a.eps, n),
                                     a.eps,
                                     a.groups,
                                     a.norm_before_gate};
    return ForRows<kFewerThreads>(a.batch * a.groups, n, aligned, launch, group);
  });
}

}  // namespace opcast_ops
