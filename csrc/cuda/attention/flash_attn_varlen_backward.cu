// Gradients of flash_attn_varlen: with p = e^(score - lse), delta = grad_o . o - grad_lse and
// grad_s = p (grad_o . v - delta), which the slope of soft_cap and sm_scale multiply, grad_v is the
// sum of p grad_o, grad_k that of grad_s q, grad_q that of grad_s k. grad_sinks is less the sum of
// e^(sink - lse) delta.
//
// A warp has a row of grad_q, or a key's rows of grad_k and grad_v, and goes over what they meet in
// order: lanes are first those it meets, then columns. So there are no atomics, and bits depend on
// the sequence only. All is float, rounded once, sums for sinks double.
//
// Registers: at most 96.
// sass: allows narrow in DeltaKernel: rows at any address
// sass: allows call in KeyKernel: indices beyond 32 bits
// sass: allows narrow in KeyKernel: rows at any address
// sass: allows generic in QueryKernel: tiles are passed to functions by pointers
// sass: allows narrow in QueryKernel: rows at any address
#include "cuda/attention/attention_backward.h"
#include "flash_attn_varlen_backward.gen.h"

namespace opcast_ops {
namespace {

// What a query and a key have to do with each other.
struct Bond {
  float weight, grad;  // of the values, and of the product
};

template <bool kWhole, class T>
OPCAST_DEVICE Bond BondOf(const BackwardCall<T>& call, int64_t query, int64_t head, const T* k,
                          const T* v) {
  const int64_t row = query * call.heads + head;
  const float lse = call.lse[row];
  if (lse == -INFINITY) return {0, 0};
  const SightAndScores& sight = call.sight;
  const float score = sight.Score(Dot<kWhole>(call.Q(query, head), k, call.depth));
  const float less = score - lse;
  const float weight = less > 100 ? INFINITY : Exp(less).Value();
  const float of_weight =
      Dot<kWhole>(call.grad_o + row * call.columns, v, call.columns) - call.deltas[row];
  const float tangent = sight.capped ? score / sight.cap : 0;
  return {weight, weight * of_weight * ((1 - tangent) * (1 + tangent)) * sight.scale};
}

// Adds n numbers from `column` on, times a factor, to the lane's columns.
template <class T>
OPCAST_DEVICE void AddLine(const T* from, int64_t column, int64_t n, float factor,
                           float (&sums)[kAttentionAcross]) {
  OPCAST_UNROLL
  for (int c = 0; c < kAttentionAcross; ++c) {
    const int64_t at = column + c * opcast::kWarp + opcast::Lane();
    if (at < n) sums[c] = fmaf(factor, static_cast<float>(from[at]), sums[c]);
  }
}

// Adds the sums of some lines to those of all before: a long sum in float loses less so.
OPCAST_DEVICE void AddSums(const float (&sums)[kAttentionAcross],
                           float (&totals)[kAttentionAcross]) {
  OPCAST_UNROLL
  for (int c = 0; c < kAttentionAcross; ++c) totals[c] += sums[c];
}

template <class T>
OPCAST_DEVICE void WriteLine(const float (&sums)[kAttentionAcross], int64_t column, int64_t n,
                             T* to) {
  OPCAST_UNROLL
  for (int c = 0; c < kAttentionAcross; ++c) {
    const int64_t at = column + c * opcast::kWarp + opcast::Lane();
    if (at < n) to[at] = Round<T>(sums[c]);
  }
}

template <bool kWhole, class T>
__global__ void __launch_bounds__(kAttentionThreads) QueryKernel(BackwardCall<T> call) {
  __shared__ float shared[kAttentionWarps][opcast::kWarp];
  float* const grads = shared[threadIdx.x / opcast::kWarp];
  const int64_t rows = call.queries * call.heads, step = int64_t{gridDim.x} * kAttentionWarps;
  for (int64_t row = int64_t{blockIdx.x} * kAttentionWarps + threadIdx.x / opcast::kWarp;
       row < rows; row += step) {
    const int64_t query = row / call.heads, head = row % call.heads;
    const auto at = call.source.At(query, head / call.Group());
    const int64_t end = at.there ? call.sight.End(at.place, at.keys.count) : 0;
    for (int64_t column = 0; column < call.depth; column += kAttentionColumns) {
      float totals[kAttentionAcross] = {};
      OPCAST_NO_UNROLL
      for (int64_t first = call.sight.Begin(at.place); first < end; first += opcast::kWarp) {
        const int64_t key = first + opcast::Lane();
        grads[opcast::Lane()] =
            key < end ? BondOf<kWhole>(call, query, head, at.keys.K(key), at.keys.V(key)).grad
                      : 0.0f;
        opcast::SyncWarp();
        float sums[kAttentionAcross] = {};
        OPCAST_NO_UNROLL
        for (int i = 0; i < opcast::kWarp && first + i < end; ++i)
          AddLine(at.keys.K(first + i), column, call.depth, grads[i], sums);
        AddSums(sums, totals);
        opcast::SyncWarp();
      }
      WriteLine(totals, column, call.depth, call.grad_q + row * call.depth);
    }
  }
}

// The queries of a sequence that see a key.
struct Watchers {
  int64_t b = -1, first = 0, last = 0;
};

template <class T>
OPCAST_DEVICE Watchers WatchersOf(const BackwardCall<T>& call, int64_t key) {
  const Offsets &keys = call.source.keys, &queries = call.source.queries;
  const int64_t b = keys.Of(key);
  if (b < 0 || key >= keys.Begin(b) + keys.Length(b)) return {};
  const int64_t begin = queries.Begin(b), count = queries.Length(b), own = key - keys.Begin(b);
  const int64_t more = keys.Length(b) - count;  // place of the first query
  int64_t first = call.sight.causal && own > more ? own - more : 0, last = count;
  const int64_t reach = own - more;  // the query whose place is the key's
  if (call.sight.windowed && call.sight.window < count - reach)
    last = reach + call.sight.window + 1 < count ? reach + call.sight.window + 1 : count;
  first = first < last ? first : last;
  return {b, begin + (first > 0 ? first : 0), begin + (last > 0 ? last : 0)};
}

template <bool kWhole, class T>
__global__ void __launch_bounds__(kAttentionThreads) KeyKernel(BackwardCall<T> call) {
  __shared__ Bond shared[kAttentionWarps][opcast::kWarp];
  Bond* const bonds = shared[threadIdx.x / opcast::kWarp];
  const int64_t rows = call.keys * call.key_heads, step = int64_t{gridDim.x} * kAttentionWarps;
  const int64_t most = call.depth > call.columns ? call.depth : call.columns;
  for (int64_t row = int64_t{blockIdx.x} * kAttentionWarps + threadIdx.x / opcast::kWarp;
       row < rows; row += step) {
    const int64_t key = row / call.key_heads, head = row % call.key_heads, group = call.Group();
    const Watchers watchers = WatchersOf(call, key);
    const T* const k = call.source.k + key * call.source.k_token + head * call.source.k_head;
    const T* const v = call.source.v + key * call.source.v_token + head * call.source.v_head;
    const int64_t count = (watchers.last - watchers.first) * group;
    const auto query = [&](int64_t i) { return watchers.first + i / group; };
    const auto of_group = [&](int64_t i) { return head * group + i % group; };
    for (int64_t column = 0; column < most; column += kAttentionColumns) {
      float all_k[kAttentionAcross] = {}, all_v[kAttentionAcross] = {};
      OPCAST_NO_UNROLL
      for (int64_t first = 0; first < count; first += opcast::kWarp) {
        const int64_t own = first + opcast::Lane();
        bonds[opcast::Lane()] =
            own < count ? BondOf<kWhole>(call, query(own), of_group(own), k, v) : Bond{0, 0};
        opcast::SyncWarp();
        float grad_k[kAttentionAcross] = {}, grad_v[kAttentionAcross] = {};
        OPCAST_NO_UNROLL
        for (int64_t i = first; i < count && i < first + opcast::kWarp; ++i) {
          const int64_t place = query(i) * call.heads + of_group(i);
          const Bond bond = bonds[i - first];
          AddLine(call.Q(query(i), of_group(i)), column, call.depth, bond.grad, grad_k);
          AddLine(call.grad_o + place * call.columns, column, call.columns, bond.weight, grad_v);
        }
        AddSums(grad_k, all_k);
        AddSums(grad_v, all_v);
        opcast::SyncWarp();
      }
      WriteLine(all_k, column, call.depth, call.grad_k + row * call.depth);
      WriteLine(all_v, column, call.columns, call.grad_v + row * call.columns);
    }
  }
}

template <bool kWhole, class T>
opcast::Status StartAll(const BackwardCall<T>& call, const opcast::Launch& launch) {
  const auto tiles = [](int64_t rows) {
    return opcast::Blocks((rows + kAttentionWarps - 1) / kAttentionWarps);
  };
  const dim3 rows = tiles(call.queries * call.heads), keys = tiles(call.keys * call.key_heads);
  opcast::Status status = StartDeltas<kWhole, opcast::kWarp>(call, launch);
  if (status.ok())
    status = opcast::Start(QueryKernel<kWhole, T>, rows, kAttentionThreads, 0, launch, call);
  if (status.ok())
    status = opcast::Start(KeyKernel<kWhole, T>, keys, kAttentionThreads, 0, launch, call);
  return status.ok() ? StartSinks(call, launch) : status;
}

}  // namespace

opcast::Status FlashAttnVarlenBackwardCuda(const FlashAttnVarlenBackwardArgs& args,
                                           const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const BackwardCall<T> call = BackwardCallOf<T>(a);
    const DenseSequences<T>& source = call.source;
    const bool whole = AlignedRows<T>({a.q, a.k}, a.D) &&
                       AlignedRows<T>({a.v, a.o, a.grad_o}, a.Dv) &&
                       AllWhole<T>({call.q_token, call.q_head, source.k_token, source.k_head,
                                    source.v_token, source.v_head});
    return whole ? StartAll<true>(call, launch) : StartAll<false>(call, launch);
  });
}

}  // namespace opcast_ops
