// y[b, c, s] = (x[b, c, s] - mean) / sqrt(variance + eps) * weight[c] + bias[c] with the mean and
// the population variance of the group of channel c in sample b, dense arrays. A group is a row of
// memory, so its moments and what follows from them are those of layer_norm.h, also in precision.
#include "cpu/lib/standard_headers.h"

#include "cpu/norm/layer_norm.h"
#include "group_norm.gen.h"

namespace opcast_ops {
namespace {

using layer_norm::Moments;

// The channels of a group computed by F: weight and bias are those of the first one.
template <class F, int kWidth, class A, class W>
void ChannelsBy(const A& a, bool past, const F& by, int64_t at, const W* weight, const W* bias) {
  using V = typename F::Number;
  const int64_t channels = a.C / a.num_groups;
  for (int64_t c = 0; c < channels; ++c, at += a.S) {
    const V w = static_cast<float>(weight[c]), b = static_cast<float>(bias[c]);
    const auto f = [by, w, b](V x) { return by(x, w, b); };
    MapTo<kWidth>(Stores<AnyNan>{past}, a.S, f, a.y + at, a.x + at);
  }
}

template <int kWidth, class A, class W>
void Group(const A& a, bool past, bool tame, int64_t group, const W* bias) {
  const int64_t channels = a.C / a.num_groups, n = channels * a.S;
  const Moments moments = layer_norm::MomentsOf<kWidth>(a.x + group * n, n, a.eps);
  if (a.mean != nullptr) a.mean[group] = Round<float>(moments.mean);
  if (a.rstd != nullptr) a.rstd[group] = Round<float>(moments.rstd);
  const int64_t first = group % a.num_groups * channels;
  const auto channels_by = [&](const auto& by) {
    ChannelsBy<std::decay_t<decltype(by)>, kWidth>(a, past, by, group * n, a.weight + first,
                                                   bias + first);
  };
  constexpr bool kFloat = std::is_same_v<W, float>;  // so may T be
  if (!kFloat && tame && layer_norm::IsShort(moments))
    channels_by(layer_norm::Short<kWidth>(moments));
  else
    channels_by(layer_norm::Wide<kWidth, AnyNan>(moments));
}

template <class A>
opcast::Status ForAll(const A& a, const opcast::Launch& launch) {
  const int64_t size = a.C / a.num_groups * a.S;
  const bool past = PastCache(launch, a.y, a.B * a.C * a.S, 2);
  const auto groups = [&a, past](int64_t begin, int64_t end, auto width) {
    const layer_norm::RowOrZeros<typename A::W> bias(a.bias, a.C);
    const bool tame = AllOf<width>(a.C, layer_norm::IsTame, a.weight, bias.Get());
    for (int64_t i = begin; i < end; ++i) Group<width>(a, past, tame, i, bias.Get());
  };
  opcast::ParallelFor(launch, a.B * a.num_groups, RowsPerChunk(size), groups);
  return opcast::Status::Ok();
}

}  // namespace

opcast::Status GroupNorm(const GroupNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return ForAll(a, launch); });
}

}  // namespace opcast_ops
