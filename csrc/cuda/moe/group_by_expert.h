// Items, which are tokens in one of their slots, grouped by expert, in order within each: a block
// of threads for every expert goes through all ids. Two kernels, one after the other.
#pragma once

#include <cstdint>

#include "common/expert_ids.h"
#include "opcast/device.h"
#include "opcast/types.h"

namespace opcast_ops {

constexpr int kExpertThreads = 256;

struct Items {
  const int32_t* ids;  // of their experts
  int64_t count, experts;
};

// The sum of the values of the threads before this one, and of all. All threads of the block call
// it.
struct Prefix {
  int64_t before, all;
};
OPCAST_DEVICE Prefix PrefixOf(int64_t value) {
  __shared__ int64_t values[kExpertThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  Prefix sums{0, 0};
  for (int t = 0; t < kExpertThreads; ++t) {
    if (t == static_cast<int>(threadIdx.x)) sums.before = sums.all;
    sums.all += values[t];
  }
  __syncthreads();
  return sums;
}

// counts[e] = how many items expert e has. A template, since it is in a header.
template <class Group>
__global__ void __launch_bounds__(kExpertThreads) CountItemsKernel(Group items, int32_t* counts) {
  for (int64_t e = blockIdx.x; e < items.experts; e += gridDim.x) {
    int64_t own = 0;
    for (int64_t i = threadIdx.x; i < items.count; i += kExpertThreads) own += items.ids[i] == e;
    own = PrefixOf(own).all;
    if (threadIdx.x == 0) counts[e] = opcast::Narrow<int32_t>(own);
  }
}

// Calls put.Item(item, place) for the items of each expert in order, and then put.Expert(e, place,
// items) with its first place on all threads of a block.
template <class Put>
__global__ void __launch_bounds__(kExpertThreads)
    PlaceItemsKernel(Items items, const int32_t* counts, int64_t block, Put put) {
  const int64_t share = (items.count + kExpertThreads - 1) / kExpertThreads;
  const int64_t first = threadIdx.x * share;
  const int64_t last = first + share < items.count ? first + share : items.count;
  for (int64_t e = blockIdx.x; e < items.experts; e += gridDim.x) {
    int64_t places = 0, own = 0;
    for (int64_t o = threadIdx.x; o < e; o += kExpertThreads) places += Padded(counts[o], block);
    for (int64_t i = first; i < last; ++i) own += items.ids[i] == e;
    const int64_t begin = PrefixOf(places).all;
    int64_t at = begin + PrefixOf(own).before;
    for (int64_t i = first; i < last; ++i) {
      if (items.ids[i] == e) put.Item(i, at++);
    }
    put.Expert(e, begin, counts[e]);
  }
}

// `counts` has room for a number of each expert.
template <class Put>
opcast::Status PlaceItems(const Items& items, int64_t block, int32_t* counts, const Put& put,
                          const opcast::Launch& launch) {
  const unsigned blocks = opcast::Blocks(items.experts);
  const opcast::Status status =
      opcast::Start(CountItemsKernel<Items>, blocks, kExpertThreads, 0, launch, items, counts);
  if (!status.ok()) return status;
  return opcast::Start(PlaceItemsKernel<Put>, blocks, kExpertThreads, 0, launch, items, counts,
                       block, put);
}

}  // namespace opcast_ops
