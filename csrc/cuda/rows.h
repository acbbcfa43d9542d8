// Kernels over the rows of a matrix: how threads share a row, and reductions in a fixed order.
//
// Vectors of 16 bytes of a row are dealt out to its threads in turn. Which thread has an element,
// and so the order of a sum, depends on the length of the rows and the dtype only: neither on the
// grid nor on whether the row's address allows whole vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "opcast/device.h"
#include "vectors.h"

namespace opcast_ops {

// Rows are worked on by teams of threads; a block has several teams if rows are short.
struct Teams {
  int64_t rows, n;
  int threads;    // of a team: a power of two, or several warps that are a block
  int count;      // of teams in a block
  int held;       // vectors of a row that a thread can hold in registers; 0 if that is not enough
  int64_t tiles;  // a block's worth of rows each
};

constexpr int kMostThreads = 512;
constexpr int kBlock = 128;  // threads of a block whose teams are no larger
constexpr int kHeld = 4;

// How to share rows of n elements of T among teams of at most `most` threads.
template <class T>
Teams TeamsFor(int64_t rows, int64_t n, int most = kMostThreads) {
  const int64_t vectors = (n + Vector<T>::kSize - 1) / Vector<T>::kSize;
  Teams teams{rows, n, 1, 1, vectors <= 32 ? 1 : kHeld, 0};
  const int64_t wanted = (vectors + teams.held - 1) / teams.held;
  while (teams.threads < std::min<int64_t>(wanted, kBlock)) teams.threads *= 2;
  teams.count = kBlock / teams.threads;
  if (wanted > kBlock) {
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
  OPCAST_DEVICE explicit Member(const Teams& teams)
      : teams_(teams),
        team_(static_cast<int>(threadIdx.x) / teams.threads),
        index_(static_cast<int>(threadIdx.x) % teams.threads) {}

  // The team's row among those of a tile; may be past the last.
  OPCAST_DEVICE int64_t Row(int64_t tile) const { return tile * teams_.count + team_; }
  OPCAST_DEVICE int64_t n() const { return teams_.n; }
  OPCAST_DEVICE int team() const { return team_; }
  OPCAST_DEVICE int teams() const { return teams_.count; }
  // Whether this thread is the one that writes what a row has once.
  OPCAST_DEVICE bool Writes(int64_t row) const { return index_ == 0 && row < teams_.rows; }

  // Calls f(k, begin) for the vectors of a row that are this thread's: the k-th begins at element
  // `begin`.
  template <class T, int kVectors, class F>
  OPCAST_DEVICE void ForVectors(F f) const {
    if constexpr (kVectors > 0) {
      OPCAST_UNROLL
      for (int k = 0; k < kVectors; ++k) {
        if (Begin<T>(k) < teams_.n) f(k, Begin<T>(k));
      }
    } else {
      for (int64_t k = 0; Begin<T>(k) < teams_.n; ++k) f(0, Begin<T>(k));
    }
  }

  // Where the k-th vector of this thread begins in a row.
  template <class T>
  OPCAST_DEVICE int64_t Begin(int64_t k) const {
    return (k * teams_.threads + index_) * Vector<T>::kSize;
  }

  // Combines the values of the team's threads; all threads of the block call it. A tree over the
  // lanes of each warp, then over the warps.
  template <int kCount, class Op>
  OPCAST_DEVICE void Combine(double (&values)[kCount], double neutral, Op op) {
    static_assert(kCount <= kMostValues);
    __shared__ double parts[2][kMostValues][kMostThreads / opcast::kWarp];
    const int width = teams_.threads < opcast::kWarp ? teams_.threads : opcast::kWarp;
    for (double& v : values) v = opcast::WarpReduce(v, op, width);
    if (teams_.threads <= opcast::kWarp) return;
    // Two sets in turn: while some threads read one, others may already write the next.
    turn_ ^= 1;
    const int warps = teams_.threads / opcast::kWarp, lane = opcast::Lane();
    const int first = team_ * warps;
    for (int i = 0; i < kCount; ++i) {
      if (lane == 0) parts[turn_][i][threadIdx.x / opcast::kWarp] = values[i];
    }
    __syncthreads();
    for (int i = 0; i < kCount; ++i) {
      const double part = lane < warps ? parts[turn_][i][first + lane] : neutral;
      values[i] = opcast::WarpReduce(part, op);
    }
  }
  template <int kCount>
  OPCAST_DEVICE void Sum(double (&values)[kCount]) {
    Combine(values, 0, [](double a, double b) { return a + b; });
  }
  OPCAST_DEVICE double Sum(double value) {
    double values[] = {value};
    Sum(values);
    return values[0];
  }

 private:
  static constexpr int kMostValues = 3;

  const Teams& teams_;
  const int team_, index_;
  int turn_ = 0;
};

// A thread's vectors of a row: kept in registers, or read again each time.
template <class T, int kVectors>
class Held {
 public:
  OPCAST_DEVICE Held(const Member& member, const T* row, int64_t n, bool aligned)
      : row_(row), n_(n), aligned_(aligned) {
    OPCAST_UNROLL
    for (int k = 0; k < kVectors; ++k) held_[k] = Load(row, member.Begin<T>(k), n, aligned);
  }
  OPCAST_DEVICE Vector<T> At(int k, int64_t begin) const {
    if constexpr (kVectors > 0)
      return held_[k];
    else
      return Load(row_, begin, n_, aligned_);
  }

 private:
  const T* const row_;
  const int64_t n_;
  const bool aligned_;
  Vector<T> held_[kVectors > 0 ? kVectors : 1];
};

// Calls work.Run<kVectors>(member, row, size) for all rows, on all threads of a row's team: those
// past the last row have size 0, and take part in reductions only.
template <int kVectors, class Work>
__global__ void __launch_bounds__(kMostThreads) RowsKernel(Teams teams, Work work) {
  Member member(teams);
  for (int64_t tile = blockIdx.x; tile < teams.tiles; tile += gridDim.x) {
    const int64_t row = member.Row(tile);
    work.template Run<kVectors>(member, row, row < teams.rows ? teams.n : 0);
  }
}

// Starts RowsKernel for rows of n elements of Work::Element.
template <class Work>
opcast::Status ForRows(int64_t rows, int64_t n, const opcast::Launch& launch, const Work& work) {
  const Teams teams = TeamsFor<typename Work::Element>(rows, n);
  const auto start = [&](void (*kernel)(Teams, Work)) {
    return opcast::Start(kernel, opcast::Blocks(teams.tiles), teams.threads * teams.count, 0,
                         launch, teams, work);
  };
  if (teams.held == 0) return start(RowsKernel<0, Work>);
  if (teams.held == 1) return start(RowsKernel<1, Work>);
  return start(RowsKernel<kHeld, Work>);
}

}  // namespace opcast_ops
