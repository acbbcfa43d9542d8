// Tests of the comparison of numbers of all types. Prints "ok N checks"; a failed check prints its
// line and the exit code is 1.
#include "opcast/exact.h"

#include <cmath>
#include <cstdio>

namespace {

using opcast::Exact;

int checks = 0, failures = 0;

void Check(bool ok, int line) {
  ++checks;
  if (!ok && failures++ < 20) std::printf("exact_test.cc:%d: failed\n", line);
}
#define CHECK(...) Check(__VA_ARGS__, __LINE__)

// In ascending order. A double has none of the neighbours of large integers.
const Exact kOrdered[] = {-0x1p64,
                          INT64_MIN,
                          INT64_MIN + 1,
                          int8_t{-3},
                          -2.5,
                          -2,
                          0,
                          0.5f,
                          1u,
                          (int64_t{1} << 62) - 1,
                          0x1p62,
                          (int64_t{1} << 62) + 1,
                          UINT64_MAX - 1,
                          UINT64_MAX,
                          0x1p64,
                          HUGE_VAL};

}  // namespace

int main() {
  const size_t count = sizeof kOrdered / sizeof *kOrdered;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) CHECK((kOrdered[i] <= kOrdered[j]) == (i <= j));
    CHECK(!(kOrdered[i] <= Exact(NAN)) && !(Exact(NAN) <= kOrdered[i]));
  }
  CHECK(Exact(1.0) <= Exact(1) && Exact(1) <= Exact(1.0));
  if (failures > 0) return 1;
  std::printf("ok %d checks\n", checks);
}
