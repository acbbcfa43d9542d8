// Arrays of the host between pages that nobody may touch: a kernel that leaves its array stops
// there, and the program says which array it was.
//
// An array begins at a multiple of 64 bytes, so up to 63 bytes lie between its end and the next
// page, and up to a page before its beginning. Around arrays that the call may write, these bytes
// are compared after the call. Around inputs they are NaN in every float type, and inputs lie in
// pages that can only be read.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "memory.h"

namespace runner {

// How far behind or before an array an access is still said to be one of it.
constexpr size_t kGuard = size_t{1} << 24;

// An array, the pages in which it lies, and the guards on both sides.
struct Guarded {
  const Array* array;
  char *map, *pages, *begin, *end, *pages_end;  // map and the end of the rest are guards
  size_t length;
  char filling() const { return array->role == "in" ? '\xff' : kCanary; }
  bool has(const char* address) const { return address >= map && address < map + length; }
};

// The arrays that a signal handler looks at.
inline std::vector<Guarded>& AllGuarded() {
  static std::vector<Guarded> all;
  return all;
}

class GuardedMemory : public HostMemory {
 public:
  void* Allocate(const Array& array) override {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t aligned = (array.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    const size_t pages = (aligned + page - 1) / page * page + (aligned == 0 ? page : 0);
    Guarded g = {&array, nullptr, nullptr, nullptr, nullptr, nullptr, pages + 2 * kGuard};
    void* map =
        mmap(nullptr, g.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    g.map = static_cast<char*>(map);
    g.pages = g.map + kGuard;
    g.pages_end = g.pages + pages;
    g.begin = g.pages_end - aligned;
    g.end = g.begin + array.bytes();
    if (mprotect(g.pages, pages, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    AllGuarded().push_back(g);
    return g.begin;
  }
  void Free(void*) override {}  // the process ends

  void Watch() override {
    for (const Guarded& g : AllGuarded()) {
      std::memset(g.pages, g.filling(), static_cast<size_t>(g.begin - g.pages));
      std::memset(g.end, g.filling(), static_cast<size_t>(g.pages_end - g.end));
      if (g.array->role == "in") {
        mprotect(g.pages, static_cast<size_t>(g.pages_end - g.pages), PROT_READ);
      }
    }
  }

  void Check() override {
    for (const Guarded& g : AllGuarded()) {
      CheckBytes(g, g.end, g.pages_end);
      CheckBytes(g, g.pages, g.begin);
    }
  }

 private:
  static void CheckBytes(const Guarded& g, const char* from, const char* to) {
    for (const char* at = from; at < to; ++at) {
      if (*at == g.filling()) continue;
      std::printf("outside %s %lld\n", g.array->name.c_str(), static_cast<long long>(at - g.begin));
      return;
    }
  }
};

// Status of a call that touched what it may not.
constexpr int kFaulted = 4;

// Whether the access that faulted was one that writes: 1 or 0, or -1 where the machine does not
// say.
inline int Writes([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  return static_cast<int>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1);
#else
  return -1;
#endif
}

// Lets the first thread that faults go on: the others, which often fault for the same reason at the
// same time, wait until it ends the process. Where telling itself faults, nothing more is told.
inline void OneTells(int number) {
  static std::atomic<long> teller{0};
  const long me = syscall(SYS_gettid);
  long before = 0;
  if (teller.compare_exchange_strong(before, me)) return;
  while (before != me) pause();
  signal(number, SIG_DFL);
  raise(number);
  _exit(kFaulted);
}

// Prints "fault WRITES NAME OFFSET" for an access beside an array, or "fault SIGNAL" for another
// one, and the frames of the stack as "frame OFFSET FILE".
inline void Faulted(int number, siginfo_t* info, void* context) {
  OneTells(number);
  alarm(5);  // what follows may wait for a lock that the kernel held
  const auto* address = static_cast<const char*>(info->si_addr);
  const Guarded* hit = nullptr;
  for (const Guarded& g : AllGuarded()) {
    if ((number == SIGSEGV || number == SIGBUS) && g.has(address)) hit = &g;
  }
  if (hit != nullptr) {
    dprintf(STDERR_FILENO, "fault %d %s %lld\n", Writes(context), hit->array->name.c_str(),
            static_cast<long long>(address - hit->begin));
  } else {
    dprintf(STDERR_FILENO, "fault %s\n", strsignal(number));
  }
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    // The first two are this function and what returns from it, the third is where it happened. The
    // others lie behind calls.
    const char* at = static_cast<char*>(frames[i]) - (i > 2 ? 1 : 0);
    Dl_info found;
    if (dladdr(at, &found) == 0 || found.dli_fname == nullptr) continue;
    dprintf(STDERR_FILENO, "frame %lld %s\n",
            static_cast<long long>(at - static_cast<char*>(found.dli_fbase)), found.dli_fname);
  }
  _exit(kFaulted);
}

// From now on, faults are told. The handler has a stack of its own, in case that the kernel's is
// full.
inline void TellFaults() {
  void* first[1];
  backtrace(first, 1);  // loads what it needs now, and not in the handler
  static char stack[1 << 16];
  const stack_t own = {stack, 0, sizeof(stack)};
  sigaltstack(&own, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = Faulted;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

inline std::unique_ptr<Memory> MemoryOf(DLDevice device, bool guards) {
  if (device.device_type != kDLCPU) return std::make_unique<GpuMemory>(device, guards);
  if (!guards) return std::make_unique<HostMemory>();
  TellFaults();
  return std::make_unique<GuardedMemory>();
}

}  // namespace runner
