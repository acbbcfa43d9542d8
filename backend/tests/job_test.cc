// Tests of which chunks of a loop a thread takes. Prints "ok N checks"; a failed check prints its
// line and the exit code is 1.
#include "opcast/job.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <thread>
#include <vector>

#include "opcast/kernel.h"
#include "opcast/threads.h"

namespace {

int checks = 0, failures = 0;

#define CHECK(condition)                                                              \
  do {                                                                                \
    ++checks;                                                                         \
    if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition), ++failures; \
  } while (0)

// The first elements of the chunks that a thread takes of a loop, if it comes alone.
std::vector<int64_t> Taken(int64_t chunks, int64_t threads, int64_t own) {
  std::vector<int64_t> taken;
  const auto body = [](void* closure, int64_t begin, int64_t) {
    static_cast<std::vector<int64_t>*>(closure)->push_back(begin);
  };
  opcast::detail::Job job(10 * chunks - 3, 10, chunks, threads, body, &taken);
  job.Work(own);
  job.Work(0);  // finds nothing
  return taken;
}

// A thread begins with its own part, whoever has come before it, and then takes all that is left.
void TestParts() {
  CHECK(Taken(7, 3, 0) == std::vector<int64_t>({0, 10, 20, 30, 40, 50, 60}));
  CHECK(Taken(7, 3, 1) == std::vector<int64_t>({30, 40, 50, 60, 0, 10, 20}));
  CHECK(Taken(7, 3, 2) == std::vector<int64_t>({50, 60, 0, 10, 20, 30, 40}));
  for (const int64_t threads : {1, 2, 63, 64, 65, 200}) {
    for (const int64_t own : {int64_t{0}, threads - 1, threads + 7}) {
      const std::vector<int64_t> taken = Taken(100, threads, own);
      CHECK(taken.size() == 100);
      CHECK(std::set<int64_t>(taken.begin(), taken.end()).size() == 100);
    }
  }
}

// Of two threads that both take part, the caller has the first half each time.
void TestHalves() {
  opcast::SetNumThreads(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int loop = 0; loop < 200; ++loop) {
    std::atomic<int64_t> first[2] = {{-1}, {-1}};
    const opcast::Launch launch{1, 0, nullptr};
    opcast::ParallelFor(launch, 100, 10, [&](int64_t begin, int64_t) {
      const int own = std::this_thread::get_id() == caller ? 0 : 1;
      int64_t none = -1;
      if (!first[own].compare_exchange_strong(none, begin)) return;
      while (first[1 - own] < 0) std::this_thread::yield();
    });
    CHECK(first[0] == 0 && first[1] == 50);
  }
}

}  // namespace

int main() {
  alarm(120);
  TestParts();
  TestHalves();
  if (failures > 0) return 1;
  std::printf("ok %d checks\n", checks);
}
