// The thread pool behind ParallelFor.
//
// The pool starts with the first loop that needs it and is never joined: joining at exit deadlocks
// when a library goes while its threads wait. A forked child has no threads, so it forgets the pool
// and makes its own.
#include "opcast/parallel.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "opcast/environment.h"
#include "opcast/fpenv.h"

namespace opcast::detail {
namespace {

// Whether this thread is running a chunk; a loop inside one is serial.
thread_local bool inside = false;

// One parallel loop, on the stack of the thread that started it.
struct Job {
  Job(int64_t n, int64_t grain, Body body, void* closure)
      : n(n), grain(grain), body(body), closure(closure) {}

  const int64_t n, grain;
  const Body body;
  void* const closure;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // the first; written once, by who sets `failed`
  int workers = 0;           // still in Work; guarded by the pool's mutex

  // Takes chunks until none is left.
  void Work() {
    for (int64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < n;) {
      try {
        body(closure, begin, std::min(begin + grain, n));
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
        next.store(n, std::memory_order_relaxed);
      }
    }
  }
};

int AvailableCpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int ThreadCount() {
  const char* text = std::getenv(VariableName("NUM_THREADS").c_str());
  const long count = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return count >= 1 && count <= 4096 ? static_cast<int>(count) : AvailableCpus();
}

class Pool {
 public:
  // The process's pool.
  static Pool& Get();

  int threads() const { return threads_; }

  // Runs the job on the workers and on this thread.
  void Run(Job& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Start();
      jobs_.push_back(&job);
    }
    work_.notify_all();
    inside = true;
    job.Work();
    inside = false;
    std::unique_lock<std::mutex> lock(mutex_);
    Remove(&job);
    done_.wait(lock, [&] { return job.workers == 0; });
  }

 private:
  // Starts the workers once. They take no signals: those belong to the host's threads. A machine
  // that refuses more threads leaves the work to those that are there.
  void Start() {
    if (started_) return;
    started_ = true;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    try {
      for (int i = 1; i < threads_; ++i) std::thread([this] { Loop(); }).detach();
    } catch (const std::system_error&) {
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  [[noreturn]] void Loop() {
    const FpEnv environment;
    inside = true;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return !jobs_.empty(); });
      Job* const job = jobs_.front();
      ++job->workers;
      lock.unlock();
      job->Work();
      lock.lock();
      Remove(job);  // nothing is left to take, or Work would not have returned
      if (--job->workers == 0) done_.notify_all();
    }
  }

  void Remove(Job* job) { jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), job), jobs_.end()); }

  const int threads_ = ThreadCount();  // the caller included
  std::mutex mutex_;                   // guards what follows
  std::condition_variable work_, done_;
  std::vector<Job*> jobs_;  // those with chunks to take, oldest first
  bool started_ = false;
};

std::atomic<Pool*> current{nullptr};

Pool& Pool::Get() {
  Pool* pool = current.load();
  if (pool != nullptr) return *pool;
  // Not a mutex: the fork of another thread could leave it locked in the child.
  auto fresh = std::make_unique<Pool>();
  if (current.compare_exchange_strong(pool, fresh.get())) pool = fresh.release();
  static const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    current.store(nullptr);
    inside = false;
  });
  static_cast<void>(at_fork);
  return *pool;
}

}  // namespace

Simd BestSimd() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return Simd::kAvx512;
  }
  if (__builtin_cpu_supports("avx2")) return Simd::kAvx2;
#endif
  return Simd::kBaseline;
}

void RunChunks(int64_t n, int64_t grain, Body body, void* closure) {
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) {
    if (n > 0) body(closure, 0, n);
    return;
  }
  Job job(n, grain, body, closure);
  if (inside || Pool::Get().threads() == 1) {
    job.Work();
  } else {
    Pool::Get().Run(job);
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace opcast::detail
