#include "opcast/threads.h"

#include <algorithm>
#include <atomic>
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

int DefaultThreads() {
  const char* text = std::getenv(VariableName("NUM_THREADS").c_str());
  const long count = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  if (count >= 1 && count <= kMaxThreads) return static_cast<int>(count);
  return std::min(detail::AvailableCpus(), kMaxThreads);
}

// A call that finds no memory for the default works alone.
int Setting() noexcept {
  int count = setting.load(std::memory_order_relaxed);
  if (count > 0) return count;
  try {
    const int found = DefaultThreads();
    return setting.compare_exchange_strong(count, found) ? found : count;
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
