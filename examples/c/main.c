// Calls an op of a collection from plain C: no Python, no framework. docs/calling.md explains it.
#include <dlfcn.h>
#include <stdio.h>
#include <tvm/ffi/c_api.h>

static TVMFFIAny Int(int64_t value) {
  return (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = value};
}

static TVMFFIAny Float(double value) {
  return (TVMFFIAny){.type_index = kTVMFFIFloat, .v_float64 = value};
}

static TVMFFIAny Text(const char* value) {
  return (TVMFFIAny){.type_index = kTVMFFIRawStr, .v_c_str = value};
}

static TVMFFIAny Array(DLTensor* value) {
  return (TVMFFIAny){.type_index = kTVMFFIDLTensorPtr, .v_ptr = value};
}

// Calls a function of the library and says whether that went well; if not, prints the error.
static int Call(TVMFFISafeCallType function, const TVMFFIAny* args, size_t bytes) {
  TVMFFIAny result = {.type_index = kTVMFFINone};
  if (function(NULL, args, (int32_t)(bytes / sizeof *args), &result) == 0) return 1;
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  const TVMFFIErrorCell* cell = (const void*)((char*)error + sizeof(TVMFFIObject));
  printf("%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size,
         cell->message.data);
  TVMFFIObjectDecRef(error);
  return 0;
}

int main(int argc, char** argv) {
  void* library = dlopen(argc == 2 ? argv[1] : "", RTLD_NOW);  // "" is this program, which has none
  TVMFFISafeCallType op_call = NULL;
  *(void**)&op_call = library ? dlsym(library, "__tvm_ffi__opcast_op_call") : NULL;
  if (op_call == NULL) {
    fprintf(stderr, "usage: %s LIBRARY: %s\n", argv[0], dlerror());
    return 2;
  }
  float rows[] = {3, 4, 6, 8}, ones[] = {1, 1}, normal[4];
  int64_t square[] = {2, 2}, pair[] = {2};
  const DLDevice cpu = {kDLCPU, 0};
  const DLDataType f32 = {kDLFloat, 32, 1};
  DLTensor x = {rows, cpu, 2, f32, square, NULL, 0};  // no strides: dense
  DLTensor weight = {ones, cpu, 1, f32, pair, NULL, 0};
  DLTensor y = {normal, cpu, 2, f32, square, NULL, 0};

  // The op, the numbers of inputs, outputs and scratch arrays, these arrays, then names and values.
  TVMFFIAny args[] = {Text("rms_norm"), Int(2),    Int(1),      Int(0),    Array(&x),
                      Array(&weight),   Array(&y), Text("eps"), Float(0.5)};
  if (!Call(op_call, args, sizeof args)) return 1;
  printf("%g %g\n%g %g\n", normal[0], normal[1], normal[2], normal[3]);
  args[8] = Float(-1);  // the op refuses this
  return Call(op_call, args, sizeof args);
}
