// Gradients of group_norm: grad_x = rstd * (g - mean(g) - z * mean(g * z)) with g = grad_y *
// weight, z = (x - mean) * rstd and means over a group of channels of a sample; grad_weight and
// grad_bias are the sums of grad_y * z and grad_y over all samples. Dense arrays.
//
// In double, since differences cancel and sums have terms of both signs; rounded once. A channel's
// sums serve both: times its weight, they are part of its group's means.
#include "cpu/lib/standard_headers.h"

#include <cmath>
#include <memory>

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "group_norm_backward.gen.h"
#include "opcast/kernel.h"

namespace opcast_ops {
namespace {

// Sums over a channel: of the gradients and of their products with z, and the same times weight.
struct ChannelSums {
  double grad, along, weighted, weighted_along;
};

template <int kWidth, class T>
ChannelSums SumsOf(const T* grad, const T* x, int64_t n, double mean, double rstd, double weight) {
  if (std::isfinite(mean) && std::isfinite(rstd) && std::isfinite(weight)) {
    const T* const rows[] = {grad, x};
    const auto add = [mean, rstd](const auto* both, auto* sums) {
      auto normal = both[1];
      normal.all = (normal.all - mean) * rstd;
      sums[0].all += both[0].all;
      MultiplyAdd(both[0], normal, sums + 1);
    };
    double sums[2];
    DoubleSums<kWidth>(n, rows, add, sums);
    return {sums[0], sums[1], weight * sums[0], weight * sums[1]};
  }
  // Without vectors, which are filled up with zeros: infinity would make NaN of them.
  const auto g = [grad](int64_t i) { return double{static_cast<float>(grad[i])}; };
  const auto z = [=](int64_t i) { return (static_cast<float>(x[i]) - mean) * rstd; };
  return {Sum(n, g), Sum(n, [=](int64_t i) { return g(i) * z(i); }),
          Sum(n, [=](int64_t i) { return g(i) * weight; }),
          Sum(n, [=](int64_t i) { return g(i) * weight * z(i); })};
}

// Writes grad_x of a group, and the sums of its channels to `grads` and `alongs`.
template <int kWidth, class A>
void Group(const A& a, int64_t group, double* grads, double* alongs) {
  const int64_t channels = a.C / a.num_groups, first = group * channels;
  const auto* weight = a.weight + group % a.num_groups * channels;
  const double mean = a.mean[group], rstd = a.rstd[group];
  double shift = 0, along = 0;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t at = (first + c) * a.S;
    const ChannelSums sums =
        SumsOf<kWidth>(a.grad_y + at, a.x + at, a.S, mean, rstd, static_cast<float>(weight[c]));
    grads[first + c] = sums.grad, alongs[first + c] = sums.along;
    shift += sums.weighted, along += sums.weighted_along;
  }
  const auto count = static_cast<double>(channels * a.S);
  shift /= count, along /= count;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t at = (first + c) * a.S;
    const double w = static_cast<float>(weight[c]);
    const auto gradient = [=](double grad, double x) {
      return (Fma<kWidth>((mean - x) * rstd, along, grad * w - shift)) * rstd;
    };
    Map<kWidth>(a.S, gradient, a.grad_x + at, a.grad_y + at, a.x + at);
  }
}

// Adds up what each sample has for a channel.
template <class W>
void AddUp(const opcast::Launch& launch, const double* sums, int64_t samples, int64_t channels,
           W* totals) {
  opcast::ParallelFor(launch, channels, RowsPerChunk(samples), [=](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double total = 0;
      for (int64_t b = 0; b < samples; ++b) total += sums[b * channels + c];
      totals[c] = Round<W>(total);
    }
  });
}

}  // namespace

opcast::Status GroupNormBackward(const GroupNormBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const std::unique_ptr<double[]> sums(new double[2 * a.B * a.C]);
    double *const grads = sums.get(), *const alongs = grads + a.B * a.C;
    const int64_t size = a.C / a.num_groups * a.S;
    const auto groups = [&a, grads, alongs](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) Group<width>(a, i, grads, alongs);
    };
    opcast::ParallelFor(launch, a.B * a.num_groups, RowsPerChunk(size), groups);
    AddUp(launch, alongs, a.B, a.C, a.grad_weight);
    if (a.grad_bias != nullptr) AddUp(launch, grads, a.B, a.C, a.grad_bias);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
