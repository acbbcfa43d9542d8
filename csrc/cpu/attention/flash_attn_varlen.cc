// o = softmax(sm_scale * q @ k.T) @ v and the logarithm of the softmax's denominator, for each
// sequence and head, over the keys that a query sees: see attention.h for the algorithm and its
// precision. A task has a block of the rows of the heads that share keys.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/attention.h"
#include "cpu/attention/ragged_sequences.h"
#include "flash_attn_varlen.gen.h"

namespace opcast_ops {
namespace {

using Args = FlashAttnVarlenArgs;

// Keys that lie one after the other.
struct DenseKeys {
  Factor k, v;

  StepFactors operator()(int64_t first, int64_t) const {
    StepFactors step{k, v};
    step.k.first = step.v.first = first;
    step.k.turned = true;
    return step;
  }
};

Queries QueriesOf(const Args& args, const Sequence& sequence, int64_t head,
                  const TokenLines& lines) {
  const int64_t group = sequence.group, first = head * group;
  return {sequence.Q(args, head, lines),
          group,
          args.D,
          {sequence.count, sequence.k_count, args.causal, args.window_left},
          {args.sm_scale, args.soft_cap},
          args.sinks == nullptr ? nullptr : args.sinks + first,
          args.Dv,
          args.T,
          args.o,
          args.lse,
          sequence.begin * args.Hq + first,
          args.Hq};
}

// Writes results of queries that belong to no sequence.
void WriteOthers(const Args& args, const opcast::Launch& launch) {
  const int64_t n = args.Hq * args.Dv;
  ForOthers(launch, {args.cu_seqlens_q, args.Tq}, args.B, n, [&](int64_t row, auto width) {
    const FloatSpace zeros(n);
    std::fill_n(zeros.Floats(), n, 0.0f);
    Write(args.T, zeros.Floats(), n, args.o, row * n, width);
    std::fill_n(args.lse + row * args.Hq, args.Hq, static_cast<float>(kNone));
  });
}

}  // namespace

opcast::Status FlashAttnVarlen(const Args& args, const opcast::Launch& launch) {
  WriteOthers(args, launch);
  const SequenceParts parts(args.B, [&](int64_t b) {
    const Sequence sequence(args, b);
    return (sequence.count * sequence.group + kBlockRows - 1) / kBlockRows * args.Hk;
  });
  opcast::ParallelFor(launch, parts.Count(), 1, [&](int64_t begin, int64_t end, auto vector) {
    for (int64_t index = begin; index < end; ++index) {
      const auto place = parts.At(index);
      const Sequence sequence(args, place.b);
      const int64_t head = place.part % args.Hk, row = place.part / args.Hk * kBlockRows;
      const TokenLines lines(sequence.count, args.q_layout.Stride(-3));
      const Queries queries = QueriesOf(args, sequence, head, lines);
      DenseKeys keys{sequence.K(args, head), sequence.V(args, head, false)};
      Attention<vector, DenseKeys>(queries, &keys)
          .Run(row, std::min(kBlockRows, queries.Count() - row));
    }
  });
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
