// Sums over the rows of a matrix, beside what a kernel computes of each row.
//
// The rows are cut into at most kGroups groups of consecutive rows, by the shape alone. A block
// adds up a group, row by row, in float; its sums go to scratch, and a second kernel adds those in
// double. So no bit depends on the grid or on which block comes first, and sums need no atomics.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/lib/row_kernels.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int64_t kGroups = 256;  // as in the scratch of the definitions

// A thread's part of kSums sums for each column: in registers, or where the group's sums go.
template <class T, class Form, int kSums>
class ColumnSums {
 public:
  OPCAST_DEVICE ColumnSums(const Member& member, float* group) : n_(member.n()), group_(group) {
    if constexpr (Form::kVectors == 0) {
      member.ForVectors<T, Form>([&](int, int64_t begin) {
        for (int64_t j = begin; j < begin + Vector<T>::kSize && j < n_; ++j) {
          for (int s = 0; s < kSums; ++s) group_[s * n_ + j] = 0;
        }
      });
    }
  }

  // Adds to sum s of column begin + e, which is element e of the thread's k-th vector.
  OPCAST_DEVICE void Add(int s, int k, int64_t begin, int e, double value) {
    if constexpr (Form::kVectors > 0) {
      held_[s][k][e] += static_cast<float>(value);
    } else if (begin + e < n_) {
      group_[s * n_ + begin + e] += static_cast<float>(value);
    }
  }

  // Writes the group's sums, those of the block's teams added in order.
  OPCAST_DEVICE void Write(const Member& member) {
    if constexpr (Form::kVectors > 0) {
      // Teams are several only in blocks of kBlock threads.
      __shared__ float of_teams[Form::kVectors * Vector<T>::kSize * kBlock];
      const bool alone = member.teams() == 1;
      OPCAST_UNROLL
      for (int s = 0; s < kSums; ++s) {
        float* const own = alone ? group_ + s * n_ : of_teams + member.team() * n_;
        member.ForVectors<T, Form>([&](int k, int64_t begin) {
          OPCAST_UNROLL
          for (int e = 0; e < Vector<T>::kSize; ++e) {
            if (begin + e < n_) own[begin + e] = held_[s][k][e];
          }
        });
        if (alone) continue;
        __syncthreads();
        for (int64_t j = threadIdx.x; j < n_; j += blockDim.x) {
          float sum = of_teams[j];
          for (int t = 1; t < member.teams(); ++t) sum += of_teams[t * n_ + j];
          group_[s * n_ + j] = sum;
        }
        __syncthreads();
      }
    }
  }

 private:
  const int64_t n_;
  float* const group_;
  float held_[kSums][Form::kVectors > 0 ? Form::kVectors : 1][Vector<T>::kSize] = {};
};

// Calls work.Run<Form>(member, row, there, sums) for the rows of a group.
template <class Form, class Work>
__global__ void __launch_bounds__(kFewerThreads)
    ColumnsKernel(Teams teams, Work work, float* partials, int64_t tiles_of_group) {
  Member member(teams);
  ColumnSums<typename Work::Element, Form, Work::kSums> sums(
      member, partials + blockIdx.x * Work::kSums * teams.n);
  const int64_t first = blockIdx.x * tiles_of_group;
  for (int64_t tile = first; tile < first + tiles_of_group && tile < teams.tiles; ++tile) {
    const int64_t row = member.Row(tile);
    work.template Run<Form>(member, row, row < teams.rows, sums);
  }
  sums.Write(member);
}

// Where the sums go; null for one that is not wanted.
template <class T, int kSums>
struct ColumnTotals {
  T* totals[kSums];
};

// Adds the groups' sums: 32 columns of a block, whose groups are dealt out to its warps.
template <class T, int kSums>
__global__ void __launch_bounds__(kMostThreads)
    TotalsKernel(ColumnTotals<T, kSums> to, const float* partials, int64_t groups, int64_t n) {
  constexpr int kWarps = kMostThreads / opcast::kWarp;
  __shared__ double of_warps[kWarps][opcast::kWarp];
  const int lane = opcast::Lane(), warp = static_cast<int>(threadIdx.x) / opcast::kWarp;
  const int64_t column = int64_t{blockIdx.x} * opcast::kWarp + lane;
  for (int s = 0; s < kSums; ++s) {
    if (to.totals[s] == nullptr) continue;
    double sum = 0;
    if (column < n) {
      for (int64_t g = warp; g < groups; g += kWarps) sum += partials[(g * kSums + s) * n + column];
    }
    of_warps[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < n) {
      for (int w = 1; w < kWarps; ++w) sum += of_warps[w][lane];
      to.totals[s][column] = Round<T>(sum);
    }
    __syncthreads();
  }
}

// Runs the work on all rows and writes the sums over them. `partials` has room for kGroups times
// the sums.
template <class Work, class W>
opcast::Status ForRowsAndColumns(int64_t rows, int64_t n, bool aligned,
                                 const opcast::Launch& launch, const Work& work, void* partials,
                                 const ColumnTotals<W, Work::kSums>& totals) {
  using T = typename Work::Element;
  const Teams teams = TeamsFor<T>(rows, n, kFewerThreads);
  const int64_t tiles_of_group = std::max<int64_t>(1, (teams.tiles + kGroups - 1) / kGroups);
  const int64_t groups = (teams.tiles + tiles_of_group - 1) / tiles_of_group;
  float* const sums = static_cast<float*>(partials);
  const auto start = [&](void (*kernel)(Teams, Work, float*, int64_t)) {
    return opcast::Start(kernel, opcast::Blocks(groups), teams.threads * teams.count, 0, launch,
                         teams, work, sums, tiles_of_group);
  };
  const auto start_any = [&](auto whole) {
    constexpr bool kWhole = decltype(whole)::value;
    if (teams.held == 0) return start(ColumnsKernel<Form<0, kWhole>, Work>);
    if (kWhole && teams.held == 1) return start(ColumnsKernel<Form<1, kWhole>, Work>);
    return start(ColumnsKernel<Form<kHeld, kWhole>, Work>);
  };
  const opcast::Status status =
      aligned ? start_any(std::true_type()) : start_any(std::false_type());
  if (!status.ok()) return status;
  return opcast::Start(TotalsKernel<W, Work::kSums>,
                       opcast::Blocks((n + opcast::kWarp - 1) / opcast::kWarp), kMostThreads, 0,
                       launch, totals, sums, groups, n);
}

}  // namespace opcast_ops
