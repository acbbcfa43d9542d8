// Attention of one query of each sequence over many keys: o = softmax(scores) @ v.
//
// The keys of a sequence are cut into chunks of 256. A block has a chunk and up to 8 query heads
// that share its keys and values, so that these are read once: first it makes all scores, then
// their weights relative to the chunk's largest score, then it adds up the weighted values. A
// second kernel merges the chunks of each head in order, behind its sink. All is float, rounded
// once.
//
// A team of 16 lanes has a row of keys or values, 16 bytes of each lane at a time; what its lanes
// summed is then added by halves, so that lanes end with different scores. Bits of a head depend on
// the keys that it sees and their places only: neither on other heads and sequences, nor on the
// grid, nor on whether rows are whole vectors.
//
// Shared memory: 14 to 45 KB.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cuda/attention/decode_chunks.h"
#include "cuda/lib/count_division.h"
#include "cuda/lib/exp.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int64_t kBlocksPerProcessor = 32;  // that share the chunks, if there are as many

// The chunks of a sequence: those of keys `begin` to `end`.
struct Seen {
  int64_t begin, end;

  template <class T, class C, class Source>
  OPCAST_DEVICE Seen(const DecodeCall<T, C, Source>& call, int64_t b) {
    end = call.source.Count(b);
    begin = end == 0 ? 0 : call.sight.Begin(end - 1);
  }
  OPCAST_DEVICE int64_t First() const { return begin / kChunk; }
  OPCAST_DEVICE int64_t End() const { return (end + kChunk - 1) / kChunk; }
  OPCAST_DEVICE Chunk At(int64_t chunk) const {
    const int64_t first = chunk * kChunk < begin ? begin : chunk * kChunk;
    const int64_t last = (chunk + 1) * kChunk < end ? (chunk + 1) * kChunk : end;
    return {first, static_cast<int>(last - first)};
  }
};

// Every stripes-th chunk of a sequence, for `heads` queries from `head` on.
template <bool kWhole, int kHeads, class T, class C, class Source>
OPCAST_DEVICE void DecodeStripe(const DecodeCall<T, C, Source>& call, int64_t b, int64_t stripe,
                                int64_t head, int64_t kv_head, int heads,
                                ChunkShared<kHeads>& shared) {
  const Seen seen(call, b);
  OPCAST_NO_UNROLL
  for (int64_t n = seen.First() + stripe; n < seen.End(); n += call.stripes) {
    const Chunk chunk = seen.At(n);
    const int64_t part = call.source.FirstPart(b) + n;
    OPCAST_NO_UNROLL
    for (int i = threadIdx.x; i < chunk.count; i += kDecodeThreads)
      call.source.Find(b, kv_head, chunk.first + i, &shared.k[i], &shared.v[i]);
    __syncthreads();
    ScoreChunk<kWhole, kHeads>(call, chunk, b, head, heads, shared);
    __syncthreads();
    WeighChunk<kHeads>(call, chunk, part, head, heads, shared);
    __syncthreads();
    SumChunk<kWhole, kHeads>(call, chunk, part, head, heads, shared);
    if (call.columns == 0) __syncthreads();
  }
}

template <bool kWhole, int kHeads, class T, class C, class Source>
__global__ void __launch_bounds__(kDecodeThreads, kWhole&& kHeads == 1 ? 4 : 3)
    ChunksKernel(DecodeCall<T, C, Source> call) {
  __shared__ ChunkShared<kHeads> shared;
  const int64_t tiles = (call.group + kHeads - 1) / kHeads, kv_heads = call.heads / call.group;
  const int64_t all = call.sequences * kv_heads * tiles * call.stripes;
  for (int64_t n = blockIdx.x; n < all; n += gridDim.x) {
    const Divided stripe = Divide(n, call.stripes), tile = Divide(stripe.quotient, tiles);
    const Divided kv_head = Divide(tile.quotient, kv_heads);
    const int64_t first = tile.rest * kHeads, left = call.group - first;
    DecodeStripe<kWhole, kHeads>(call, kv_head.quotient, stripe.rest,
                                 kv_head.rest * call.group + first, kv_head.rest,
                                 left < kHeads ? static_cast<int>(left) : kHeads, shared);
  }
}

// A block merges the chunks of a sequence and head in order.
template <class T, class C, class Source>
__global__ void __launch_bounds__(kDecodeThreads) MergeChunksKernel(DecodeCall<T, C, Source> call) {
  for (int64_t row = blockIdx.x; row < call.sequences * call.heads; row += gridDim.x) {
    const Divided b = Divide(row, call.heads);
    const Seen seen(call, b.quotient);
    const int64_t first = call.source.FirstPart(b.quotient);
    const auto place = [&](int64_t n) { return (first + n) * call.heads + b.rest; };
    const float sink = call.sinks == nullptr ? -INFINITY : call.sinks[b.rest];
    float largest = sink;
    for (int64_t n = seen.First(); n < seen.End(); ++n) {
      const float one = call.states[place(n) * 2];
      largest = one > largest ? one : largest;
    }
    const auto weigh = [largest](float score) {
      return Exp(score - (largest == -INFINITY ? 0.0f : largest)).Value();
    };
    const auto factor = [&](int64_t n) { return weigh(call.states[place(n) * 2]); };
    float weights = weigh(sink);
    for (int64_t n = seen.First(); n < seen.End(); ++n)
      weights = fmaf(factor(n), call.states[place(n) * 2 + 1], weights);
    if (threadIdx.x == 0) call.lse[row] = weights == 0 ? -INFINITY : largest + logf(weights);
    const float v_scale = call.v_scale == nullptr ? 1 : *call.v_scale;
    for (int64_t column = threadIdx.x; column < call.columns; column += kDecodeThreads) {
      float sum = 0;
      for (int64_t n = seen.First(); n < seen.End(); ++n)
        sum = fmaf(factor(n), call.sums[place(n) * call.columns + column], sum);
      call.o[row * call.columns + column] =
          Round<T>((weights == 0 ? sum : sum / weights) * v_scale);
    }
  }
}

// Starts both kernels. `whole` says whether all rows are whole vectors, and `most` how many keys a
// sequence can have.
template <class T, class C, class Source>
opcast::Status Decode(const opcast::Launch& launch, bool whole, int64_t most,
                      DecodeCall<T, C, Source> call) {
  const auto start = [&](auto kernel, int heads) {
    const int64_t places =
        call.sequences * (call.heads / call.group) * ((call.group + heads - 1) / heads);
    if (places == 0) return opcast::Status::Ok();
    const int64_t chunks = std::max<int64_t>(1, most / kChunk + (most % kChunk != 0));
    const int64_t wanted = (launch.sm_count * kBlocksPerProcessor + places - 1) / places;
    call.stripes = std::clamp<int64_t>(wanted, 1, chunks);
    return opcast::Start(kernel, opcast::Blocks(places * call.stripes), kDecodeThreads, 0, launch,
                         call);
  };
  opcast::Status status = opcast::Status::Ok();
  if (!whole)
    status = start(ChunksKernel<false, 1, T, C, Source>, 1);
  else if (call.group == 1)
    status = start(ChunksKernel<true, 1, T, C, Source>, 1);
  else if (call.group <= 4)
    status = start(ChunksKernel<true, 4, T, C, Source>, 4);
  else
    status = start(ChunksKernel<true, 8, T, C, Source>, 8);
  if (!status.ok()) return status;
  return opcast::Start(MergeChunksKernel<T, C, Source>, opcast::Blocks(call.sequences * call.heads),
                       kDecodeThreads, 0, launch, call);
}

}  // namespace opcast_ops
