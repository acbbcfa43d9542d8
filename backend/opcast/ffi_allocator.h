// How callers that do not know the shapes of outputs have them made.
#pragma once

#include <tvm/ffi/c_api.h>

#include <cstdint>

namespace opcast {

// Makes arrays for a caller that leaves their shapes to the library: outputs that come as
// kUnmade, and scratch on other devices than the host.
struct Allocator {
  // Fills in the memory, and the shape and strides where they are not to be those that it gets, of
  // an array whose device, dtype and shape are set. The result says whether there was memory.
  bool (*allocate)(void* context, DLTensor* array);
  void* context;
};

// The rank of an output that the library is to have made. Its dtype counts if it is all that tells
// a dtype attribute.
inline constexpr int32_t kUnmade = -1;

}  // namespace opcast
