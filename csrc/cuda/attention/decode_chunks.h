// What a block does with one chunk of the keys of a sequence: scores, weights, and the sum of the
// weighted values. See decode_attention.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/attention/attention.h"
#include "cuda/lib/exp.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "cuda/quant/codes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kChunk = 256;  // keys, as in the scratch of the definitions
constexpr int kTeam = 16;    // lanes
constexpr int kDecodeThreads = 128, kTeams = kDecodeThreads / kTeam;

// Source says which keys a query has and where they lie:
//   int64_t Count(int64_t n) const        keys
//   int64_t FirstPart(int64_t n) const    where results of its chunks begin in scratch
//   void Find(int64_t n, int64_t head, int64_t key, int64_t* k, int64_t* v) const   offsets in the
//                                         caches
//   kLatent                               whether values are keys, too: then its `latent` are what
//                                         queries they meet, with strides
template <class T, class C, class Source>
struct DecodeCall {
  Source source;
  SightAndScores sight;
  const T* q;
  const C *k, *v;
  const float *k_scale, *v_scale, *sinks;  // of the keys, the values and the heads, or null
  int64_t q_token, q_head;
  T* o;
  float* lse;
  float* sums;    // [parts, heads, columns]: weighted values of a chunk
  float* states;  // [parts, heads, 2]: its largest score, and the sum of weights relative to it
  int64_t sequences, heads, group, depth, columns;
  int64_t stripes;  // a block has each stripes-th chunk
};

// Keys of a chunk that a query sees: `count` of them from `first` on.
struct Chunk {
  int64_t first;
  int count;
};

template <int kHeads>
struct ChunkShared {
  int64_t k[kChunk], v[kChunk];  // offsets of rows
  float weights[kChunk][kHeads];
  float sums[kTeams][kHeads][kTeam * 8];
};

// Adds up each of the first `left` sums over the lanes of a team. Lane l then has those from
// l * left / kTeam on, in the first places; of fewer than kTeam sums, several lanes have the same.
template <int left, int mask = kTeam / 2, int n>
OPCAST_DEVICE void AddOverTeam(float (&sums)[n]) {
  if constexpr (mask > 0) {
    constexpr int kHalf = left / 2;
    const bool upper = (threadIdx.x & mask) != 0;
    OPCAST_UNROLL
    for (int i = 0; i < kHalf; ++i) {
      const float own = upper ? sums[i + kHalf] : sums[i];
      const float other = upper ? sums[i] : sums[i + kHalf];
      sums[i] = own + opcast::ShuffleXor(other, mask, kTeam);
    }
    if constexpr (left == 1) sums[0] += opcast::ShuffleXor(sums[0], mask, kTeam);
    AddOverTeam<left == 1 ? 1 : kHalf, mask / 2>(sums);
  }
}

// As many numbers of a cache as a Vector<T> has, which a thread loads at once.
template <class T, class C>
using CachePart = std::conditional_t<std::is_same_v<T, C>, Vector<T>, Codes<T, C>>;

template <bool kWhole, class T, class C>
OPCAST_DEVICE CachePart<T, C> LoadPart(const C* array, int64_t begin, int64_t n) {
  if constexpr (std::is_same_v<T, C>)
    return Load<kWhole>(array, begin, n);
  else
    return LoadCodes<kWhole, T>(array, begin, n);
}

// Adds the products of queries and keys from `column` on.
template <bool kWhole, int kHeads, int kKeys, class T, class C>
OPCAST_DEVICE void AddProducts(const T* q, int64_t q_head, int heads, float k_scale, const C* k,
                               const int64_t (&offsets)[kKeys], int64_t column, int64_t depth,
                               float (&sums)[kKeys * kHeads]) {
  constexpr int kSize = Vector<T>::kSize;
  CachePart<T, C> keys[kKeys];
  OPCAST_UNROLL
  for (int i = 0; i < kKeys; ++i) keys[i] = LoadPart<kWhole, T>(k + offsets[i], column, depth);
  Floats<T> queries[kHeads];
  OPCAST_UNROLL
  for (int h = 0; h < kHeads; ++h) {
    queries[h] = Widen(Load<kWhole>(q + (h < heads ? h : 0) * q_head, column, depth));
    OPCAST_UNROLL
    for (int e = 0; e < kSize; ++e) queries[h].at[e] *= k_scale;
  }
  OPCAST_UNROLL
  for (int i = 0; i < kKeys; ++i) {
    const Floats<T> key = Widen(keys[i]);
    OPCAST_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      OPCAST_UNROLL
      for (int e = 0; e < kSize; ++e)
        sums[i * kHeads + h] = fmaf(queries[h].at[e], key.at[e], sums[i * kHeads + h]);
    }
  }
}

// A part of the columns that queries from `head` on and keys have.
template <class T, class C>
struct KeyPart {
  const T* q;
  int64_t q_head;
  const C* k;
  const float* scale;
  const int64_t* offsets;  // of the chunk's keys
  int64_t depth;
};

template <bool latent, int kHeads, class T, class C, class Source>
OPCAST_DEVICE KeyPart<T, C> PartOfKeys(const DecodeCall<T, C, Source>& call, int64_t b,
                                       int64_t head, const ChunkShared<kHeads>& shared) {
  if constexpr (latent) {
    const Source& source = call.source;
    const T* const q = source.latent + b * source.latent_token + head * source.latent_head;
    return {q, source.latent_head, call.v, call.v_scale, shared.v, call.columns};
  } else {
    const T* const q = call.q + b * call.q_token + head * call.q_head;
    return {q, call.q_head, call.k, call.k_scale, shared.k, call.depth};
  }
}

// Writes the scores of a chunk, those of `heads` queries from `head` on.
template <bool kWhole, int kHeads, class T, class C, class Source>
OPCAST_DEVICE void ScoreChunk(const DecodeCall<T, C, Source>& call, const Chunk& chunk, int64_t b,
                              int64_t head, int heads, ChunkShared<kHeads>& shared) {
  constexpr int kMostHeads = Source::kLatent ? 1 : 4;  // for which there are registers for 8 keys
  constexpr int kKeys = kHeads > kMostHeads ? 4 : 8, kScores = kKeys * kHeads;
  constexpr int kOwn = kScores > kTeam ? kScores / kTeam : 1;  // of a lane
  constexpr int kParts = Source::kLatent ? 2 : 1;
  const int lane = threadIdx.x % kTeam, last = chunk.count - 1;
  OPCAST_NO_UNROLL
  for (int base = 0; base < chunk.count; base += kTeams * kKeys) {
    const int key = base + static_cast<int>(threadIdx.x) / kTeam * kKeys;
    float sums[kScores] = {};
    OPCAST_NO_UNROLL
    for (int n = 0; n < kParts; ++n) {  // one loop for both needs fewer registers
      const KeyPart<T, C> part = n == 0 ? PartOfKeys<false>(call, b, head, shared)
                                        : PartOfKeys<Source::kLatent>(call, b, head, shared);
      const float scale = part.scale == nullptr ? 1 : *part.scale;
      int64_t offsets[kKeys];
      OPCAST_UNROLL
      for (int i = 0; i < kKeys; ++i) offsets[i] = part.offsets[key + i < last ? key + i : last];
      OPCAST_NO_UNROLL
      for (int64_t at = lane * Vector<T>::kSize; at < part.depth; at += kTeam * Vector<T>::kSize)
        AddProducts<kWhole, kHeads, kKeys>(part.q, part.q_head, heads, scale, part.k, offsets, at,
                                           part.depth, sums);
    }
    AddOverTeam<kScores>(sums);
    OPCAST_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const int at = lane * kScores / kTeam + i, of = key + at / kHeads;
      if (of < chunk.count) shared.weights[of][at % kHeads] = call.sight.Score(sums[i]);
    }
  }
}

// Makes weights of scores. Each warp has its heads.
template <int kHeads, class T, class C, class Source>
OPCAST_DEVICE void WeighChunk(const DecodeCall<T, C, Source>& call, const Chunk& chunk,
                              int64_t part, int64_t head, int heads, ChunkShared<kHeads>& shared) {
  const int warp = threadIdx.x / opcast::kWarp;
  for (int h = warp; h < heads; h += kDecodeThreads / opcast::kWarp) {
    float largest = -INFINITY, sum = 0;
    for (int i = opcast::Lane(); i < chunk.count; i += opcast::kWarp) {
      const float score = shared.weights[i][h];
      largest = score > largest ? score : largest;
    }
    largest = opcast::WarpReduce(largest, [](float a, float b) { return a > b ? a : b; });
    OPCAST_NO_UNROLL
    for (int i = opcast::Lane(); i < chunk.count; i += opcast::kWarp) {
      const float score = shared.weights[i][h];
      const float weight = score == -INFINITY ? 0.0f : Exp(score - largest).Value();
      shared.weights[i][h] = weight;
      sum += weight;
    }
    sum = opcast::WarpReduce(sum, [](float a, float b) { return a + b; });
    float* const state = call.states + (part * call.heads + head + h) * 2;
    if (opcast::Lane() == 0) state[0] = largest, state[1] = sum;
  }
}

// Adds the weighted values of the team's keys, those of columns `column` on of the lane.
template <bool kWhole, int kHeads, class T, class C, class Source>
OPCAST_DEVICE void AddWeighted(const DecodeCall<T, C, Source>& call, const Chunk& chunk,
                               int64_t column, const ChunkShared<kHeads>& shared,
                               float (&sums)[kHeads][Vector<T>::kSize]) {
  constexpr int kSize = Vector<T>::kSize, kKeys = kHeads > 4 ? 4 : 8;
  const auto add = [&](const CachePart<T, C>& part, int key) {
    const Floats<T> values = Widen(part);
    OPCAST_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      const float weight = shared.weights[key][h];
      OPCAST_UNROLL
      for (int e = 0; e < kSize; ++e) sums[h][e] = fmaf(weight, values.at[e], sums[h][e]);
    }
  };
  int key = threadIdx.x / kTeam;
  OPCAST_NO_UNROLL
  for (; key + (kKeys - 1) * kTeams < chunk.count; key += kKeys * kTeams) {
    CachePart<T, C> parts[kKeys];
    OPCAST_UNROLL
    for (int i = 0; i < kKeys; ++i)
      parts[i] = LoadPart<kWhole, T>(call.v + shared.v[key + i * kTeams], column, call.columns);
    OPCAST_UNROLL
    for (int i = 0; i < kKeys; ++i) add(parts[i], key + i * kTeams);
  }
  OPCAST_NO_UNROLL
  for (; key < chunk.count; key += kTeams)
    add(LoadPart<kWhole, T>(call.v + shared.v[key], column, call.columns), key);
}

// Writes the weighted sums of a chunk's values.
template <bool kWhole, int kHeads, class T, class C, class Source>
OPCAST_DEVICE void SumChunk(const DecodeCall<T, C, Source>& call, const Chunk& chunk, int64_t part,
                            int64_t head, int heads, ChunkShared<kHeads>& shared) {
  constexpr int kSize = Vector<T>::kSize, kAcross = kTeam * kSize;
  const int team = threadIdx.x / kTeam, at = threadIdx.x % kTeam * kSize;
  OPCAST_NO_UNROLL
  for (int64_t column = 0; column < call.columns; column += kAcross) {
    float sums[kHeads][kSize] = {};
    if (column + at < call.columns) AddWeighted<kWhole>(call, chunk, column + at, shared, sums);
    OPCAST_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      OPCAST_UNROLL
      for (int e = 0; e < kSize; ++e) shared.sums[team][h][at + e] = sums[h][e];
    }
    __syncthreads();
    OPCAST_NO_UNROLL
    for (int i = threadIdx.x; i < heads * kAcross; i += kDecodeThreads) {
      const int h = i / kAcross, to = i % kAcross;
      float sum = 0;
      OPCAST_UNROLL
      for (int t = 0; t < kTeams; ++t) sum += shared.sums[t][h][to];
      if (column + to < call.columns)
        call.sums[(part * call.heads + head + h) * call.columns + column + to] = sum;
    }
    __syncthreads();
  }
}

}  // namespace opcast_ops
