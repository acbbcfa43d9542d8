// loss[i] = lse[i] - (1 - s) * logits[i, target[i]] - s * mean of logits[i], where lse[i] is the
// log-sum-exp of row i and s is the label smoothing; dense rows. Exponentials are float, see
// exp_sums.h. That of the target is kept out of their sum: a small loss is the sum of the others,
// and keeps its digits. The logarithm of a row's sum and the differences are double. Rounded once.
//
// A row that a block can hold is read once. A longer one is cut into parts: the first kernel sums
// each part, the second merges the sums of a row, in order.
//
// Registers: at most 96.
// sass: allows call in PartsKernel: indices beyond 32 bits
// sass: allows fp64 in PartsKernel: precision, as the head of this file says
// sass: allows narrow in PartsKernel: arrays whose rows are not aligned
// sass: allows call, fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cross_entropy.gen.h"
#include "cuda/lib/exp_sums.h"
#include "cuda/lib/row_parts.h"

namespace opcast_ops {
namespace {

constexpr float kDrop = 0x1p-30f;  // of logits in sums

// Of a part of a row or of all of it: exponentials but for the target's, and logits for their mean.
struct LogitSums {
  ExpSum exps;
  Pair plain;
};

template <class T, class I>
struct CrossEntropyCall {
  float *loss, *lse;
  const T* logits;
  const I* target;
  int64_t n, ignored;
  double smoothing;

  // Elements of a row from `begin` on.
  template <class Form>
  OPCAST_DEVICE LogitSums SumsOf(Member& member, int64_t row, int64_t begin, bool there) const {
    const Held<T, Form> held(member, logits + row * n + begin, there);
    const int64_t own = there ? target[row] : -1;
    LogitSums sums{};
    sums.exps.max = LargestOfRow<T, Form>(member, held);
    sums.exps.sum = SumExps<T, Form>(member, held, sums.exps.max, own < 0 ? -1 : own - begin);
    if (smoothing == 0) return sums;
    member.ForVectors<T, Form>([&](int k, int64_t at) {
      const Floats<T> values = Widen(held.At(k, at));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e)
        if (member.Has<Form>(at, e)) sums.plain = sums.plain + values.at[e] * kDrop;
    });
    sums.plain = Settle(member.Sum(sums.plain));
    return sums;
  }

  OPCAST_DEVICE void Finish(int64_t row, const LogitSums& sums) const {
    const int64_t own = target[row];
    const bool fine = own >= 0 && own < n;
    const double max = sums.exps.max <= kLargest ? sums.exps.max : NAN;
    const double logit = fine ? static_cast<float>(logits[row * n + own]) : -INFINITY;
    const double others = double{sums.exps.sum.high} + sums.exps.sum.low;
    const double log = ::log1p(others + (::exp(logit - max) - 1));
    if (lse != nullptr) lse[row] = Round<float>(max + log);
    if (own == ignored) {
      loss[row] = 0;
    } else if (!fine) {
      loss[row] = NAN;
    } else {
      double less = (1 - smoothing) * logit;
      const double mean =
          (double{sums.plain.high} + sums.plain.low) / double{kDrop} / static_cast<double>(n);
      if (smoothing != 0) less += smoothing * mean;
      loss[row] = Round<float>((max - less) + log);
    }
  }
};

template <class T, class I>
struct CrossEntropyRow {
  using Element = T;
  CrossEntropyCall<T, I> call;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const LogitSums sums = call.template SumsOf<Form>(member, row, 0, there);
    if (member.Writes(row)) call.Finish(row, sums);
  }
};

template <class T, class I>
struct SumLogits {
  CrossEntropyCall<T, I> call;
  LogitSums* sums;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, const Parts& parts, const Part& part) const {
    const LogitSums own = call.template SumsOf<Form>(member, part.row, part.begin, true);
    if (member.index() == 0) sums[part.row * parts.count + part.index] = own;
  }
};

// A warp for each row.
template <class T, class I>
__global__ void __launch_bounds__(kBlock)
    MergeLogitSums(Teams teams, CrossEntropyCall<T, I> call, const LogitSums* sums) {
  Member member(teams);
  for (int64_t tile = blockIdx.x; tile < teams.tiles; tile += gridDim.x) {
    const int64_t row = member.Row(tile), count = row < teams.rows ? teams.n : 0;
    const LogitSums* const parts = sums + row * teams.n;
    LogitSums all{};
    all.exps = MergeExpSums(member, count, [&](int64_t i) { return parts[i].exps; });
    for (int64_t i = member.index(); i < count; i += member.threads())
      all.plain = all.plain + parts[i].plain;
    all.plain = Settle(member.Sum(all.plain));
    if (member.Writes(row)) call.Finish(row, all);
  }
}

template <class T, class I>
opcast::Status LongRows(const CrossEntropyCall<T, I>& call, int64_t rows, LogitSums* sums,
                        const opcast::Launch& launch) {
  const Parts parts = Parts::Of<T>(rows, call.n);
  const opcast::Status status =
      ForParts(parts, AlignedRows<T>({call.logits}, call.n), launch, SumLogits<T, I>{call, sums});
  if (!status.ok()) return status;
  constexpr int kTeams = kBlock / opcast::kWarp;
  const Teams teams{rows, parts.count, opcast::kWarp, kTeams, 0, (rows + kTeams - 1) / kTeams};
  return opcast::Start(MergeLogitSums<T, I>, opcast::Blocks(teams.tiles), kBlock, 0, launch, teams,
                       call, sums);
}

}  // namespace

int64_t CrossEntropyCudaWorkspace(const CrossEntropyArgs& args, const opcast::Launch&) {
  return ScratchOfParts(args.T, args.batch, args.V, sizeof(LogitSums));
}

opcast::Status CrossEntropyCuda(const CrossEntropyArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    const CrossEntropyCall<T, I> call{a.loss, a.lse,          a.logits,         a.target,
                                      a.V,    a.ignore_index, a.label_smoothing};
    if (IsLong<T>(a.V))
      return LongRows(call, a.batch, reinterpret_cast<LogitSums*>(a.sums), launch);
    return ForRows(a.batch, a.V, AlignedRows<T>({a.logits}, a.V), launch,
                   CrossEntropyRow<T, I>{call});
  });
}

}  // namespace opcast_ops
