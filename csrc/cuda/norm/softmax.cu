// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. For results of float32 the
// differences and the sum are pairs of floats, so that small probabilities are right too; the rest
// is float, three roundings. For results of 16 bits, all but the sum is float, and powers are the
// GPU's own. A row that holds NaN or +inf, or nothing but -inf, becomes NaN.
//
// A row that a block can hold is read once. A longer one is cut into parts: the first kernel sums
// each part, the second merges the sums of a row, in order, and reads the part once more, mostly
// from the cache.
//
// Registers: at most 104.
// sass: allows call in PartsKernel: indices beyond 32 bits
// sass: allows narrow in PartsKernel: arrays whose rows are not aligned
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/exp_sums.h"
#include "cuda/lib/gates_16_bits.h"
#include "cuda/lib/row_parts.h"
#include "softmax.gen.h"

namespace opcast_ops {
namespace {

// e^(value - max).
template <class T>
OPCAST_DEVICE float Weight(float value, float max) {
  if constexpr (sizeof(T) == 2)
    return ShortExp(value - max);
  else
    return ExpOfDifference(value, max);
}

template <class T>
struct SoftmaxRow {
  using Element = T;
  T* y;
  const T* x;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Held<T, Form> held(member, x + row * n, there);
    const float max = LargestOfRow<T, Form>(member, held);
    Floats<T> weights[Form::kVectors > 0 ? Form::kVectors : 1];
    const auto weigh = [&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) weights[k].at[e] = Weight<T>(values.at[e], max);
    };
    Pair sum{};
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      weigh(k, begin);
      float of_vector = 0;  // not for float32, whose results such a sum would change
      OPCAST_UNROLL
      for (int e = 0; e < Vector<T>::kSize; ++e) {
        if (!member.Has<Form>(begin, e)) continue;
        if constexpr (sizeof(T) == 2)
          of_vector += weights[k].at[e];
        else
          sum = sum + weights[k].at[e];
      }
      if constexpr (sizeof(T) == 2) sum = sum + of_vector;
    });
    const float scale = 1 / Settle(member.Sum(sum)).high;
    if (!there) return;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      if constexpr (Form::kVectors == 0) weigh(k, begin);
      OPCAST_UNROLL
      for (float& weight : weights[k].at) weight *= scale;
      Store<Form::kWhole>(Narrow(weights[k]), y + row * n, begin, n);
    });
  }
};

// The sum of each part.
template <class T>
struct SumParts {
  const T* x;
  ExpSum* sums;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, const Parts& parts, const Part& part) const {
    const Held<T, Form> held(member, x + part.row * parts.n + part.begin, true);
    const float max = LargestOfRow<T, Form>(member, held);
    const Pair sum = SumExps<T, Form>(member, held, max);
    if (member.index() == 0) sums[part.row * parts.count + part.index] = {max, sum};
  }
};

// The results of each part.
template <class T>
struct WriteParts {
  T* y;
  const T* x;
  const ExpSum* sums;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, const Parts& parts, const Part& part) const {
    const int64_t from = part.row * parts.n + part.begin;
    const Held<T, Form> held(member, x + from, true);
    const ExpSum* const own = sums + part.row * parts.count;
    const ExpSum row = MergeExpSums(member, parts.count, [&](int64_t i) { return own[i]; });
    const float scale = row.max <= kLargest ? 1 / row.sum.high : NAN;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (float& value : values.at) value = Weight<T>(value, row.max) * scale;
      Store<Form::kWhole>(Narrow(values), y + from, begin, member.n());
    });
  }
};

template <class T>
opcast::Status LongRows(const SoftmaxArgs& args, const opcast::Launch& launch, T* y, const T* x) {
  const Parts parts = Parts::Of<T>(args.batch, args.N);
  const bool aligned = AlignedRows<T>({y, x}, args.N);
  ExpSum* const sums = reinterpret_cast<ExpSum*>(args.sums);
  const opcast::Status status = ForParts(parts, aligned, launch, SumParts<T>{x, sums});
  return status.ok() ? ForParts(parts, aligned, launch, WriteParts<T>{y, x, sums}) : status;
}

}  // namespace

int64_t SoftmaxCudaWorkspace(const SoftmaxArgs& args, const opcast::Launch&) {
  return ScratchOfParts(args.T, args.batch, args.N, sizeof(ExpSum));
}

opcast::Status SoftmaxCuda(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    if (IsLong<T>(a.N)) return LongRows<T>(a, launch, a.y, a.x);
    return ForRows(a.batch, a.N, AlignedRows<T>({a.y, a.x}, a.N), launch, SoftmaxRow<T>{a.y, a.x});
  });
}

}  // namespace opcast_ops
