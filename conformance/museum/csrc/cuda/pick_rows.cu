#include "../bug.h"
#include "block.h"
#include "pick_rows.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 128;
constexpr uintptr_t kBytes = 16;  // that a thread copies at once

template <class T>
struct alignas(kBytes) Vector {
  T at[kBytes / sizeof(T)];
};

struct Bugs {
  bool narrow, assumes_alignment;
};

// Copies n elements: some up to an address that is aligned, then vectors, then the rest.
template <class T>
OPCAST_DEVICE void CopyRow(T* to, const T* from, int64_t n, Bugs bugs) {
  constexpr int64_t kSize = kBytes / sizeof(T);
  const uintptr_t beyond = reinterpret_cast<uintptr_t>(from) % kBytes;
  const bool alike = reinterpret_cast<uintptr_t>(to) % kBytes == beyond || bugs.assumes_alignment;
  int64_t head = beyond == 0 ? 0 : static_cast<int64_t>((kBytes - beyond) / sizeof(T));
  if (!alike || head > n) head = n;
  const int64_t vectors = (n - head) / kSize, tail = head + vectors * kSize;
  for (int64_t i = threadIdx.x; i < head; i += kThreads) to[i] = from[i];
  const auto* const source = reinterpret_cast<const Vector<T>*>(from + head);
  for (int64_t v = threadIdx.x; v < vectors; v += kThreads)
    reinterpret_cast<Vector<T>*>(to + head)[v] = source[v];
  for (int64_t i = tail + threadIdx.x; i < n; i += kThreads) to[i] = from[i];
}

template <class T, class I>
__global__ void __launch_bounds__(kThreads)
    TakeKernel(T* rows, const T* table, const I* ids, int64_t count, int64_t n, int64_t stride,
               Bugs bugs) {
  for (int64_t r = blockIdx.x + static_cast<int64_t>(blockIdx.y); r < count;
       r += gridDim.x + gridDim.y - 1) {
    int64_t at = ids[r] * stride;
    if (bugs.narrow) at = static_cast<int32_t>(at);
    CopyRow(rows + r * n, table + at, n, bugs);
  }
}

}  // namespace

opcast::Status PickRows(const PickRowsArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    dim3 grid(opcast::Blocks(a.N), 1, 1);
    if (BUG("ggml-org/llama.cpp#11189",
            "Each row was a block along y, of which a grid has at most 65,535.")) {
      grid = dim3(1, static_cast<unsigned>(a.N), 1);
    }
    Bugs bugs{};
    bugs.narrow = BUG("vllm-project/vllm#45469",
                      "The offset of a row, its number times the stride, was computed in 32 bits.");
    bugs.assumes_alignment = BUG(
        "vllm-project/vllm#45466",
        "Rows were stored in vectors wherever the source was aligned, though the result was not.");
    return opcast::Start(TakeKernel<T, I>, grid, kThreads, 0, launch, a.rows, a.table, a.ids, a.N,
                         a.D, a.table_layout.Stride(-2), bugs);
  });
}

}  // namespace museum_ops
