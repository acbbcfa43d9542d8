// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// The rows of a sequence are cut into splits, and a split is taken in steps of some rows. Numbers
// are float: scores are sums of products in lanes (see product_tile.h), or of dot product
// instructions (see attention_pairs.h), rows are added in order (see spread_tile.h). The largest
// score, what scores lack to it, and sums of weights are double. Results of splits are added in
// order, and rounded once.
//
// How a sequence is split depends on its length only. A thread computes all splits of a sequence,
// for some heads, or only one of them, which then goes to scratch; this makes no difference to the
// bits. So they depend neither on the other sequences nor on the number of threads.
#include <algorithm>
#include <cmath>
#include <memory>

#include "flash_mla_decode.gen.h"
#include "flash_mla_rows.h"

namespace opcast_ops {
namespace {

using Args = FlashMlaDecodeArgs;

constexpr int64_t kShortest = 256, kSplits = 16;  // rows of a split at least, splits at most

// The cache rows of sequence b.
struct Sequence {
  int64_t first, length;

  // Offsets that the definition forbids lead to wrong results, but not out of the cache.
  Sequence(const Args& args, int64_t b) {
    const int32_t* offsets = args.kv_indptr;
    first = std::clamp<int64_t>(offsets[b], 0, args.T);
    length = std::clamp<int64_t>(offsets[b + 1], first, args.T) - first;
  }

  // At most as many as the definition has scratch for, since no sequence is longer than the cache.
  int64_t Splits() const { return std::min(std::max<int64_t>(length / kShortest, 1), kSplits); }

  // The first row of a split.
  int64_t Begin(int64_t split) const { return first + length * split / Splits(); }
};

// The splits from `first` to `last` of a sequence, for some heads.
struct Task {
  int64_t b, head, heads, first, last;
  Sequence sequence;

  bool Whole() const { return last - first == sequence.Splits(); }

  // Place of a head's results.
  int64_t Place(const Args& args, int64_t h) const { return b * args.H + head + h; }
};

// Memory of a thread.
struct ThreadSpace : Space {
  PairSpace pairs;
  bool heads_fit = false;  // all of them, for dot product instructions
};

// Reads `count` rows and makes their scores, in space.weights.
template <int kVector, class Args>
inline void ScoreRows(const Args& args, const Task& task, int64_t first, int64_t count,
                      ThreadSpace& space) {
#if defined(__x86_64__)
  if constexpr (kVector == 64) {
    if (opcast::HasBf16Dot()) {
      const bool rows_fit = ReadPairs(args, first, count, space.rows, &space.pairs);
      const bool all_fit = rows_fit && space.heads_fit;
      if (!all_fit) Score<kVector>(task.heads, count, space);
      ScorePairs(count, &space.pairs);
      return TurnScores(count, all_fit, space.pairs, space.weights);
    }
  }
#endif
  ReadRows<kVector>(args, first, count, space.rows);
  Score<kVector>(task.heads, count, space);
}

// Makes the results of a split in space.sums.
template <int kVector>
inline void Attend(const Args& args, const Task& task, int64_t split, ThreadSpace& space,
                   Mean* means) {
  std::fill_n(space.sums[0], task.heads * kColumns, 0.0f);
  for (int64_t h = 0; h < task.heads; ++h) means[h] = {space.sums[h]};
  const int64_t end = task.sequence.Begin(split + 1);
  for (int64_t i = task.sequence.Begin(split); i < end; i += kRows) {
    const int64_t count = std::min(kRows, end - i);
    Visit(args, [&](const auto& typed) {
      ScoreRows<kVector>(typed, task, i, count, space);
      return opcast::Status::Ok();
    });
    AddRows<kVector>(args.sm_scale, task.heads, count, space, means);
  }
}

// Adds the results of one of several splits to those of the task, or leaves them in scratch for
// Combine if other tasks have the sequence's other splits.
template <int kVector>
inline void Keep(const Args& args, const Task& task, int64_t split, Mean* means, Mean* totals) {
  for (int64_t h = 0; h < task.heads; ++h) {
    Mean& mean = means[h];
    mean.Multiply(mean.sum == 0 ? 1 : 1 / mean.sum);
    const auto lse = static_cast<float>(mean.Lse());
    if (task.Whole()) {
      AddMean<kVector>(mean.sums, lse, &totals[h]);
    } else {
      const int64_t place = split * args.B * args.H + task.Place(args, h);
      std::copy_n(mean.sums, kColumns, args.o_part + place * kColumns);
      args.lse_part[place] = lse;
    }
  }
}

// Writes the result of a head. It is NaN if all scores are -inf, as the formula has it.
template <int kVector>
inline void Write(const Args& args, int64_t place, Mean* mean) {
  mean->Multiply(1 / mean->sum);
  Narrow<kVector>(mean->sums, args.o + place * kColumns, kColumns);
  args.lse[place] = Round<float>(mean->sum == 0 ? mean->sums[0] : mean->Lse());
}

// Writes the results of a sequence without rows.
inline void WriteEmpty(const Args& args, const Task& task) {
  const int64_t place = task.Place(args, 0);
  std::fill_n(args.o + place * kColumns, task.heads * kColumns, opcast::bf16(0.0f));
  std::fill_n(args.lse + place, task.heads, static_cast<float>(-kInfinity));
}

template <int kVector>
inline void Run(const Args& args, const Task& task) {
  if (task.sequence.length == 0) return WriteEmpty(args, task);
  // Too large for the stacks of some threads.
  const std::unique_ptr<ThreadSpace> allocated(new ThreadSpace);
  ThreadSpace& space = *allocated;
  Mean means[kHeads], totals[kHeads];
  space.Clear(task.heads);
  const opcast::bf16* const q = args.q + task.Place(args, 0) * kColumns;
  Widen<kVector>(q, space.q[0], task.heads * kColumns);
#if defined(__x86_64__)
  if (opcast::HasBf16Dot()) space.heads_fit = KeepQueries(q, task.heads, &space.pairs);
#endif
  const bool single = task.sequence.Splits() == 1;
  for (int64_t h = 0; h < task.heads; ++h) totals[h] = {space.totals[h]};
  for (int64_t split = task.first; split < task.last; ++split) {
    Attend<kVector>(args, task, split, space, means);
    if (!single) Keep<kVector>(args, task, split, means, totals);
  }
  if (!task.Whole()) return;
  for (int64_t h = 0; h < task.heads; ++h)
    Write<kVector>(args, task.Place(args, h), single ? &means[h] : &totals[h]);
}

// Writes the result of one head from those of the splits in scratch.
template <int kVector>
inline void Combine(const Args& args, int64_t place, int64_t splits) {
  const int64_t step = args.B * args.H;
  float sums[kColumns] = {};
  Mean mean{sums};
  for (int64_t s = 0; s < splits; ++s) {
    const int64_t part = s * step + place;
    AddMean<kVector>(args.o_part + part * kColumns, args.lse_part[part], &mean);
  }
  Write<kVector>(args, place, &mean);
}

// How the work is cut into tasks.
class Tasks {
 public:
  Tasks(const Args& args, const opcast::Launch& launch) : args_(args), threads_(launch.Threads()) {
    for (int64_t b = 0; b < args.B; ++b) rows_ += Sequence(args, b).length;
    for (int64_t b = 0; b < args.B; ++b) all_whole_ &= Whole(Sequence(args, b));
  }

  // Whether one thread computes all splits of a sequence, for some heads: if there is but one
  // thread, or if that is a small part of all work. Then the splits need no scratch.
  bool Whole(const Sequence& sequence) const {
    constexpr int64_t kParts = 2;  // of a thread's work
    return threads_ == 1 || sequence.Splits() == 1 ||
           kParts * threads_ * sequence.length <= rows_ * Across();
  }
  bool AllWhole() const { return all_whole_; }

  // Sequences times groups of heads.
  int64_t Count() const { return args_.B * Across(); }
  Task At(int64_t index) const {
    const int64_t b = index / Across(), head = index % Across() * kHeads;
    const Sequence sequence(args_, b);
    return {b, head, std::min(kHeads, args_.H - head), 0, sequence.Splits(), sequence};
  }

 private:
  int64_t Across() const { return (args_.H + kHeads - 1) / kHeads; }

  const Args& args_;
  const int64_t threads_;
  int64_t rows_ = 0;
  bool all_whole_ = true;
};

// Computes the sequences that a thread takes as a whole, or the splits of the others.
void RunAll(const Args& args, const opcast::Launch& launch, const Tasks& tasks, bool whole) {
  const int64_t parts = whole ? 1 : kSplits;
  opcast::ParallelFor(launch, tasks.Count() * parts, 1,
                      [&](int64_t begin, int64_t end, auto vector) {
                        for (int64_t index = begin; index < end; ++index) {
                          Task task = tasks.At(index / parts);
                          if (tasks.Whole(task.sequence) != whole) continue;
                          if (!whole) {
                            task.first = index % parts;
                            task.last = std::min(task.first + 1, task.last);
                          }
                          if (task.first < task.last) Run<vector>(args, task);
                        }
                      });
}

}  // namespace

opcast::Status FlashMlaDecode(const Args& args, const opcast::Launch& launch) {
  const Tasks tasks(args, launch);
  RunAll(args, launch, tasks, true);
  if (tasks.AllWhole()) return opcast::Status::Ok();
  RunAll(args, launch, tasks, false);
  opcast::ParallelFor(launch, args.B * args.H, RowsPerChunk(kColumns),
                      [&](int64_t begin, int64_t end, auto vector) {
                        for (int64_t place = begin; place < end; ++place) {
                          const Sequence sequence(args, place / args.H);
                          if (!tasks.Whole(sequence))
                            Combine<vector>(args, place, sequence.Splits());
                        }
                      });
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
