// Gradients of group_norm: grad_x = rstd * (g - mean(g) - z * mean(g * z)) with g = grad_y *
// weight, z = (x - mean) * rstd and means over a group of channels of a sample; grad_weight and
// grad_bias are the sums of grad_y * z and grad_y over all samples. Dense arrays, computed in
// double and rounded once.
//
// Four kernels: the sums over each channel of a sample; from them the means of each group; grad_x,
// channel by channel; and the sums over the samples. So no sum needs atomics.
//
// Registers: at most 128.
// sass: allows fp64 in EachKernel: precision, as the head of this file says
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/for_each_element.h"
#include "cuda/lib/row_kernels.h"
#include "group_norm_backward.gen.h"

namespace opcast_ops {
namespace {

// What the kernels know of all channels. A channel of a sample is a row.
template <class T, class W>
struct Channels {
  const T* grad_y;
  const T* x;
  const W* weight;
  const float* mean;
  const float* rstd;
  int64_t samples, count, groups;  // channels and groups of a sample
  double* sums;                    // four for each channel of each sample
  double* factors;                 // two for each group of each sample

  OPCAST_DEVICE double Weight(int64_t row) const { return static_cast<float>(weight[row % count]); }
  OPCAST_DEVICE int64_t Group(int64_t row) const { return row / (count / groups); }
  OPCAST_DEVICE double& Sum(int s, int64_t row) const { return sums[s * samples * count + row]; }
  OPCAST_DEVICE double& Factor(int s, int64_t group) const {
    return factors[s * samples * groups + group];
  }
};

// Sums over a channel: of the gradients and of their products with z, and the same times weight.
template <class T, class W>
struct SumsRow {
  using Element = T;
  Channels<T, W> channels;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = there ? member.n() : 0, group = there ? channels.Group(row) : 0;
    const double center = there ? channels.mean[group] : 0;
    const double scale = there ? channels.rstd[group] : 0;
    const double weight = there ? channels.Weight(row) : 0;
    double sums[4] = {};
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      if (begin >= n) return;
      const Vector<T> grads = Load<Form::kWhole>(channels.grad_y + row * n, begin, n);
      const Vector<T> values = Load<Form::kWhole>(channels.x + row * n, begin, n);
      OPCAST_UNROLL
      for (int e = 0; e < grads.kSize; ++e) {
        // Zeros after the end, times infinity, are NaN.
        if (!member.Has<Form>(begin, e)) continue;
        const double grad = static_cast<float>(grads.at[e]), weighted = grad * weight;
        const double normal = (static_cast<float>(values.at[e]) - center) * scale;
        sums[0] += grad, sums[1] += grad * normal;
        sums[2] += weighted, sums[3] += weighted * normal;
      }
    });
    member.Sum(sums);
    if (!member.Writes(row)) return;
    for (int s = 0; s < 4; ++s) channels.Sum(s, row) = sums[s];
  }
};

template <class T, class W>
struct GradientRow {
  using Element = T;
  T* grad_x;
  Channels<T, W> channels;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n(), group = channels.Group(row);
    const double center = channels.mean[group], scale = channels.rstd[group];
    const double shift = channels.Factor(0, group), along = channels.Factor(1, group);
    const double weight = channels.Weight(row);
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      const Vector<T> grads = Load<Form::kWhole>(channels.grad_y + row * n, begin, n);
      Vector<T> values = Load<Form::kWhole>(channels.x + row * n, begin, n);
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const double normal = (static_cast<float>(values.at[e]) - center) * scale;
        const double weighted = static_cast<float>(grads.at[e]) * weight;
        values.at[e] = Round<T>(scale * (weighted - shift - normal * along));
      }
      Store<Form::kWhole>(values, grad_x + row * n, begin, n);
    });
  }
};

// The means of a group, of `size` elements, from the sums over its channels.
template <class T, class W>
struct GroupMeans {
  Channels<T, W> channels;
  double size;

  OPCAST_DEVICE void operator()(int64_t group) const {
    const int64_t count = channels.count / channels.groups;
    for (int s = 0; s < 2; ++s) {
      double sum = 0;
      for (int64_t c = 0; c < count; ++c) sum += channels.Sum(2 + s, group * count + c);
      channels.Factor(s, group) = sum / size;
    }
  }
};

// The sums over the samples for a channel; grad_bias may be null.
template <class T, class W>
struct SampleSums {
  W* grad_weight;
  W* grad_bias;
  Channels<T, W> channels;

  OPCAST_DEVICE void operator()(int64_t channel) const {
    double sums[2] = {};
    for (int64_t b = 0; b < channels.samples; ++b)
      for (int s = 0; s < 2; ++s) sums[s] += channels.Sum(s, b * channels.count + channel);
    grad_weight[channel] = Round<W>(sums[1]);
    if (grad_bias != nullptr) grad_bias[channel] = Round<W>(sums[0]);
  }
};

template <class A>
opcast::Status ForAll(const A& a, const opcast::Launch& launch) {
  using T = typename A::T;
  using W = typename A::W;
  const Channels<T, W> channels{a.grad_y, a.x, a.weight,     a.mean, a.rstd,
                                a.B,      a.C, a.num_groups, a.sums, a.factors};
  const bool aligned = AlignedRows<T>({a.grad_x, a.grad_y, a.x}, a.S);
  opcast::Status status =
      ForRows<kFewerThreads>(a.B * a.C, a.S, aligned, launch, SumsRow<T, W>{channels});
  if (!status.ok()) return status;
  const auto size = static_cast<double>(a.C / a.num_groups * a.S);
  status = ForEach(launch, a.B * a.num_groups, GroupMeans<T, W>{channels, size});
  if (!status.ok()) return status;
  status = ForRows<kFewerThreads>(a.B * a.C, a.S, aligned, launch,
                                  GradientRow<T, W>{a.grad_x, channels});
  if (!status.ok()) return status;
  return ForEach(launch, a.C, SampleSums<T, W>{a.grad_weight, a.grad_bias, channels});
}

}  // namespace

opcast::Status GroupNormBackwardCuda(const GroupNormBackwardArgs& args,
                                     const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return ForAll(a, launch); });
}

}  // namespace opcast_ops
