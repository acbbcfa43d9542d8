// The scheduler of the emulator: fibers, barriers of warps and blocks.
#include "emulator.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "fiber.h"
#include "opcast/fpenv.h"
#include "order.h"

namespace opcast::device {
namespace {

constexpr int kMostThreads = 1024;

// Bytes behind the shared memory that a launch asked for. A sanitizer has its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kGuard = 0;
#else
constexpr size_t kGuard = 256;
#endif

struct Thread {
  enum State { kRuns, kAtWarp, kAtBlock, kDone };

  Place place;
  Fiber fiber;
  State state;
  const char* what;  // file or operation at which it waits
  int line;
  int exchanges;
  unsigned char given[2][8];  // to the warp, in this exchange and in the one before
};

struct Block {
  std::unique_ptr<Thread[]> threads{new Thread[kMostThreads]};
  int count = 0;
  Fiber scheduler;
  const std::function<void()>* body = nullptr;
  void* shared = nullptr;
  Random random;
};

// They differ in the orders of their blocks and threads.
std::atomic<uint64_t> launches{0};

thread_local Block* block;
thread_local Thread* current;

[[noreturn]] void Diverged(const char* where) {
  std::fprintf(stderr, "emulator: not all threads of a %s come to one barrier:\n", where);
  const Thread* before = nullptr;
  for (int i = 0, lines = 0; i < block->count && lines < 8; ++i) {
    const Thread& t = block->threads[i];
    if (before == nullptr || t.state != before->state || t.what != before->what ||
        t.line != before->line) {
      std::fprintf(stderr, "  from thread %d on: %s:%d\n", i,
                   t.state == Thread::kDone ? "returned" : t.what, t.line);
      ++lines;
    }
    before = &t;
  }
  std::abort();
}

void Wait(Thread::State state, const char* what, int line) {
  Thread& t = *current;
  t.state = state;
  t.what = what;
  t.line = line;
  Switch(t.fiber, block->scheduler);
}

// Lets the threads [first, last) go on if all of them wait in one place.
bool Release(int first, int last, Thread::State state, const char* where) {
  Thread* const threads = block->threads.get();
  if (threads[first].state != state) return false;
  for (int i = first + 1; i < last; ++i) {
    const Thread& t = threads[i];
    if (t.state == Thread::kDone) Diverged(where);
    if (t.state != state) return false;
    if (t.what != threads[first].what || t.line != threads[first].line) Diverged(where);
  }
  for (int i = first; i < last; ++i) threads[i].state = Thread::kRuns;
  return true;
}

[[noreturn]] void Enter() {
  Fiber::Entered(block->scheduler);
  (*block->body)();
  current->state = Thread::kDone;
  current->line = 0;
  Switch(current->fiber, block->scheduler);
  std::abort();
}

// A GPU may refuse what was written there, or let it into the memory of another block.
void CheckBehind(size_t shared) {
  const auto* const guard = static_cast<const unsigned char*>(block->shared) + shared;
  const auto* const written = std::find_if(guard, guard + kGuard, [](auto b) { return b != 0xff; });
  if (written == guard + kGuard) return;
  std::fprintf(stderr, "emulator: a block wrote %td bytes behind its %zu of shared memory\n",
               written - guard, shared);
  std::abort();
}

// Runs the threads [first, last), a warp, until each waits for the block or has returned.
void RunWarp(int first, int last, const int (&lanes)[kWarp]) {
  do {
    for (const int lane : lanes) {
      if (first + lane >= last || block->threads[first + lane].state != Thread::kRuns) continue;
      current = &block->threads[first + lane];
      Switch(block->scheduler, current->fiber);
    }
  } while (Release(first, last, Thread::kAtWarp, "warp"));
}

// From one barrier of the block to the next, a warp runs as far as it gets before others begin, in
// another order of warps and lanes each time: so a barrier that is missing shows in results.
void RunBlock() {
  const int count = block->count, warps = (count + kWarp - 1) / kWarp;
  for (int i = 0; i < count; ++i) block->threads[i].fiber.Prepare(Enter);
  do {
    int lanes[kWarp];
    Order order(kWarp, block->random.Next()),
        of_warps(static_cast<uint64_t>(warps), block->random.Next());
    for (int& lane : lanes) lane = static_cast<int>(order.Next());
    for (int i = 0; i < warps; ++i) {
      const int first = static_cast<int>(of_warps.Next()) * kWarp;
      RunWarp(first, std::min(first + kWarp, count), lanes);
    }
  } while (Release(0, count, Thread::kAtBlock, "block"));
  for (int i = 0; i < count; ++i) {
    if (block->threads[i].state != Thread::kDone) Diverged("block");
  }
}

}  // namespace

const Place& Here() { return current->place; }
int WarpLane() { return static_cast<int>(current - block->threads.get()) % kWarp; }
void WaitForBlock(const char* file, int line) { Wait(Thread::kAtBlock, file, line); }
void WaitForWarp(const char* what) { Wait(Thread::kAtWarp, what, 0); }
void* DynamicShared() { return block->shared; }

void StayWithin(unsigned most, const char* kernel) {
  if (static_cast<unsigned>(block->count) <= most) return;
  std::fprintf(stderr, "emulator: %s: %d threads in a block, but its launch bound is %u\n", kernel,
               block->count, most);
  std::abort();
}

void Exchange(const char* what, const void* data, size_t size) {
  std::memcpy(current->given[++current->exchanges % 2], data, size);
  WaitForWarp(what);
}

const void* Peer(int lane) {
  const int own = static_cast<int>(current - block->threads.get());
  return block->threads[own / kWarp * kWarp + lane].given[current->exchanges % 2];
}

void Run(dim3 grid, dim3 size, size_t shared, const std::function<void()>& body) {
  const FpEnv environment;  // a GPU's does not depend on which thread waits for it
  static thread_local Block blocks;
  block = &blocks;
  block->count = static_cast<int>(size.x * size.y * size.z);
  if (block->count < 1 || block->count > kMostThreads) std::abort();
  block->body = &body;
  const std::align_val_t alignment{128};  // as a GPU's is
  block->shared = ::operator new(shared + kGuard, alignment);
  block->random = Random(launches++);
  const uint64_t count = uint64_t{grid.x} * grid.y * grid.z;
  Order order(count, block->random.Next());
  for (uint64_t n = 0; n < count; ++n) {
    const uint64_t i = order.Next();
    std::memset(block->shared, 0xff, shared + kGuard);  // what is read before it is written is NaN
    const uint64_t row = i / grid.x;
    for (int t = 0; t < block->count; ++t) {
      const unsigned line = t / size.x;
      Thread& thread = block->threads[t];
      thread.place = {dim3(t % size.x, line % size.y, line / size.y),
                      dim3(i % grid.x, row % grid.y, static_cast<unsigned>(row / grid.y)), size,
                      grid};
      thread.state = Thread::kRuns;
      thread.exchanges = 0;
    }
    RunBlock();
    CheckBehind(shared);
  }
  ::operator delete(block->shared, alignment);
}

void Bind(std::function<void()> body, EmulatedLaunch* launch) {
  struct Closure {
    dim3 grid, block;
    size_t shared;
    std::function<void()> body;
  };
  const auto dims = [](const unsigned (&n)[3]) { return dim3(n[0], n[1], n[2]); };
  launch->closure =
      new Closure{dims(launch->grid), dims(launch->block), launch->shared, std::move(body)};
  launch->run = [](void* closure) {
    const auto& c = *static_cast<const Closure*>(closure);
    Run(c.grid, c.block, c.shared, c.body);
  };
  launch->destroy = [](void* closure) { delete static_cast<Closure*>(closure); };
}

}  // namespace opcast::device
