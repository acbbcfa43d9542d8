// Tests of the comparison of numbers of all types, and of making them smaller. Prints "ok N
// checks"; a failed check prints its line and the exit code is 1.
#include "opcast/exact.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "opcast/types.h"

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

// Whether a process that stores a number as 32 bits dies of it.
template <class To>
bool Traps(int64_t number) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    volatile To to = opcast::Narrow<To>(number);
    _exit(to == static_cast<To>(number) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

void TestNarrow() {
  static_assert(opcast::Narrow<int32_t>(int64_t{INT32_MAX}) == INT32_MAX);
  for (const int64_t fits : {int64_t{-1}, int64_t{INT32_MAX}, int64_t{INT32_MIN}})
    CHECK(!Traps<int32_t>(fits));
  CHECK(!Traps<uint32_t>(UINT32_MAX));
  for (const int64_t large : {int64_t{INT32_MAX} + 1, int64_t{INT32_MIN} - 1, int64_t{1} << 32})
    CHECK(Traps<int32_t>(large) == (OPCAST_CHECKED == 1));
  CHECK(Traps<uint32_t>(-1) == (OPCAST_CHECKED == 1));
}

}  // namespace

int main() {
  TestNarrow();
  const size_t count = sizeof kOrdered / sizeof *kOrdered;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) CHECK((kOrdered[i] <= kOrdered[j]) == (i <= j));
    CHECK(!(kOrdered[i] <= Exact(NAN)) && !(Exact(NAN) <= kOrdered[i]));
  }
  CHECK(Exact(1.0) <= Exact(1) && Exact(1) <= Exact(1.0));
  if (failures > 0) return 1;
  std::printf("ok %d checks\n", checks);
}
