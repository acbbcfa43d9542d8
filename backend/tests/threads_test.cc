// Tests of how many threads a loop gets, wakes and starts, and of a machine that has no more memory
// or threads. Prints "ok N checks"; a failed check prints its line and the exit code is 1.
#include "opcast/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "opcast/kernel.h"

namespace {

// How many more allocations and threads there are; negative: as many as there are in truth.
std::atomic<int> allocations{-1}, threads{-1};

bool Take(std::atomic<int>& left) { return left < 0 || left-- > 0; }

}  // namespace

// These replace the ones of the C++ library, and the one of the C library. Inlined, the pair looks
// mismatched to GCC.
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = Take(allocations) ? std::malloc(size) : nullptr;
  return memory != nullptr ? memory : throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return Take(threads) ? create(thread, attributes, start, argument) : EAGAIN;
}

namespace {

const opcast::Launch kLaunch{1, 0, nullptr};
std::atomic<int64_t> checks{0}, failures{0};

void Check(bool ok, int line, double detail = 0) {
  ++checks;
  if (!ok && failures++ < 20) std::printf("threads_test.cc:%d: failed (%.17g)\n", line, detail);
}
#define CHECK(...) Check(__VA_ARGS__, __LINE__)
#define CHECK_FOR(detail, ...) Check(__VA_ARGS__, __LINE__, detail)

// Runs a loop of so many chunks, each on a thread of its own: they wait for each other. Returns the
// threads, without the caller. Too few threads hang, and the alarm ends the program.
std::set<int> Together(int64_t chunks) {
  std::array<std::atomic<int>, 64> ids{};
  std::atomic<int64_t> present{0};
  opcast::ParallelFor(kLaunch, chunks, 1, [&](int64_t begin, int64_t) {
    ids[static_cast<size_t>(begin)] = gettid();
    for (++present; present < chunks;) std::this_thread::yield();
  });
  std::set<int> out(ids.begin(), ids.begin() + chunks);
  CHECK(out.size() == static_cast<size_t>(chunks) && out.erase(gettid()) == 1);
  return out;
}

// A line of a thread's status: the text after "<key>:\t".
std::string StatusOf(int thread, const std::string& key) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size() + 1, key + ":") == 0) return line.substr(key.size() + 2);
  }
  return "";
}

// How often each of these threads has gone to sleep, once all of them sleep. Two passes that agree
// say that all slept at the same time, so none waits for a lock that another one is to release.
std::map<int, std::string> Sleeps(const std::set<int>& ids) {
  for (std::map<int, std::string> last, now;; last.swap(now)) {
    now.clear();
    for (const int id : ids) {
      while (StatusOf(id, "State").front() != 'S') std::this_thread::yield();
      now[id] = StatusOf(id, "voluntary_ctxt_switches");
    }
    if (now == last) return now;
  }
}

// A loop of two chunks wakes one worker of three, and a loop of three chunks wakes two.
void TestWakes() {
  const std::set<int> workers = Together(4);
  for (int round = 0; round < 20; ++round) {
    const int chunks = 2 + round % 2;
    const auto before = Sleeps(workers);
    Together(chunks);
    const auto after = Sleeps(workers);
    int woken = 0;
    for (const int id : workers) woken += before.at(id) != after.at(id);
    CHECK_FOR(woken, woken == chunks - 1);
  }
}

size_t CountThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

int32_t Two(uint32_t* count) {
  *count = 2;
  return 0;
}

int32_t None(uint32_t* count) {
  *count = 0;
  return 0;
}

int32_t Fails(uint32_t* count) {
  *count = 1;
  return 1;
}

// Workers start when a loop needs them, and never more than were asked for.
void TestSetting() {
  CHECK(opcast::NumThreads() == 4);
  std::thread([] {}).join();  // sanitizers start a thread of their own with the first one
  const size_t before = CountThreads();
  opcast::SetNumThreads(1);
  opcast::ParallelFor(kLaunch, 100, 1, [](int64_t, int64_t) {});
  CHECK(opcast::NumThreads() == 1 && CountThreads() == before);
  opcast::SetNumThreads(3);
  Together(2);
  CHECK(CountThreads() == before + 1);
  Together(3);
  opcast::ParallelFor(kLaunch, 100, 1, [](int64_t, int64_t) {});
  CHECK(opcast::NumThreads() == 3 && CountThreads() == before + 2);
  opcast::LimitThreads(Two);
  CHECK(opcast::NumThreads() == 2);
  opcast::LimitThreads(None);
  CHECK(opcast::NumThreads() == 1);
  opcast::LimitThreads(Fails);
  CHECK(opcast::NumThreads() == 3);
  opcast::LimitThreads(nullptr);
  CHECK(opcast::NumThreads() == 3);
  for (const int wrong : {0, -1, opcast::kMaxThreads + 1}) {
    bool refused = false;
    try {
      opcast::SetNumThreads(wrong);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK_FOR(wrong, refused && opcast::NumThreads() == 3);
  }
  opcast::SetNumThreads(4);
}

// Runs f in a child process whose pool has no threads yet; f says whether all is well.
template <class F>
void InChild(int detail, F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  CHECK_FOR(detail, waitpid(child, &status, 0) == child && status == 0);
}

// A loop that runs in whatever is left: every chunk once, and no signal stays blocked.
bool LoopIsWhole() {
  static std::array<std::atomic<int>, 1000> seen;
  bool whole = true;
  for (int round = 1; round <= 3; ++round) {
    opcast::ParallelFor(kLaunch, 1000, 1,
                        [](int64_t begin, int64_t) { ++seen[static_cast<size_t>(begin)]; });
    for (const auto& count : seen) whole = whole && count == round;
  }
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return whole && !sigismember(&blocked, SIGINT) && !sigismember(&blocked, SIGTERM);
}

void TestRefusals() {
  for (int left = 0; left < 8; ++left) {
    InChild(left, [left] {
      allocations = left;
      return LoopIsWhole();
    });
    InChild(left, [left] {
      threads = left;
      return LoopIsWhole();
    });
  }
}

}  // namespace

std::atomic<int> lent{0};

// Lends one thread beside the caller's.
int32_t LendsTwo(int64_t begin, int64_t end, int64_t, void (*part)(int64_t, int64_t, void*),
                 void* data) {
  ++lent;
  std::thread other([=] { part(begin + 1, end, data); });
  part(begin, begin + 1, data);
  other.join();
  return 0;
}

int32_t LendsNone(int64_t, int64_t, int64_t, void (*)(int64_t, int64_t, void*), void*) {
  ++lent;
  return 1;
}

// Loops run on lent threads, and on the pool's where none are lent.
void TestLent() {
  for (const opcast::LentThreads lender : {LendsTwo, LendsNone}) {
    *opcast::Lent() = lender;
    lent = 0;
    std::atomic<int64_t> sum{0};
    opcast::ParallelFor(kLaunch, 1000, 10, [&](int64_t begin, int64_t end) {
      opcast::ParallelFor(kLaunch, end - begin, 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) sum += begin + i;
      });
    });
    CHECK_FOR(static_cast<int>(sum), sum == 1000 * 999 / 2);
    CHECK_FOR(lent, lent == 1);  // not for the loops inside
    std::string caught;
    try {
      opcast::ParallelFor(kLaunch, 1000, 10, [](int64_t begin, int64_t) {
        if (begin == 500) throw std::runtime_error("at 500");
      });
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    CHECK(caught == "at 500");
    opcast::ParallelFor(kLaunch, 10, 10, [](int64_t, int64_t) {});
    CHECK_FOR(lent, lent == 2);  // one chunk needs no other thread
    std::thread([] { CHECK(*opcast::Lent() == nullptr); }).join();
    *opcast::Lent() = nullptr;
  }
  InChild(0, [] {  // where a framework's threads are gone
    *opcast::Lent() = LendsTwo;
    lent = 0;
    std::atomic<int64_t> sum{0};
    opcast::ParallelFor(kLaunch, 100, 1, [&](int64_t begin, int64_t) { sum += begin; });
    return sum == 99 * 50 && lent == 0;
  });
}

// What a process prints to stderr that asks twice for the number of threads.
std::string Told(const char* value) {
  std::array<int, 2> ends{};
  CHECK(pipe(ends.data()) == 0);
  InChild(0, [&] {
    setenv("TEST_NUM_THREADS", value, 1);
    dup2(ends[1], 2);
    return opcast::NumThreads() == opcast::NumThreads();
  });
  close(ends[1]);
  std::array<char, 256> text{};
  const ssize_t length = read(ends[0], text.data(), text.size());
  close(ends[0]);
  return std::string(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
}

// A number that cannot be meant is told once. This comes before the process has a number.
void TestEnvironment() {
  for (const char* good : {"", "1", "4096"}) CHECK(Told(good).empty());
  for (const std::string bad : {"0", "-1", "4097", "four", "4x", "4,2", "99999999999999999999"}) {
    const std::string text = Told(bad.c_str());
    const std::string start =
        "TEST_NUM_THREADS: expected a number from 1 to 4096, got " + bad + ": ";
    CHECK(text.rfind(start, 0) == 0 && text.find('\n') == text.size() - 1);
  }
}

int main() {
  alarm(120);
  TestEnvironment();
  setenv("TEST_NUM_THREADS", "4", 1);  // OPCAST_COLLECTION is "test"
  TestSetting();
  TestWakes();
  TestRefusals();
  TestLent();
  if (failures > 0) return 1;
  std::printf("ok %lld checks\n", static_cast<long long>(checks));
}
