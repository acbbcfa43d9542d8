// grad_weight[v] = the sum of grad_y[i] over the places i with ids[i] = v; dense rows. Places with
// one id are a linked list, from the first to the last: so bits depend on their order only, and no
// thread writes to another one's row. Sums are double, rounded once; a row with one place is
// copied.
#include "cpu/lib/standard_headers.h"

#include <cstring>
#include <memory>

#include "cpu/lib/row_reductions.h"
#include "cpu/lib/row_sums.h"
#include "cpu/lib/vector_loops.h"
#include "embedding_backward.gen.h"

namespace opcast_ops {
namespace {

// The lists of places, made from behind.
template <class Typed>
void Link(const Typed& a) {
  std::fill(a.first, a.first + a.V, -1);
  for (int64_t i = a.batch - 1; i >= 0; --i) {
    const int64_t id = a.ids[i];
    a.after[i] = a.first[id];
    a.first[id] = i;
  }
}

// sums[j] += x[j].
template <int kWidth, class T>
inline void AddRow(const T* x, int64_t n, double* sums) {
  ForLanes<kWidth>(n, [=](int64_t j, auto count) {
    WideLanes<kWidth> sum;
    sum.Load(sums + j, count);
    sum.Add(WideLanes<kWidth>(LoadSome<kWidth>(x + j, count)));
    sum.Store(sums + j, count);
  });
}

template <int kWidth, class T>
inline void Narrow(const double* sums, int64_t n, T* to) {
  ForLanes<kWidth>(n, [=](int64_t j, auto count) {
    WideLanes<kWidth> sum;
    sum.Load(sums + j, count);
    sum.Narrow().StoreSome(to + j, count);
  });
}

// The sum of a row whose list begins with place i; `sums` has room for it.
template <int kWidth, class T>
inline void SumList(const T* grad, const int64_t* after, int64_t i, int64_t n, double* sums,
                    T* to) {
  if (after[i] < 0) {
    std::memcpy(to, grad + i * n, sizeof *to * static_cast<size_t>(n));
    return;
  }
  std::fill(sums, sums + n, 0.0);
  for (; i >= 0; i = after[i]) AddRow<kWidth>(grad + i * n, n, sums);
  Narrow<kWidth>(sums, n, to);
}

}  // namespace

opcast::Status EmbeddingBackward(const EmbeddingBackwardArgs& args, const opcast::Launch& launch) {
  if (args.D == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    Link(a);
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const std::unique_ptr<double[]> sums(new double[n]);
      for (int64_t v = begin; v < end;) {
        const int64_t from = v;
        while (v < end && a.first[v] < 0) ++v;
        std::memset(a.grad_weight + from * n, 0, sizeof *a.grad_weight * (v - from) * n);
        for (; v < end && a.first[v] >= 0; ++v)
          SumList<width>(a.grad_y, a.after, a.first[v], n, sums.get(), a.grad_weight + v * n);
      }
    };
    opcast::ParallelFor(launch, a.V, 8 * RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
