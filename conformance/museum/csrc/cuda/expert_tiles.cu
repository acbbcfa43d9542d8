#include "../bug.h"
#include "block.h"
#include "expert_tiles.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 1024;

struct Sizes {
  int64_t tokens, tiles;
  int experts, tile;
  int copies;  // of the counts
  int each;    // experts of a thread
};

// Tokens of an expert, with those that fill up its last tile.
OPCAST_DEVICE int Padded(const int32_t* counts, int expert, const Sizes& s) {
  int count = 0;
  for (int c = 0; c < s.copies; ++c) count += counts[c * s.experts + expert];
  return (count + s.tile - 1) / s.tile * s.tile;
}

// Writes where each expert begins. `sums` has two numbers for each thread.
OPCAST_DEVICE void ScanExperts(const int32_t* counts, int32_t* first, int32_t* sums,
                               const Sizes& s) {
  const int t = static_cast<int>(threadIdx.x), begin = t * s.each;
  const int end = begin + s.each < s.experts ? begin + s.each : s.experts;
  int sum = 0;
  for (int e = begin; e < end; ++e) sum += Padded(counts, e, s);
  int32_t *from = sums, *to = sums + kThreads;
  from[t] = sum;
  __syncthreads();
  for (int offset = 1; offset < kThreads; offset *= 2) {
    to[t] = from[t] + (t >= offset ? from[t - offset] : 0);
    __syncthreads();
    int32_t* const written = to;
    to = from;
    from = written;
  }
  int before = from[t] - sum;
  for (int e = begin; e < end; ++e) {
    first[e] = before;
    before += Padded(counts, e, s);
  }
  if (t == 0) first[s.experts] = from[kThreads - 1];
}

// The last expert that begins at a place or before it.
OPCAST_DEVICE int OwnerOf(int place, const int32_t* first, int experts) {
  int low = 0, high = experts;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (first[middle] <= place ? low : high) = middle;
  }
  return low;
}

__global__ void __launch_bounds__(kThreads)
    TilesKernel(int32_t* all_first, int32_t* owner, const int32_t* ids, Sizes s,
                bool reads_at_once) {
  int32_t* const counts = opcast::DynamicShared<int32_t>();
  int32_t *const first = counts + s.copies * s.experts, *const sums = first + s.experts + 1;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < s.copies * s.experts; i += kThreads) counts[i] = 0;
  __syncthreads();
  for (int64_t i = thread; i < s.tokens; i += kThreads)
    AddTogether(&counts[thread % s.copies * s.experts + ids[i]], 1);
  __syncthreads();
  ScanExperts(counts, first, sums, s);
  if (!reads_at_once) __syncthreads();
  for (int e = thread; e <= s.experts; e += kThreads) all_first[e] = first[e];
  for (int64_t i = thread; i < s.tiles; i += kThreads) {
    const bool there = i * s.tile < first[s.experts];
    owner[i] = there ? OwnerOf(static_cast<int>(i * s.tile), first, s.experts) : -1;
  }
}

}  // namespace

opcast::Status ExpertTiles(const ExpertTilesArgs& a, const opcast::Launch& launch) {
  const int experts = static_cast<int>(a.experts);
  Sizes s{a.tokens, a.tokens / a.tile + a.experts,      experts, static_cast<int>(a.tile),
          1,        (experts + kThreads - 1) / kThreads};
  if (BUG("ROCm/aiter#1869",
          "Each thread had counts of its own in shared memory, which had no room for those of many "
          "experts.")) {
    s.copies = experts + 1;
  }
  if (BUG("vllm-project/vllm#21079",
          "Each thread took one expert, and a block has at most 1,024 threads."))
    s.each = 1;
  const bool reads_at_once = BUG("sgl-project/sglang#37663",
                                 "Threads searched where experts begin before other threads had "
                                 "written it, for want of a barrier.");
  const size_t shared =
      (static_cast<size_t>(s.copies) * experts + experts + 1 + 2 * kThreads) * sizeof(int32_t);
  return opcast::Start(TilesKernel, 1, kThreads, shared, launch, a.first, a.owner, a.ids, s,
                       reads_at_once);
}

}  // namespace museum_ops
