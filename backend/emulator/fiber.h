// Threads of execution that hand over to each other, all in one thread of the process.
#pragma once

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace opcast::device {

// A fiber, or what a thread of the process is while fibers run in it.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    if (stack_ != nullptr) munmap(stack_, kStack);
  }

  // The next Switch to the fiber begins with entry(), which never returns and calls Entered first,
  // with the fiber that it will hand over to.
  void Prepare(void (*entry)());
  static void Entered(Fiber& from);

  friend void Switch(Fiber& from, Fiber& to);

 private:
  static constexpr size_t kStack = 256 << 10;  // sanitizers need much; untouched pages cost nothing

  void* stack_ = nullptr;
#if defined(__x86_64__)
  void* top_ = nullptr;  // of the stack of a fiber that does not run
#else
  ucontext_t context_;
#endif
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom_ = nullptr;
  size_t size_ = 0;
#endif
};

// Leaves `from`, which is running, and goes on with `to`.
void Switch(Fiber& from, Fiber& to);

}  // namespace opcast::device
