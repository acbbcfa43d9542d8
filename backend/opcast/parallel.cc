// The thread pool behind ParallelFor.
//
// A loop wakes as many workers as it has chunks for, at most; they start when a loop needs them for
// the first time. They are never joined: joining at exit deadlocks when a library goes while its
// threads wait. A forked child has no threads, so it forgets the pool and makes its own. Nothing
// here throws but the loop's own body: where memory or threads are missing, fewer threads of the
// pool work.
#include "opcast/parallel.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "opcast/environment.h"
#include "opcast/fpenv.h"
#include "opcast/job.h"
#include "opcast/threads.h"

namespace opcast::detail {
namespace {

// Whether this thread is running a chunk; a loop inside one is serial.
thread_local bool inside = false;

// Blocks the signals that come from elsewhere, in this thread, while it lives.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // What a thread does to itself stays its own: a handler that tells where a kernel has faulted
    // would never run, since a blocked fault ends the process.
    for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

class Pool {
 public:
  // The process's pool; null if there is no memory for one.
  static Pool* Get() noexcept;

  // Runs the job on this thread and on so many workers, or on those that there are.
  void Run(Job& job, int workers) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      workers = job.places = Start(workers);
      if (workers > 0) Append(&job);
      job.all = workers == workers_;
    }
    if (job.all) {
      work_.notify_all();
    } else {
      for (int i = 0; i < workers; ++i) work_.notify_one();
    }
    inside = true;
    job.Work(0);
    inside = false;
    std::unique_lock<std::mutex> lock(mutex_);
    Remove(&job);
    done_.wait(lock, [&] { return job.workers == 0; });
  }

 private:
  // Starts the workers that are missing, and returns how many of the wanted ones there are. They
  // take no signals: those belong to the host's threads. Not std::thread, which throws where the
  // machine has no more memory or threads. A machine that has refused is asked again after a
  // number of loops: asking takes time, and a peak of processes passes.
  int Start(int wanted) {
    if (workers_ < wanted && --patience_ < 0) {
      const SignalsBlocked blocked;
      while (workers_ < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, Enter, this) != 0) {
          patience_ = 1000;
          break;
        }
        pthread_detach(thread);
        ++workers_;
      }
    }
    return std::min(wanted, workers_);
  }

  static void* Enter(void* pool) { static_cast<Pool*>(pool)->Loop(); }

  [[noreturn]] void Loop() {
    const FpEnv environment;
    inside = true;
    std::unique_lock<std::mutex> lock(mutex_);
    const int number = ++numbered_;
    for (;;) {
      work_.wait(lock, [this] { return first_ != nullptr; });
      Job* const job = first_;
      ++job->workers;
      const int own = job->all ? number : job->places;  // one part for each thread
      if (--job->places == 0) Remove(job);
      lock.unlock();
      job->Work(own);
      lock.lock();
      Remove(job);  // nothing is left to take, or Work would not have returned
      if (--job->workers == 0) done_.notify_all();
    }
  }

  void Append(Job* job) {
    Job** place = &first_;
    while (*place != nullptr) place = &(*place)->after;
    *place = job;
  }

  // Does nothing if the job has been removed.
  void Remove(Job* job) {
    Job** place = &first_;
    while (*place != nullptr && *place != job) place = &(*place)->after;
    if (*place == job) *place = job->after;
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_, done_;
  Job* first_ = nullptr;  // of those that workers may join, oldest first
  int workers_ = 0;       // that have started
  int numbered_ = 0;      // of these, which have a number
  int patience_ = 0;
};

std::atomic<Pool*> current{nullptr};

// Whether this process is a forked child, in which the threads of a framework may be missing: those
// of PyTorch's OpenMP would be waited for forever.
std::atomic<bool> forked{false};

// From the loading of the library on: a fork could come at any time.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
  current.store(nullptr);
  inside = false;
  forked.store(true);
});

Pool* Pool::Get() noexcept {
  Pool* pool = current.load();
  if (pool != nullptr) return pool;
  // Not a mutex: the fork of another thread could leave it locked in the child.
  std::unique_ptr<Pool> fresh(new (std::nothrow) Pool);
  return current.compare_exchange_strong(pool, fresh.get()) ? fresh.release() : pool;
}

}  // namespace

namespace {

// The widest extension of this machine.
Simd WidestSimd() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return __builtin_cpu_supports("avx512bf16") ? Simd::kAvx512Bf16 : Simd::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    return Simd::kAvx2;
  }
#endif
  return Simd::kBaseline;
}

// Runs the job on the threads that a framework lends to this one; false if it lends none.
bool RunOnLent(Job& job, int64_t threads) {
  const LentThreads run = *Lent();
  if (run == nullptr || forked.load(std::memory_order_relaxed)) return false;
  const auto part = [](int64_t begin, int64_t, void* data) {
    const FpEnv environment;
    const bool before = inside;  // a framework may run several parts in the caller's thread
    inside = true;
    static_cast<Job*>(data)->Work(begin);
    inside = before;
  };
  return run(0, threads, 1, part, &job) == 0;
}

// What the environment asks for, else the widest.
Simd ChooseSimd() {
  const Simd widest = WidestSimd();
  if (widest < kNarrowest) {
    throw std::runtime_error(
        "this library was built by `opcast build --native` for machines with " +
        std::string(kSimdNames[static_cast<int>(kNarrowest)]) + "; this one has " +
        kSimdNames[static_cast<int>(widest)]);
  }
  const std::string variable = VariableName("ISA");
  const char* const asked = std::getenv(variable.c_str());
  if (asked == nullptr || *asked == 0) return widest;
  std::string known;
  for (const Simd simd : {Simd::kBaseline, Simd::kAvx2, Simd::kAvx512, Simd::kAvx512Bf16}) {
    if (simd < kNarrowest) continue;
    if (simd > widest) break;
    const char* const name = kSimdNames[static_cast<int>(simd)];
    if (std::strcmp(name, asked) == 0) return simd;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument(variable +
                              ": expected an instruction set that this machine and library have (" +
                              known + "), got " + asked);
}

}  // namespace

Simd BestSimd() {
  // Not a static of the function: a fork could leave its guard locked in the child.
  static std::atomic<int> chosen{-1};
  int simd = chosen.load(std::memory_order_relaxed);
  if (simd < 0) chosen.store(simd = static_cast<int>(ChooseSimd()), std::memory_order_relaxed);
  return static_cast<Simd>(simd);
}

void RunChunks(int64_t n, int64_t grain, Body body, void* closure) {
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) {
    if (n > 0) body(closure, 0, n);
    return;
  }
  const int64_t chunks = (n - 1) / grain + 1;
  const int64_t threads = inside ? 1 : std::min<int64_t>(chunks, NumThreads());
  Job job(n, grain, chunks, threads, body, closure);
  const bool lent = threads > 1 && RunOnLent(job, threads);
  Pool* const pool = threads > 1 && !lent ? Pool::Get() : nullptr;
  if (pool != nullptr) {
    pool->Run(job, static_cast<int>(threads) - 1);
  } else {
    job.Work(0);  // what is left, or all
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace opcast::detail
