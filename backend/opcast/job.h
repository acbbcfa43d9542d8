// A parallel loop while it runs: which chunks are left, and for whom (see parallel.cc).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "opcast/parallel.h"

namespace opcast::detail {

// One parallel loop, on the stack of the thread that started it.
//
// Each thread has a part of its own, so that it reads memory in one stretch: threads that took the
// chunks in turns would get no more out of the memory than one. Who is done helps the others. Where
// a thread has the same part in each call, it finds in its caches what it left there.
class Job {
 public:
  // Of n elements in chunks of `grain`, of which there are so many, for at most so many threads.
  Job(int64_t n, int64_t grain, int64_t chunks, int64_t threads, Body body, void* closure)
      : n_(n),
        grain_(grain),
        body_(body),
        closure_(closure),
        parts_used_(std::min<int64_t>(threads, kParts)) {
    const int64_t each = chunks / parts_used_;
    const int64_t larger = chunks % parts_used_;  // so many have one chunk more
    for (int64_t p = 0, begin = 0; p < parts_used_; ++p) {
      parts_[p].next.store(begin, std::memory_order_relaxed);
      parts_[p].end = begin += each + (p < larger);
    }
  }

  // Takes chunks until none is left, those of the thread's own part first; threads are numbered
  // from 0 on.
  void Work(int64_t own) {
    for (int64_t p = own; p < own + parts_used_; ++p) {
      Part& part = parts_[p % parts_used_];
      for (int64_t chunk; (chunk = part.next.fetch_add(1, std::memory_order_relaxed)) < part.end;) {
        if (failed.load(std::memory_order_relaxed)) return;
        const int64_t begin = chunk * grain_;
        try {
          body_(closure_, begin, std::min(begin + grain_, n_));
        } catch (...) {
          if (!failed.exchange(true)) error = std::current_exception();
        }
      }
    }
  }

  std::atomic<bool> failed{false};
  std::exception_ptr error;  // the first; written once, by who sets `failed`
  // Guarded by the pool's mutex:
  int places = 0;        // how many workers may still join
  bool all = false;      // whether all that have started may
  int workers = 0;       // still in Work
  Job* after = nullptr;  // the next one in the pool's list

 private:
  static constexpr int64_t kParts = 64;  // more threads share them

  // Chunks that are left, of a cache line of its own.
  struct alignas(64) Part {
    std::atomic<int64_t> next;
    int64_t end;
  };

  const int64_t n_, grain_;
  const Body body_;
  void* const closure_;
  const int64_t parts_used_;
  Part parts_[kParts];
};

}  // namespace opcast::detail
