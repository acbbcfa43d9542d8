// Lends XLA's threads to the loops of a call.
#pragma once

#include <tvm/ffi/c_api.h>
#include <xla/ffi/api/c_api.h>

#include <cstdint>

namespace opcast_jax {

// How a collection is lent threads, see its threads.h.
using Lent = int32_t (*)(int64_t begin, int64_t end, int64_t grain,
                         void (*part)(int64_t begin, int64_t end, void* data), void* data);

// Has the loops of a call on the CPU run on XLA's threads, as long as this lives.
class LentThreads {
 public:
  LentThreads(const XLA_FFI_CallFrame& frame, bool cpu);
  LentThreads(const LentThreads&) = delete;
  LentThreads& operator=(const LentThreads&) = delete;
  ~LentThreads();

 private:
  Lent* place_ = nullptr;
  Lent lent_before_ = nullptr;
  const XLA_FFI_CallFrame* frame_before_ = nullptr;
};

}  // namespace opcast_jax

// Gives the library the collection's export that says where to lend it threads.
extern "C" __attribute__((visibility("default"))) void opcast_jax_lend(void* lent_threads);
