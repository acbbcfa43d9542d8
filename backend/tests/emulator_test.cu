// Tests of the emulator, and of device.h on it. Prints "ok N checks"; a failed check prints its
// line and the exit code is 1. The argument "block" or "warp" runs a kernel that diverges there
// instead, "bound" one with more threads than it may have, "element" and "behind" one that writes
// beyond its shared memory.
#include <cstdio>
#include <cstring>
#include <vector>

#include "opcast/device.h"

namespace {

int checks = 0, failures = 0;

void Check(bool ok, int line) {
  ++checks;
  if (!ok && ++failures) std::printf("emulator_test.cu:%d: failed\n", line);
}
#define CHECK(ok) Check(ok, __LINE__)

const opcast::Launch kLaunch{};

__global__ void Places(int* seen) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  seen[block * static_cast<int>(blockDim.x * blockDim.y * blockDim.z) + thread] += 1;
}

void TestPlaces() {
  std::vector<int> seen(2 * 3 * 2 * 5 * 2 * 3);
  CHECK(opcast::Start(Places, dim3(2, 3, 2), dim3(5, 2, 3), 0, kLaunch, seen.data()).ok());
  for (const int count : seen) CHECK(count == 1);
  CHECK(opcast::Start(Places, 0, 32, 0, kLaunch, seen.data()).ok());  // nothing to start
  CHECK(seen[0] == 1);
}

// Each thread writes its number, and the block reads those of others after a barrier.
__global__ void Sums(const float* x, int n, double* sum, float* reversed) {
  __shared__ double parts[32];
  float* const all = opcast::DynamicShared<float>();
  const int i = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  all[i] = i < n ? x[i] : 0;
  __syncthreads();
  reversed[i] = all[size - 1 - i];
  const double part = opcast::WarpReduce(double{all[i]}, [](double a, double b) { return a + b; });
  if (opcast::Lane() == 0) parts[i / opcast::kWarp] = part;
  __syncthreads();
  if (i > 0) return;
  *sum = 0;
  for (int w = 0; w < size / opcast::kWarp; ++w) *sum += parts[w];
}

void TestBarriers() {
  std::vector<float> x(100), reversed(128);
  double sum = 0;
  for (int i = 0; i < 100; ++i) x[i] = static_cast<float>(i);
  opcast::Start(Sums, 1, 128, 128 * sizeof(float), kLaunch, x.data(), 100, &sum, reversed.data());
  CHECK(sum == 4950);
  for (int i = 0; i < 100; ++i) CHECK(reversed[127 - i] == i);
}

__global__ void Shuffles(int* out) {
  const int lane = opcast::Lane();
  out[lane] = opcast::ShuffleXor(lane, 5);
  out[32 + lane] = opcast::WarpReduce(lane, [](int a, int b) { return a > b ? a : b; }, 4);
}

void TestShuffles() {
  int out[64];
  opcast::Start(Shuffles, 1, 32, 0, kLaunch, &out[0]);
  for (int lane = 0; lane < 32; ++lane) {
    CHECK(out[lane] == (lane ^ 5));
    CHECK(out[32 + lane] == lane / 4 * 4 + 3);
  }
}

template <class T>
__global__ void Product(const T* a, const T* b, float* c) {
  namespace wmma = opcast::wmma;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
  sum.ForEach([&](float& x, int row, int column) { c[256 + row * 16 + column] = x; });
}

template <class T>
void TestProduct() {
  std::vector<T> a(256), b(256);
  std::vector<float> c(512);
  for (int i = 0; i < 256; ++i) {
    a[i] = static_cast<T>(static_cast<float>(i % 7));
    b[i] = static_cast<T>(static_cast<float>(i % 5 - 2));
  }
  opcast::Start(Product<T>, 1, 32, 0, kLaunch, a.data(), b.data(), c.data());
  for (int i = 0; i < 256; ++i) {
    float want = 1;
    for (int k = 0; k < 16; ++k)
      want += static_cast<float>(a[i / 16 * 16 + k]) * static_cast<float>(b[i % 16 * 16 + k]);
    CHECK(c[i] == want && c[256 + i] == want);
  }
}

// Notes in which turn each thread came, with nothing that orders lanes, warps and blocks.
__global__ void Turns(int* turns, int* next) {
  turns[blockIdx.x * blockDim.x + threadIdx.x] = (*next)++;
}

// What needs an order that nothing asks for is wrong in some launch: any two blocks, warps or lanes
// come in both orders.
void TestOrders() {
  constexpr int kBlocks = 3, kThreads = 160, kAll = kBlocks * kThreads;
  const int other[] = {1, 17, opcast::kWarp, 4 * opcast::kWarp, kThreads, 2 * kThreads};
  int before[6] = {};
  for (int launch = 0; launch < 12; ++launch) {
    std::vector<int> turns(kAll, -1), seen(kAll);
    int next = 0;
    opcast::Start(Turns, kBlocks, kThreads, 0, kLaunch, turns.data(), &next);
    for (const int turn : turns) ++seen[turn];
    for (const int count : seen) CHECK(count == 1);
    for (int i = 0; i < 6; ++i) before[i] += turns[0] < turns[other[i]];
  }
  for (const int count : before) CHECK(count > 0 && count < 12);
}

// The sums of two arrays by way of the same shared memory, and perhaps no barrier between them.
__global__ void TwoSums(int* sums, bool races) {
  __shared__ int parts[2];
  for (int turn = 0; turn < 2; ++turn) {
    const int part = opcast::WarpReduce(turn + 1, [](int a, int b) { return a + b; });
    if (opcast::Lane() == 0) parts[threadIdx.x / opcast::kWarp] = part;
    __syncthreads();
    sums[turn * blockDim.x + threadIdx.x] = parts[0] + parts[1];
    if (!races) __syncthreads();
  }
}

void TestMissingBarrier() {
  for (const bool races : {false, true}) {
    int wrong = 0;
    for (int launch = 0; launch < 4; ++launch) {
      std::vector<int> sums(4 * opcast::kWarp);
      opcast::Start(TwoSums, 1, 2 * opcast::kWarp, 0, kLaunch, sums.data(), races);
      for (int i = 0; i < 4 * opcast::kWarp; ++i)
        wrong += sums[i] != 2 * opcast::kWarp * (i / (2 * opcast::kWarp) + 1);
    }
    CHECK(races == (wrong > 0));
  }
}

// Counts bytes of shared memory that are not those of NaN before they are written.
__global__ void Unwritten(int* others) {
  unsigned char* const bytes = opcast::DynamicShared<unsigned char>();
  for (int i = 0; i < 100; ++i) *others += bytes[i] != 0xff;
  for (int i = 0; i < 100; ++i) bytes[i] = 0;
}

void TestUnwritten() {
  int others = 0;
  opcast::Start(Unwritten, 3, 1, 100, kLaunch, &others);
  CHECK(others == 0);
}

void TestOffsets() {
  const int64_t shape[] = {2, 1, 3, 4, 8}, strides[] = {500, 7, 64, 16, 1};
  const opcast::Layout layout{5, shape, strides, 1};
  const opcast::BatchOffsets offsets(layout);
  for (int64_t i = 0; i < 24; ++i) CHECK(offsets(i) == layout.Batch(i));
  CHECK(offsets.DivisibleBy(4) && !offsets.DivisibleBy(8));
}

__global__ void DivergesInBlock() {
  if (threadIdx.x < 40) __syncthreads();
}
__global__ void DivergesInWarp() {
  if (threadIdx.x % 2 == 0) opcast::SyncWarp();
}
__global__ void WritesElement() {
  __shared__ double parts[8];
  static_cast<void>(parts);
  parts[threadIdx.x] = 1;
}
__global__ void WritesBehind() { opcast::DynamicShared<float>()[threadIdx.x] = 1; }
__global__ void __launch_bounds__(32) Bounded() { opcast::device::StayWithin(32, __func__); }

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*kernel)();
  } misuses[] = {{"warp", DivergesInWarp},
                 {"block", DivergesInBlock},
                 {"bound", Bounded},
                 {"element", WritesElement},
                 {"behind", WritesBehind}};
  for (const auto& m : misuses)
    if (argc > 1 && std::strcmp(argv[1], m.name) == 0) opcast::Start(m.kernel, 1, 64, 60, kLaunch);
  opcast::Start(Bounded, 1, 32, 0, kLaunch);
  TestPlaces();
  TestBarriers();
  TestShuffles();
  TestProduct<opcast::f16>();
  TestProduct<opcast::bf16>();
  TestOrders();
  TestMissingBarrier();
  TestUnwritten();
  TestOffsets();
  if (failures == 0) std::printf("ok %d checks\n", checks);
  return failures == 0 ? 0 : 1;
}
