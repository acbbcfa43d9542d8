// Kernels over the rows of a matrix: how threads share a row, and reductions in a fixed order.
//
// Vectors of 16 bytes of a row are dealt out to its threads in turn. Which thread has an element,
// and so the order of a sum, depends on the length of the rows and the dtype only: neither on the
// grid nor on whether the row's address allows whole vectors. Sums are pairs of floats: a sum of
// floats would lose more than a result of float32 may, and double is slow on most GPUs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/lib/float_pairs.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

// Rows are worked on by teams of threads. A team is a block, or part of a warp if rows are short.
struct Teams {
  int64_t rows, n;
  int threads;    // of a team: a power of two up to a warp, or several warps
  int count;      // of teams in a block
  int held;       // vectors of a row that a thread can hold in registers; 0 if that is not enough
  int64_t tiles;  // a block's worth of rows each
};

constexpr int kMostThreads = 512;
constexpr int kFewerThreads = 256;  // where each takes many registers
constexpr int kBlock = 128;         // threads of a block of several teams
constexpr int kHeld = 4;

// What a kernel knows of rows when it is compiled: how many vectors of a row a thread holds in
// registers, 0 if it reads them again each time, and whether all vectors of a row are whole.
template <int vectors, bool whole>
struct Form {
  static constexpr int kVectors = vectors;
  static constexpr bool kWhole = whole;
};

// How to share rows of n elements of T among teams of at most `most` threads.
template <class T>
Teams TeamsFor(int64_t rows, int64_t n, int most = kMostThreads) {
  const int64_t vectors = (n + Vector<T>::kSize - 1) / Vector<T>::kSize;
  Teams teams{rows, n, 1, 1, vectors <= 32 ? 1 : kHeld, 0};
  const int64_t wanted = (vectors + teams.held - 1) / teams.held;
  while (teams.threads < std::min<int64_t>(wanted, opcast::kWarp)) teams.threads *= 2;
  teams.count = kBlock / teams.threads;
  if (wanted > opcast::kWarp) {
    teams.count = 1;
    teams.threads = static_cast<int>(
        std::min<int64_t>(most, (wanted + opcast::kWarp - 1) / opcast::kWarp * opcast::kWarp));
  }
  if (wanted > most) teams.held = 0;
  teams.tiles = (rows + teams.count - 1) / teams.count;
  return teams;
}

// What a thread knows of its team.
class Member {
 public:
  OPCAST_DEVICE explicit Member(const Teams& teams) : Member(teams, teams.n) {}
  // For rows of n elements, at most as many as the teams are made for.
  OPCAST_DEVICE Member(const Teams& teams, int64_t n)
      : teams_(teams),
        n_(n),
        team_(static_cast<int>(threadIdx.x) / teams.threads),
        index_(static_cast<int>(threadIdx.x) % teams.threads) {}

  // The team's row among those of a tile; may be past the last.
  OPCAST_DEVICE int64_t Row(int64_t tile) const { return tile * teams_.count + team_; }
  OPCAST_DEVICE int64_t n() const { return n_; }
  // The place of this thread in its team, and the team's threads.
  OPCAST_DEVICE int index() const { return index_; }
  OPCAST_DEVICE int threads() const { return teams_.threads; }
  OPCAST_DEVICE int team() const { return team_; }
  OPCAST_DEVICE int teams() const { return teams_.count; }
  // Whether this thread is the one that writes what a row has once.
  OPCAST_DEVICE bool Writes(int64_t row) const { return index_ == 0 && row < teams_.rows; }

  // Calls f(k, begin) for the vectors of a row that are this thread's: the k-th begins at element
  // `begin`.
  template <class T, class Form, class F>
  OPCAST_DEVICE void ForVectors(F f) const {
    if constexpr (Form::kVectors > 0) {
      const int n = static_cast<int>(n_);
      int begin = index_ * Vector<T>::kSize;
      OPCAST_UNROLL
      for (int k = 0; k < Form::kVectors; ++k, begin += teams_.threads * Vector<T>::kSize) {
        if (begin < n) f(k, begin);
      }
    } else {
      OPCAST_NO_UNROLL
      for (int64_t k = 0; Begin<T>(k) < n_; ++k) f(0, Begin<T>(k));
    }
  }
  // Whether a row has element e of the vector that begins at `begin`.
  template <class Form>
  OPCAST_DEVICE bool Has(int64_t begin, int e) const {
    return Form::kWhole || begin + e < n_;
  }

  // Where the k-th vector of this thread begins in a row.
  template <class T>
  OPCAST_DEVICE int64_t Begin(int64_t k) const {
    return (k * teams_.threads + index_) * Vector<T>::kSize;
  }

  // Whether some thread that waits for the same threads in Combine says yes.
  OPCAST_DEVICE bool Any(bool yes) const {
    return teams_.threads <= opcast::kWarp ? opcast::WarpAny(yes) : yes;  // else all say the same
  }

  // Combines the values of the team's threads; all threads of the block call it. A tree over the
  // lanes of each warp, then over the warps.
  template <int kCount, class V, class Op>
  OPCAST_DEVICE void Combine(V (&values)[kCount], V neutral, Op op) {
    __shared__ V parts[2][kCount][kMostThreads / opcast::kWarp];
    const int width = teams_.threads < opcast::kWarp ? teams_.threads : opcast::kWarp;
    OPCAST_UNROLL
    for (V& v : values) v = opcast::WarpReduce(v, op, width);
    if (teams_.threads <= opcast::kWarp) return;
    // Two sets in turn: while some threads read one, others may already write the next.
    turn_ ^= 1;
    const int warps = teams_.threads / opcast::kWarp, lane = opcast::Lane();
    OPCAST_UNROLL
    for (int i = 0; i < kCount; ++i) {
      if (lane == 0) parts[turn_][i][threadIdx.x / opcast::kWarp] = values[i];
    }
    __syncthreads();
    OPCAST_UNROLL
    for (int i = 0; i < kCount; ++i)
      values[i] = opcast::WarpReduce(lane < warps ? parts[turn_][i][lane] : neutral, op);
  }
  template <int kCount, class V>
  OPCAST_DEVICE void Sum(V (&values)[kCount]) {
    Combine(values, V{}, [](V a, V b) { return a + b; });
  }
  template <class V>
  OPCAST_DEVICE V Sum(V value) {
    V values[] = {value};
    Sum(values);
    return values[0];
  }
  OPCAST_DEVICE float Max(float value) {
    float values[] = {value};
    Combine(values, -INFINITY, [](float a, float b) { return a > b ? a : b; });
    return values[0];
  }

 private:
  const Teams& teams_;
  const int64_t n_;
  const int team_, index_;
  int turn_ = 0;
};

// A thread's vectors of a row: kept in registers, or read again each time. A row that is not there
// is all zeros.
template <class T, class Form>
class Held {
 public:
  OPCAST_DEVICE Held(const Member& member, const T* row, bool there)
      : row_(row), n_(there ? member.n() : 0) {
    OPCAST_UNROLL
    for (int k = 0; k < Form::kVectors; ++k) held_[k] = Read(member.Begin<T>(k));
  }
  OPCAST_DEVICE Vector<T> At(int k, int64_t begin) const {
    if constexpr (Form::kVectors > 0)
      return held_[k];
    else
      return Read(begin);
  }

 private:
  OPCAST_DEVICE Vector<T> Read(int64_t begin) const {
    if (!Form::kWhole || begin < n_) return Load<Form::kWhole>(row_, begin, n_);
    return {};
  }

  const T* const row_;
  const int64_t n_;
  Vector<T> held_[Form::kVectors > 0 ? Form::kVectors : 1];
};

// The 1 lets each thread have all the registers that the block's size allows: without it, ptxas may
// prefer memory. Calls work.Run<Form>(member, row, there) for all rows, on all threads of a row's
// team: those past the last row are not there, and take part in reductions only.
template <class Form, int kMost, class Work>
__global__ void __launch_bounds__(kMost, 1) RowsKernel(Teams teams, Work work) {
  Member member(teams);
  for (int64_t tile = blockIdx.x; tile < teams.tiles; tile += gridDim.x) {
    const int64_t row = member.Row(tile);
    work.template Run<Form>(member, row, row < teams.rows);
  }
}

// Starts RowsKernel for rows of n elements of Work::Element, aligned or not. Only whole vectors are
// held: what is not aligned is read several times. Works that take many registers run in blocks of
// fewer threads.
template <int kMost = kMostThreads, class Work>
opcast::Status ForRows(int64_t rows, int64_t n, bool aligned, const opcast::Launch& launch,
                       const Work& work) {
  const Teams teams = TeamsFor<typename Work::Element>(rows, n, kMost);
  const auto start = [&](void (*kernel)(Teams, Work)) {
    return opcast::Start(kernel, opcast::Blocks(teams.tiles), teams.threads * teams.count, 0,
                         launch, teams, work);
  };
  if (!aligned) return start(RowsKernel<Form<0, false>, kMost, Work>);
  if (teams.held == 0) return start(RowsKernel<Form<0, true>, kMost, Work>);
  if (teams.held == 1) return start(RowsKernel<Form<1, true>, kMost, Work>);
  return start(RowsKernel<Form<kHeld, true>, kMost, Work>);
}

}  // namespace opcast_ops
