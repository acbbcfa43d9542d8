// The floating-point environment in which kernels run.
#pragma once

#include <cstdint>

namespace opcast {

// Sets the default environment (round to nearest, denormals kept, no traps) and restores the
// caller's when it goes. XLA's threads flush denormals, so without it one kernel gives other bits
// in JAX than in NumPy. Flags that a kernel raises do not reach the caller.
//
// Reading the control word costs nothing, writing it costs more than the checks of a call. So the
// caller's word stays if it asks for the same arithmetic, and is written back only if it changed.
class FpEnv {
 public:
  FpEnv() : saved_(Get()) {
    if ((saved_ & ~kFlags) != kDefault) Set(kDefault);
  }
  ~FpEnv() {
    if (Get() != saved_) Set(saved_);
  }
  FpEnv(const FpEnv&) = delete;
  FpEnv& operator=(const FpEnv&) = delete;

 private:
#if defined(__x86_64__)
  using Word = uint32_t;
  static constexpr Word kDefault = 0x1f80;  // MXCSR: all exceptions masked, nothing else
  static constexpr Word kFlags = 0x3f;      // what has happened so far
  static Word Get() { return __builtin_ia32_stmxcsr(); }
  static void Set(Word word) { __builtin_ia32_ldmxcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kDefault = 0, kFlags = 0;  // FPCR; flags have a register of their own
  static Word Get() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void Set(Word word) { asm volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
  using Word = uint32_t;
  static constexpr Word kDefault = 0, kFlags = 0;
  static Word Get() { return kDefault; }
  static void Set(Word) {}
#endif

  const Word saved_;
};

}  // namespace opcast
