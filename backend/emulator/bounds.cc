// What the compiler has kernels call where they use an element beyond an array whose size it knows,
// such as one in shared memory: for it, the emulator's kernels are compiled with -fsanitize=bounds.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// As libubsan's handlers get it.
struct Type {
  uint16_t kind, info;
  char name[1];
};
struct OutOfBounds {
  const char* file;
  uint32_t line, column;
  const Type *array, *index;
};

}  // namespace

// Weak: a build with sanitizers of its own has theirs.
extern "C" [[noreturn]] __attribute__((weak, visibility("hidden"))) void
__ubsan_handle_out_of_bounds_abort(const OutOfBounds* where, uintptr_t index) {
  std::fprintf(stderr, "emulator: %s:%u: element %lld of an array %s\n", where->file, where->line,
               static_cast<long long>(index), where->array->name);
  std::abort();
}
