// grad_weight[v] = the sum of grad_y[i] over the places i with ids[i] = v; dense rows.
// A first kernel makes linked lists of the places with one id, from the first to the
// last: each of its warps owns some rows of the table and goes through all ids from behind. So bits
// depend on the order of ids only, without atomics. Sums are double, rounded once.
//
// Registers: at most 64.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/row_kernels.h"
#include "embedding_backward.gen.h"

namespace opcast_ops {
namespace {

constexpr int kOwned = 512;  // rows of the table that belong to a warp

template <class I>
struct Ids {
  const I* at;
  int64_t count, rows;
  int64_t *first, *after;
};

template <class I>
__global__ void __launch_bounds__(opcast::kWarp) LinkKernel(Ids<I> ids) {
  __shared__ int64_t first[kOwned];
  __shared__ int64_t found[opcast::kWarp];
  const int lane = opcast::Lane();
  for (int64_t low = int64_t{blockIdx.x} * kOwned; low < ids.rows;
       low += int64_t{gridDim.x} * kOwned) {
    for (int v = lane; v < kOwned; v += opcast::kWarp) first[v] = -1;
    const int64_t warps = (ids.count + opcast::kWarp - 1) / opcast::kWarp;
    for (int64_t begin = (warps - 1) * opcast::kWarp; begin >= 0; begin -= opcast::kWarp) {
      const int64_t id = begin + lane < ids.count ? int64_t{ids.at[begin + lane]} : -1;
      const bool own = id >= low && id < low + kOwned;
      if (!opcast::WarpAny(own)) continue;
      found[lane] = own ? id - low : -1;
      opcast::SyncWarp();
      if (lane == 0) {
        for (int l = opcast::kWarp - 1; l >= 0; --l) {
          if (found[l] < 0) continue;
          ids.after[begin + l] = first[found[l]];
          first[found[l]] = begin + l;
        }
      }
      opcast::SyncWarp();
    }
    opcast::SyncWarp();
    for (int v = lane; v < kOwned && low + v < ids.rows; v += opcast::kWarp)
      ids.first[low + v] = first[v];
    opcast::SyncWarp();
  }
}

template <class T>
struct EmbeddingBackwardRow {
  using Element = T;
  T* grad_weight;
  const T* grad_y;
  const int64_t *first, *after;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      double sums[Vector<T>::kSize] = {};
      OPCAST_NO_UNROLL
      for (int64_t i = first[row]; i >= 0; i = after[i]) {
        const Floats<T> values = Widen(Load<Form::kWhole>(grad_y + i * n, begin, n));
        OPCAST_UNROLL
        for (int e = 0; e < values.kSize; ++e) sums[e] += values.at[e];
      }
      Floats<T> result;
      OPCAST_UNROLL
      for (int e = 0; e < result.kSize; ++e) result.at[e] = static_cast<float>(sums[e]);
      Store<Form::kWhole>(Narrow(result), grad_weight + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status EmbeddingBackwardCuda(const EmbeddingBackwardArgs& args,
                                     const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    const Ids<I> ids{a.ids, a.batch, a.V, a.first, a.after};
    const opcast::Status status = opcast::Start(
        LinkKernel<I>, opcast::Blocks((a.V + kOwned - 1) / kOwned), opcast::kWarp, 0, launch, ids);
    if (!status.ok()) return status;
    return ForRows(a.V, a.D, AlignedRows<T>({a.grad_weight, a.grad_y}, a.D), launch,
                   EmbeddingBackwardRow<T>{a.grad_weight, a.grad_y, a.first, a.after});
  });
}

}  // namespace opcast_ops
