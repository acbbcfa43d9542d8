// A step of Mamba's recurrence: state = state * exp(dt * a) + dt * b * x, and y = the sum of
// state * c over a channel's N numbers, + d * x, * silu(z).
//
// A team of threads has a channel of a sequence, whose numbers it reads and writes once. They are
// computed in float, and the exponents of decays in pairs of floats. The sum of each vector's
// products is added in double. Vectors for which a part of that leaves the range of floats are
// computed in double. Where the numbers of a channel decay alike, as in Mamba 2, the exponential is
// computed once. Rounded once: y is made of states that are not rounded.
//
// Registers: at most 160.
// sass: allows call, fp64 in RowsKernel: numbers beyond the range of floats, indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/count_division.h"
#include "cuda/lib/gates.h"
#include "cuda/lib/row_kernels.h"
#include "selective_state_update.gen.h"

namespace opcast_ops {
namespace {

// A channel of a sequence.
struct Place {
  int64_t slot, sequence, head, channel;
};

// An array with heads and channels, and maybe sequences; null if it is absent.
template <class T>
struct ByChannel {
  const T* array;
  int64_t sequence, head, channel;

  OPCAST_DEVICE const T* Find(const Place& at) const {
    return array + at.sequence * sequence + at.head * head + at.channel * channel;
  }
  OPCAST_DEVICE float At(const Place& at) const {
    return array == nullptr ? 0 : static_cast<float>(*Find(at));
  }
};

// What is finite keeps its low part, where that can matter to an exponent.
OPCAST_DEVICE Pair Exponent(Pair a) {
  return a.high >= -200 && a.high <= kLargest ? a : Pair{a.high, 0};
}

// e^x as the product of two factors: for numbers that it makes neither 0 nor infinite, only their
// product with both is rounded.
struct Decay {
  float first, second;

  OPCAST_DEVICE Decay(Pair step, float a) {
    const Pair x = Exponent(Multiply(step, {a, 0}));
    const Scaled power = Exp(x.high, x.low).Times(1);
    const int half = power.power / 2;
    first = x.high <= 88 ? power.fraction * PowerOfTwo(half) : NAN;  // then computed in double
    second = x.high <= 88 ? PowerOfTwo(power.power - half) : NAN;
  }
};

// dt with its bias, and log(1 + e^dt) of it if that is wanted: what is above 0, and a logarithm.
OPCAST_DEVICE Pair TimeStep(float dt, float bias, bool softplus) {
  const Pair step = Exponent(Add(dt, bias));
  if (!softplus || !(step.high <= kLargest)) return step;
  const bool above = step.high > 0;
  const Power power = above ? Exp(-step.high, -step.low) : Exp(step.high, step.low);  // of -|dt|
  const float log = log1pf(power.Value());
  if (!above) return {log, 0};
  const Pair sum = Add(step.high, log);
  return {sum.high, sum.low + step.low};
}

// As many numbers as a Vector<E> has, in vectors of S, which may be float32 beside an E of 16 bits.
template <class E, bool kWhole, class S>
OPCAST_DEVICE void StoreFloats(const Floats<E>& floats, S* array, int64_t begin, int64_t n) {
  constexpr int kStep = Vector<S>::kSize;
  OPCAST_UNROLL
  for (int i = 0; i < Floats<E>::kSize; i += kStep) {
    Floats<S> part;
    OPCAST_UNROLL
    for (int e = 0; e < kStep; ++e) part.at[e] = floats.at[i + e];
    Store<kWhole>(Narrow(part), array, begin + i, n);
  }
}

// E is the dtype whose vectors are dealt out to threads: the shorter one of S and T.
template <class E, class S, class T>
struct UpdateRow {
  using Element = E;
  T* y;
  S* state;
  int64_t state_slot, state_head, state_channel;
  ByChannel<T> x, dt, z;
  ByChannel<float> a, d, dt_bias;
  int64_t a_number;
  const T *b, *c;
  int64_t b_sequence, b_group, c_sequence, c_group;
  const int32_t* slots;  // or null
  int64_t count, of_group, heads, channels;
  bool softplus;

  OPCAST_DEVICE Place Find(int64_t row) const {
    const Divided by_channel = Divide(row, channels), by_head = Divide(by_channel.quotient, heads);
    const int64_t sequence = by_head.quotient;
    return {slots == nullptr ? sequence : slots[sequence], sequence, by_head.rest, by_channel.rest};
  }

  // What a channel's numbers have in common.
  struct Channel {
    Pair step;
    float x;
    const float* a;
    const T *b, *c;
    S* state;
  };
  OPCAST_DEVICE Channel ChannelAt(const Place& at) const {
    const int64_t group = Divide(at.head, of_group).quotient;
    return {TimeStep(dt.At(at), dt_bias.At(at), softplus),
            x.At(at),
            a.Find(at),
            b + at.sequence * b_sequence + group * b_group,
            c + at.sequence * c_sequence + group * c_group,
            state + at.slot * state_slot + at.head * state_head + at.channel * state_channel};
  }

  // Updates the vector of numbers that begins at `begin`, and returns the sum of products with c.
  template <class Form>
  OPCAST_DEVICE double Update(const Member& member, const Channel& at, const Decay& alike,
                              int64_t begin) const {
    const int64_t n = member.n();
    const Floats<E> from = LoadFloats<E, Form::kWhole>(at.b, begin, n),
                    to = LoadFloats<E, Form::kWhole>(at.c, begin, n),
                    old = LoadFloats<E, Form::kWhole>(at.state, begin, n);
    Floats<E> made{}, rates{};
    if (Form::kWhole && a_number != 0) rates = LoadFloats<E, Form::kWhole>(at.a, begin, n);
    const float added = at.step.high * at.x;
    float sum = 0;
    OPCAST_UNROLL
    for (int e = 0; e < made.kSize; ++e) {
      if (!member.Has<Form>(begin, e)) continue;
      if (!Form::kWhole && a_number != 0) rates.at[e] = at.a[(begin + e) * a_number];
      const Decay decay = a_number == 0 ? alike : Decay(at.step, rates.at[e]);
      made.at[e] = fmaf(added, from.at[e], old.at[e] * decay.first * decay.second);
      sum = fmaf(made.at[e], to.at[e], sum);
    }
    double result = sum;
    if (!(fabsf(sum) <= kLargest)) {
      if (a_number == 0) FillWith(*at.a, &rates);
      result = WideUpdate<Form>(member, at, begin, rates, from, to, old, &made);
    }
    StoreFloats<E, Form::kWhole>(made, at.state, begin, n);
    return result;
  }

  OPCAST_DEVICE static void FillWith(float value, Floats<E>* floats) {
    OPCAST_UNROLL
    for (float& v : floats->at) v = value;
  }

  // The same in double, for all numbers.
  template <class Form>
  OPCAST_DEVICE static double WideUpdate(const Member& member, const Channel& at, int64_t begin,
                                         const Floats<E>& rates, const Floats<E>& from,
                                         const Floats<E>& to, const Floats<E>& old,
                                         Floats<E>* made) {
    const double step = double{at.step.high} + at.step.low, added = step * at.x;
    double sum = 0;
    OPCAST_UNROLL
    for (int e = 0; e < made->kSize; ++e) {
      if (!member.Has<Form>(begin, e)) continue;
      const double value = old.at[e] * ::exp(step * rates.at[e]) + added * from.at[e];
      made->at[e] = static_cast<float>(value);
      sum += value * to.at[e];
    }
    return sum;
  }

  // y of a channel, from the sum of products.
  OPCAST_DEVICE T Result(const Place& at, double sum) const {
    if (d.array != nullptr) sum += double{d.At(at)} * x.At(at);
    if (z.array == nullptr) return Round<T>(sum);
    const float gate = z.At(at), value = static_cast<float>(sum);
    if (!(fabsf(value) <= kLargest)) return Round<T>(sum * (gate / (1 + ::exp(-double{gate}))));
    return Round<T>(Gated(gate, Logistic::Part(fabsf(gate))).Times(value));
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const Place at = there ? Find(row) : Place{-1, 0, 0, 0};
    const bool stays = at.slot >= 0 && at.slot < count;
    double sum = 0;
    if (stays && member.n() > 0) {
      const Channel channel = ChannelAt(at);
      const Decay alike(channel.step, a_number == 0 ? *channel.a : 0);
      member.ForVectors<E, Form>(
          [&](int, int64_t begin) { sum += Update<Form>(member, channel, alike, begin); });
    }
    sum = member.Sum(sum);
    if (member.Writes(row)) y[row] = stays ? Result(at, sum) : static_cast<T>(0.0f);
  }
};

template <class T>
ByChannel<T> WithSequences(const T* array, const opcast::Layout& layout) {
  if (array == nullptr) return {};
  return {array, layout.Stride(-3), layout.Stride(-2), layout.Stride(-1)};
}
ByChannel<float> WithoutSequences(const float* array, const opcast::Layout& layout) {
  if (array == nullptr) return {};
  return {array, 0, layout.Stride(-2), layout.Stride(-1)};
}

// Whether all rows of an array begin where vectors may.
template <class T>
bool RowsMayBeVectors(const T* array, std::initializer_list<int64_t> strides) {
  bool aligned = Aligned({array});
  for (const int64_t stride : strides) aligned = aligned && stride % Vector<T>::kSize == 0;
  return aligned;
}

template <class Work>
bool IsAligned(const Work& w, int64_t n) {
  const bool rates =
      w.a_number == 0 || (w.a_number == 1 && RowsMayBeVectors(w.a.array, {w.a.head, w.a.channel}));
  return n % Vector<typename Work::Element>::kSize == 0 && rates &&
         RowsMayBeVectors(w.state, {w.state_slot, w.state_head, w.state_channel}) &&
         RowsMayBeVectors(w.b, {w.b_sequence, w.b_group}) &&
         RowsMayBeVectors(w.c, {w.c_sequence, w.c_group});
}

}  // namespace

opcast::Status SelectiveStateUpdateCuda(const SelectiveStateUpdateArgs& args,
                                        const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using S = typename std::decay_t<decltype(a)>::S;
    using T = typename std::decay_t<decltype(a)>::T;
    using E = std::conditional_t<sizeof(T) == 2, T, S>;
    UpdateRow<E, S, T> work{};
    work.y = a.y, work.state = a.state;
    work.state_slot = a.state_layout.Stride(-4), work.state_head = a.state_layout.Stride(-3);
    work.state_channel = a.state_layout.Stride(-2);
    work.x = WithSequences(a.x, a.x_layout), work.dt = WithSequences(a.dt, a.dt_layout);
    work.z = WithSequences(a.z, a.z_layout);
    work.a = {a.a, 0, a.a_layout.Stride(-3), a.a_layout.Stride(-2)};
    work.a_number = a.a_layout.Stride(-1);
    work.d = WithoutSequences(a.d, a.d_layout);
    work.dt_bias = WithoutSequences(a.dt_bias, a.dt_bias_layout);
    work.b = a.b, work.c = a.c;
    work.b_sequence = a.b_layout.Stride(-3), work.b_group = a.b_layout.Stride(-2);
    work.c_sequence = a.c_layout.Stride(-3), work.c_group = a.c_layout.Stride(-2);
    work.slots = a.state_batch_indices, work.softplus = a.dt_softplus;
    work.count = a.M, work.of_group = a.K, work.heads = a.G * a.K, work.channels = a.P;
    return ForRows<kFewerThreads>(a.B * work.heads * a.P, a.N, IsAligned(work, a.N), launch, work);
  });
}

}  // namespace opcast_ops
