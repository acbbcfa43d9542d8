// Attention over rows of a cache for several positions, each of which has a sequence of rows: o =
// softmax(scale * q @ kv.T) @ kv for each head, and the logarithm of the softmax's denominator.
//
// The rows of a sequence are cut into splits, and a split is taken in steps of some rows. Numbers
// are float: scores are sums of products in lanes (see gemm_tile.h), or of dot product
// instructions (see mla_bf16_scores.h), rows are added in order (see weighted_rows_tile.h). The
// largest score, what scores lack to it, and sums of weights are double. Results of splits are
// added in order, and rounded once.
//
// A thread computes all splits of a sequence, for some heads, or only one of them, which then goes
// to scratch; this makes no difference to the bits, nor does how many heads there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "cpu/attention/flash_mla_rows.h"

namespace opcast_ops {

// The rows of a position, as a call numbers them.
struct Sequence {
  int64_t first, length, splits;

  // The first row of a split.
  int64_t Begin(int64_t split) const { return first + length * split / splits; }
};

// What all calls have. A class derived from it has At(b), which gives the sequence of a position,
// and WithRows(f), which calls f with the cache's rows (see flash_mla_rows.h).
struct MlaCall {
  const opcast::bf16* q;
  int64_t positions, heads;
  int64_t group;        // heads of a task at most, not above kHeads
  int64_t most_splits;  // of a sequence
  double scale;
  float *o_part, *lse_part;  // room for most_splits; none is needed for one
  opcast::bf16* o;
  float* lse;
};

// The splits from `first` to `last` of a sequence, for some heads.
struct Task {
  int64_t b, head, heads, first, last;
  Sequence sequence;

  bool Whole() const { return last - first == sequence.splits; }

  // Place of a head's results.
  int64_t Place(const MlaCall& call, int64_t h) const { return b * call.heads + head + h; }
};

// Memory of a thread.
struct ThreadSpace : Space {
  PairSpace pairs;
  bool heads_fit = false;  // all of them, for dot product instructions
};

// Reads `count` rows and makes their scores, in space.weights.
template <int kVector, class Rows>
inline void ScoreRows(const Rows& rows, const Task& task, int64_t first, int64_t count,
                      ThreadSpace& space) {
#if defined(__x86_64__)
  if constexpr (kVector == 64) {
    if (opcast::HasBf16Dot()) {
      const bool rows_fit = ReadPairs(rows, first, count, space.rows, &space.pairs);
      const bool all_fit = rows_fit && space.heads_fit;
      if (!all_fit) Score<kVector>(task.heads, count, space);
      ScorePairs(count, &space.pairs);
      return TurnScores(count, all_fit, space.pairs, space.weights);
    }
  }
#endif
  ReadRows<kVector>(rows, first, count, space.rows);
  Score<kVector>(task.heads, count, space);
}

// Makes the results of a split in space.sums.
template <int kVector, class Call>
inline void Attend(const Call& call, const Task& task, int64_t split, ThreadSpace& space,
                   Mean* means) {
  std::fill_n(space.sums[0], task.heads * kColumns, 0.0f);
  for (int64_t h = 0; h < task.heads; ++h) means[h] = {space.sums[h]};
  const int64_t end = task.sequence.Begin(split + 1);
  for (int64_t i = task.sequence.Begin(split); i < end; i += kRows) {
    const int64_t count = std::min(kRows, end - i);
    call.WithRows([&](const auto& rows) { ScoreRows<kVector>(rows, task, i, count, space); });
    AddRows<kVector>(call.scale, task.heads, count, space, means);
  }
}

// Adds the results of one of several splits to those of the task, or leaves them in scratch for
// Combine if other tasks have the sequence's other splits.
template <int kVector>
inline void Keep(const MlaCall& call, const Task& task, int64_t split, Mean* means, Mean* totals) {
  for (int64_t h = 0; h < task.heads; ++h) {
    Mean& mean = means[h];
    mean.Multiply(mean.sum == 0 ? 1 : 1 / mean.sum);
    const auto lse = static_cast<float>(mean.Lse());
    if (task.Whole()) {
      AddMean<kVector>(mean.sums, lse, &totals[h]);
    } else {
      const int64_t place = split * call.positions * call.heads + task.Place(call, h);
      std::copy_n(mean.sums, kColumns, call.o_part + place * kColumns);
      call.lse_part[place] = lse;
    }
  }
}

// Writes the result of a head. It is NaN if all scores are -inf, as the formula has it.
template <int kVector>
inline void Write(const MlaCall& call, int64_t place, Mean* mean) {
  mean->Multiply(1 / mean->sum);
  Narrow<kVector>(mean->sums, call.o + place * kColumns, kColumns);
  call.lse[place] = Round<float>(mean->sum == 0 ? mean->sums[0] : mean->Lse());
}

// Writes the results of a sequence without rows.
inline void WriteEmpty(const MlaCall& call, const Task& task) {
  const int64_t place = task.Place(call, 0);
  std::fill_n(call.o + place * kColumns, task.heads * kColumns, opcast::bf16(0.0f));
  std::fill_n(call.lse + place, task.heads, static_cast<float>(-kInfinity));
}

template <int kVector, class Call>
inline void Run(const Call& call, const Task& task) {
  if (task.sequence.length == 0) return WriteEmpty(call, task);
  // Too large for the stacks of some threads.
  const std::unique_ptr<ThreadSpace> allocated(new ThreadSpace);
  ThreadSpace& space = *allocated;
  Mean means[kHeads], totals[kHeads];
  space.Clear(task.heads);
  const opcast::bf16* const q = call.q + task.Place(call, 0) * kColumns;
  Widen<kVector>(q, space.q[0], task.heads * kColumns);
#if defined(__x86_64__)
  if (opcast::HasBf16Dot()) space.heads_fit = KeepQueries(q, task.heads, &space.pairs);
#endif
  const bool single = task.sequence.splits == 1;
  for (int64_t h = 0; h < task.heads; ++h) totals[h] = {space.totals[h]};
  for (int64_t split = task.first; split < task.last; ++split) {
    Attend<kVector>(call, task, split, space, means);
    if (!single) Keep<kVector>(call, task, split, means, totals);
  }
  if (!task.Whole()) return;
  for (int64_t h = 0; h < task.heads; ++h)
    Write<kVector>(call, task.Place(call, h), single ? &means[h] : &totals[h]);
}

// Writes the result of one head from those of the splits in scratch.
template <int kVector>
inline void Combine(const MlaCall& call, int64_t place, int64_t splits) {
  const int64_t step = call.positions * call.heads;
  float sums[kColumns] = {};
  Mean mean{sums};
  for (int64_t s = 0; s < splits; ++s) {
    const int64_t part = s * step + place;
    AddMean<kVector>(call.o_part + part * kColumns, call.lse_part[part], &mean);
  }
  Write<kVector>(call, place, &mean);
}

// How the work is cut into tasks.
template <class Call>
class Tasks {
 public:
  Tasks(const Call& call, const opcast::Launch& launch) : call_(call), threads_(launch.Threads()) {
    for (int64_t b = 0; b < call.positions; ++b) rows_ += call.At(b).length;
    for (int64_t b = 0; b < call.positions; ++b) all_whole_ &= Whole(call.At(b));
  }

  // Whether one thread computes all splits of a sequence, for some heads: if there is but one
  // thread, or if that is a small part of all work. Then the splits need no scratch.
  bool Whole(const Sequence& sequence) const {
    constexpr int64_t kParts = 2;  // of a thread's work
    return threads_ == 1 || sequence.splits == 1 ||
           kParts * threads_ * sequence.length <= rows_ * Across();
  }
  bool AllWhole() const { return all_whole_; }

  // Sequences times groups of heads.
  int64_t Count() const { return call_.positions * Across(); }
  Task At(int64_t index) const {
    const int64_t b = index / Across(), head = index % Across() * call_.group;
    const Sequence sequence = call_.At(b);
    return {b, head, std::min(call_.group, call_.heads - head), 0, sequence.splits, sequence};
  }

 private:
  int64_t Across() const { return (call_.heads + call_.group - 1) / call_.group; }

  const Call& call_;
  const int64_t threads_;
  int64_t rows_ = 0;
  bool all_whole_ = true;
};

// Computes the sequences that a thread takes as a whole, or the splits of the others.
template <class Call>
void RunTasks(const Call& call, const opcast::Launch& launch, const Tasks<Call>& tasks,
              bool whole) {
  const int64_t parts = whole ? 1 : call.most_splits;
  opcast::ParallelFor(launch, tasks.Count() * parts, 1,
                      [&](int64_t begin, int64_t end, auto vector) {
                        for (int64_t index = begin; index < end; ++index) {
                          Task task = tasks.At(index / parts);
                          if (tasks.Whole(task.sequence) != whole) continue;
                          if (!whole) {
                            task.first = index % parts;
                            task.last = std::min(task.first + 1, task.last);
                          }
                          if (task.first < task.last) Run<vector>(call, task);
                        }
                      });
}

// Computes all positions.
template <class Call>
opcast::Status RunCall(const Call& call, const opcast::Launch& launch) {
  const Tasks<Call> tasks(call, launch);
  RunTasks(call, launch, tasks, true);
  if (tasks.AllWhole()) return opcast::Status::Ok();
  RunTasks(call, launch, tasks, false);
  opcast::ParallelFor(launch, call.positions * call.heads, RowsPerChunk(kColumns),
                      [&](int64_t begin, int64_t end, auto vector) {
                        for (int64_t place = begin; place < end; ++place) {
                          const Sequence sequence = call.At(place / call.heads);
                          if (!tasks.Whole(sequence)) Combine<vector>(call, place, sequence.splits);
                        }
                      });
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
