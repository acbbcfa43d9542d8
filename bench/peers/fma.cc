// Prints how many GFLOP/s the processor does in fused multiply-adds of float32 that wait for
// nothing: a dozen independent sums per thread, in vectors as wide as the machine has. The argument
// is the number of threads.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 64;
#elif defined(__AVX__)
constexpr int kWidth = 32;
#else
constexpr int kWidth = 16;
#endif
typedef float Vector __attribute__((vector_size(kWidth)));
constexpr int kSums = 12;  // with the factor and the summand they fit into 16 registers
constexpr int kLanes = kWidth / sizeof(float);
constexpr long kSteps = 2'000'000;

// Keeps the compiler from knowing the value.
inline void Hide(Vector& v) { asm volatile("" : "+x"(v)); }

void Spin(float* result) {
  Vector sums[kSums] = {}, factor = {}, other = {};
  factor += 0.5f;
  other += 1.0f;
  Hide(factor);
  Hide(other);
#pragma GCC unroll 12
  for (Vector& sum : sums) Hide(sum);  // or the compiler keeps one sum of twelve that are equal
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + other;
  }
#pragma GCC unroll 12
  for (const Vector& sum : sums) *result += sum[0];
}

double Once(int threads) {
  std::vector<float> results(threads * 64);
  std::vector<std::thread> workers;
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < threads; ++i) workers.emplace_back(Spin, &results[i * 64]);
  for (std::thread& worker : workers) worker.join();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return 2.0 * threads * kSteps * kSums * kLanes / took.count() / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    double now = Once(threads);
    best = now > best ? now : best;
  }
  std::printf("%.1f\n", best);
}
