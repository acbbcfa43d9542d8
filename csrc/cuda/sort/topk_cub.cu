// values, indices = the k largest or smallest numbers of each row of x, in order, dense, by
// cub::DeviceTopK, row after row. Exact: what CUB compares are ranks, see common/sort_key.h. No two
// of a row are equal, so which ones it finds is certain, though it promises neither that nor an
// order, and a block sorts them.
//
// sass: allows narrow in DeviceTopKHistogramKernel: rows at any address
// sass: allows narrow in DeviceTopKKernel: rows at any address
// sass: allows narrow in DeviceTopKLastFilterKernel: rows at any address
// sass: allows call, narrow in SortRanksKernel: as in TopkKernel
#include <cub/version.cuh>
#include <string>

#include "common/sort_key.h"
#include "cuda/sort/bitonic_sort.h"
#include "opcast/gpu.h"
#include "topk.gen.h"

#if CUB_VERSION >= 300300
#include <cub/device/device_topk.cuh>
#include <cuda/iterator>
#endif

namespace opcast_ops {

#if CUB_VERSION < 300300

const char* TopkCubSupported(const TopkArgs&, const opcast::Launch&) {
  return "this machine lacks cub::DeviceTopK: the library was compiled with CUB before 3.3";
}

opcast::Status TopkCub(const TopkArgs&, const opcast::Launch&) {
  return opcast::Status::Error("compiled without cub::DeviceTopK");
}

#else

namespace {

constexpr int kThreads = 256;

// The rank of a column of a row.
template <class T>
struct RankOf {
  const T* row;
  bool largest;

  OPCAST_HOST_DEVICE uint64_t operator()(int32_t column) const {
    return Rank(RankKey(static_cast<float>(row[column]), largest), column);
  }
};

// Finds the k largest of the ranks of n columns; or, if `work` is null, how many bytes that takes.
template <class T>
cudaError_t FindRanks(const RankOf<T>& rank, int64_t n, int64_t k, uint64_t* ranks, void* work,
                      size_t* bytes, void* stream) {
  namespace execution = cuda::execution;
  const auto columns = cuda::make_transform_iterator(cuda::counting_iterator<int32_t>{0}, rank);
  const cuda::std::execution::env how{cuda::stream_ref{static_cast<cudaStream_t>(stream)},
                                      execution::require(execution::determinism::not_guaranteed,
                                                         execution::output_ordering::unsorted)};
  return cub::DeviceTopK::MaxKeys(work, *bytes, columns, ranks, static_cast<int32_t>(n),
                                  static_cast<int32_t>(k), how);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    SortRanksKernel(const T* x, uint64_t* ranks, T* values, int32_t* indices, int64_t count,
                    int64_t n, int64_t k) {
  for (int64_t row = blockIdx.x; row < count; row += gridDim.x)
    WriteRanked(x + row * n, k, ranks + row * k, values + row * k, indices + row * k);
}

}  // namespace

const char* TopkCubSupported(const TopkArgs& args, const opcast::Launch& launch) {
  if (args.lengths != nullptr) return "rows with lengths of their own";
  const opcast::gpu::DeviceGuard device(launch.device_id);
  if (!device.status().ok()) return "this machine lacks the GPU";
  size_t bytes = 0;
  const cudaError_t error =
      FindRanks(RankOf<float>{}, args.N, args.k, nullptr, nullptr, &bytes, launch.stream);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return static_cast<int64_t>(bytes) <= args.W ? nullptr
                                               : "CUB wants more scratch than is declared";
}

opcast::Status TopkCub(const TopkArgs& args, const opcast::Launch& launch) {
  if (args.k == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    size_t bytes = static_cast<size_t>(a.W);
    for (int64_t row = 0; row < a.batch; ++row) {
      const cudaError_t error = FindRanks(RankOf<T>{a.x + row * a.N, a.largest}, a.N, a.k,
                                          a.ranks + row * a.k, a.workspace, &bytes, launch.stream);
      if (error != cudaSuccess)
        return opcast::Status::Error(std::string("cub::DeviceTopK: ") + cudaGetErrorString(error));
    }
    return opcast::Start(SortRanksKernel<T>, opcast::Blocks(a.batch), kThreads, 0, launch, a.x,
                         a.ranks, a.values, a.indices, a.batch, a.N, a.k);
  });
}

#endif

}  // namespace opcast_ops
