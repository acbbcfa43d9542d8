// A lender of threads that runs the chunks at both ends of a long loop, and none in between.
//
// Calls of billions of short rows would take minutes, for results of which only both ends are
// looked at. The library under test is the one that is shipped: it asks for threads as it asks
// those of PyTorch and XLA.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "opcast/parallel.h"
#define private public  // the parts of a loop are what is changed here, and nothing else
#include "opcast/job.h"
#undef private

namespace {

constexpr int64_t kChunks = 64;  // at each end

int32_t RunEnds(int64_t begin, int64_t end, int64_t, void (*part)(int64_t, int64_t, void*),
                void* data) {
  auto* job = static_cast<opcast::detail::Job*>(data);
  auto& first = job->parts_[0];
  auto& last = job->parts_[job->parts_used_ - 1];
  if (first.end > kChunks) first.end = kChunks;
  if (last.next < last.end - kChunks) last.next = last.end - kChunks;
  for (int64_t p = 1; p < job->parts_used_ - 1; ++p) job->parts_[p].next = job->parts_[p].end;
  for (int64_t thread = begin; thread < end; ++thread) part(thread, thread + 1, data);
  return 0;
}

}  // namespace

extern "C" void* Lender() { return reinterpret_cast<void*>(&RunEnds); }
