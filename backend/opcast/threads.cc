#include "opcast/threads.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "opcast/cpus.h"
#include "opcast/environment.h"
#include "opcast/launch.h"

namespace opcast {
namespace {

constexpr int kCpu = 1;  // kDLCPU

std::atomic<int> setting{0};  // 0: nobody has set or needed it yet
std::atomic<ThreadLimit> framework{nullptr};

// What the environment asks for; 0 if it says nothing, or nothing that can be meant.
int AskedThreads(const char* text) {
  if (text == nullptr || *text == 0) return 0;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  return *end == 0 && count >= 1 && count <= kMaxThreads ? static_cast<int>(count) : 0;
}

// A call that finds no memory for the default works alone. A kernel may ask, so what the
// environment says wrongly is no error of a call, but told, by the thread whose number counts.
int Setting() noexcept {
  int count = setting.load(std::memory_order_relaxed);
  if (count > 0) return count;
  try {
    const std::string variable = VariableName("NUM_THREADS");
    const char* const text = std::getenv(variable.c_str());
    const int asked = AskedThreads(text);
    const int found = asked > 0 ? asked : std::min(detail::AvailableCpus(), kMaxThreads);
    if (!setting.compare_exchange_strong(count, found)) return count;
    if (asked == 0 && text != nullptr && *text != 0) {
      std::fprintf(stderr, "%s: expected a number from 1 to %d, got %s: %d is used\n",
                   variable.c_str(), kMaxThreads, text, found);
    }
    return found;
  } catch (...) {
    return 1;
  }
}

}  // namespace

int NumThreads() noexcept {
  const int count = Setting();
  const ThreadLimit limit = framework.load(std::memory_order_relaxed);
  uint32_t allowed = 0;
  if (count == 1 || limit == nullptr || limit(&allowed) != 0) return count;
  return static_cast<int>(std::clamp(allowed, 1u, static_cast<uint32_t>(count)));
}

int Launch::Threads() const { return device_type == kCpu ? NumThreads() : 0; }

int64_t Launch::CacheBytes() const {
  if (device_type != kCpu) return 0;
  // Not a static with an initialiser: a process that forks meanwhile has a child that waits for it
  // for ever.
  static std::atomic<int64_t> known{-1};
  int64_t bytes = known.load(std::memory_order_relaxed);
  if (bytes < 0) known.store(bytes = detail::LastCacheBytes(""), std::memory_order_relaxed);
  return bytes;
}

void SetNumThreads(int count) {
  if (count < 1 || count > kMaxThreads) {
    throw std::invalid_argument("num_threads: expected 1 to " + std::to_string(kMaxThreads) +
                                ", got " + std::to_string(count));
  }
  setting.store(count);
}

void LimitThreads(ThreadLimit limit) { framework.store(limit); }

LentThreads* Lent() noexcept {
  thread_local LentThreads lent = nullptr;
  return &lent;
}

}  // namespace opcast
