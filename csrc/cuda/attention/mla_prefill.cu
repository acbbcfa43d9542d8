// o = softmax(sm_scale * q @ kv.T) @ the first kv_lora_rank columns of kv for each head, and the
// logarithm of the softmax's denominator, for every query over the rows that it sees.
//
// A block has a query and a head. It takes the rows in steps: a warp makes the score of a row, and
// then the threads add the rows to columns of their own in shared memory, in order. All is float,
// rounded once.
//
// Registers: at most 64.
// sass: allows call in PrefillKernel: precision, as the head of this file says
// sass: allows narrow in PrefillKernel: rows at any address
#include "common/mla_prefill.h"
#include "mla_prefill.gen.h"
#include "opcast/device.h"

namespace opcast_ops {
namespace {

using opcast::kWarp;

constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kRows = 128;  // of a step

template <class T>
struct Call {
  const T *q, *kv;
  T* o;
  float* lse;
  int64_t queries, heads, width, values;
  float scale;
  Sequences sequences;
};

OPCAST_DEVICE float Larger(float a, float b) { return a > b ? a : b; }

// What a block has in shared memory besides its sums.
struct Shared {
  float weights[kRows];  // scores before
};

// Makes the scores of `count` rows.
template <class T>
OPCAST_DEVICE void Score(const Call<T>& call, const T* q, const T* kv, int64_t count,
                         Shared& shared) {
  for (int64_t i = threadIdx.x / kWarp; i < count; i += kWarps) {
    float sum = 0;
    for (int64_t c = opcast::Lane(); c < call.width; c += kWarp)
      sum = fmaf(static_cast<float>(q[c]), static_cast<float>(kv[i * call.width + c]), sum);
    sum = opcast::WarpReduce(sum, [](float a, float b) { return a + b; });
    if (opcast::Lane() == 0) shared.weights[i] = call.scale * sum;
  }
}

// The largest of `count` scores. NaN are passed over: they make the sum NaN.
OPCAST_DEVICE float Largest(int64_t count, const Shared& shared) {
  float largest = -INFINITY;
  for (int64_t i = 0; i < count; ++i) largest = Larger(shared.weights[i], largest);
  return largest;
}

// Computes a head of a query.
template <class T>
OPCAST_DEVICE void Attend(const Call<T>& call, int64_t place, const Seen& seen, float* sums,
                          Shared& shared) {
  for (int64_t c = threadIdx.x; c < call.values; c += kThreads) sums[c] = 0;
  float largest = -INFINITY, sum = 0;  // the same in all threads
  for (int64_t first = 0; first < seen.count; first += kRows) {
    const int64_t count = seen.count - first < kRows ? seen.count - first : kRows;
    const T* const kv = call.kv + (seen.first + first) * call.width;
    Score(call, call.q + place * call.width, kv, count, shared);
    __syncthreads();
    const float before = largest;
    largest = Larger(Largest(count, shared), largest);
    // While all scores are -inf, weights are zero.
    const float base = largest == -INFINITY ? 0.0f : largest, shrink = expf(before - base);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < count; i += kThreads)
      shared.weights[i] = expf(shared.weights[i] - base);
    __syncthreads();
    float step = 0;
    for (int64_t i = 0; i < count; ++i) step += shared.weights[i];
    sum = fmaf(sum, shrink, step);
    for (int64_t c = threadIdx.x; c < call.values; c += kThreads) {
      float of_column = sums[c] * shrink;
      for (int64_t i = 0; i < count; ++i)
        of_column = fmaf(shared.weights[i], static_cast<float>(kv[i * call.width + c]), of_column);
      sums[c] = of_column;
    }
    __syncthreads();
  }
  for (int64_t c = threadIdx.x; c < call.values; c += kThreads)
    call.o[place * call.values + c] = static_cast<T>(seen.count == 0 ? 0.0f : sums[c] / sum);
  if (threadIdx.x == 0)
    call.lse[place] = seen.count == 0 ? -INFINITY : sum == 0 ? NAN : largest + logf(sum);
}

template <class T>
__global__ void __launch_bounds__(kThreads) PrefillKernel(Call<T> call) {
  __shared__ Shared shared;
  float* const sums = opcast::DynamicShared<float>();
  for (int64_t place = blockIdx.x; place < call.queries * call.heads; place += gridDim.x) {
    Attend(call, place, call.sequences.Of(place / call.heads), sums, shared);
    __syncthreads();  // the next place has other sums
  }
}

}  // namespace

opcast::Status MlaPrefillCuda(const MlaPrefillArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Sequences sequences{a.cu_seqlens_q, a.cu_seqlens_k, a.B, a.Tk, a.causal};
    const Call<T> call{
        a.q,      a.kv, a.o, a.lse, a.Tq, a.H, a.D, a.kv_lora_rank, static_cast<float>(a.sm_scale),
        sequences};
    const size_t bytes = static_cast<size_t>(a.kv_lora_rank) * sizeof(float);
    return opcast::Start(PrefillKernel<T>, opcast::Blocks(a.Tq * a.H), kThreads, bytes, launch,
                         call);
  });
}

}  // namespace opcast_ops
