// Switching between fibers: a few pushes and pops where the registers are known, since swapcontext
// costs two system calls.
#include "fiber.h"

namespace opcast::device {

#if defined(__x86_64__)

extern "C" void opcast_fiber_switch(void** from, void* to) __attribute__((visibility("hidden")));
// Saves what a function must keep, then returns on the other stack.
asm(R"(
  .text
  .hidden opcast_fiber_switch
  .globl opcast_fiber_switch
  .type opcast_fiber_switch, @function
opcast_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size opcast_fiber_switch, .-opcast_fiber_switch
)");

#endif

namespace {

void* NewStack(size_t size) {
  void* const stack = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  return stack;
}

}  // namespace

void Fiber::Prepare(void (*entry)()) {
  if (stack_ == nullptr) stack_ = NewStack(kStack);
#if defined(__SANITIZE_ADDRESS__)
  bottom_ = stack_;
  size_ = kStack;
  // Functions that were left and never returned have marked their frames.
  __asan_unpoison_memory_region(stack_, kStack);
#endif
#if defined(__x86_64__)
  // The stack of a call of entry: a return address that is never used, entry, six registers.
  uint64_t* const end = reinterpret_cast<uint64_t*>(static_cast<char*>(stack_) + kStack);
  end[-1] = 0;
  end[-2] = reinterpret_cast<uint64_t>(entry);
  top_ = end - 8;
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = kStack;
  context_.uc_link = nullptr;
  makecontext(&context_, entry, 0);
#endif
}

void Fiber::Entered(Fiber& from) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &from.bottom_, &from.size_);
#else
  static_cast<void>(from);
#endif
}

void Switch(Fiber& from, Fiber& to) {
#if defined(__SANITIZE_ADDRESS__)
  void* saved = nullptr;
  __sanitizer_start_switch_fiber(&saved, to.bottom_, to.size_);
#endif
#if defined(__x86_64__)
  opcast_fiber_switch(&from.top_, to.top_);
#else
  swapcontext(&from.context_, &to.context_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(saved, nullptr, nullptr);
#endif
}

}  // namespace opcast::device
