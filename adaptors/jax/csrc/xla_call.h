// Calls the ops of a collection from XLA.
//
// XLA calls a handler with a frame of buffers and attributes. A handler has no user data, so
// gen/handlers.gen.cc instantiates one function per op and kind of device and gives it the op's
// description; Call() does the work for all of them. The library does not link the collection:
// Python hands over the address of every op's export (opcast_jax_bind), so that a process with two
// versions of a collection never mixes them.
#pragma once

#include <tvm/ffi/c_api.h>
#include <xla/ffi/api/c_api.h>

namespace opcast_jax {

// An attribute of an op, in the order of the export's parameters. It may be absent: its default
// depends on sizes, or the program was stored before the op had the attribute.
struct Attr {
  enum Kind { kInt, kFloat, kBool, kString, kInts };
  const char* name;
  Kind kind;
  // The default, if it is the same in every call: the members below say it.
  bool fixed = false;
  int64_t integer = 0;
  double number = 0;
  const char* text = nullptr;
  const int64_t* list = nullptr;
  int count = 0;
};

// An input of an op. What the op overwrites is a result too, which XLA keeps in the same memory.
struct Input {
  bool optional;
  bool mutated;
  int list;  // number of the list that it is, or -1
};

// An output of an op.
struct Output {
  bool saved;
  int present_if;  // number of the input without which it does not exist, or -1; behind the inputs
                   // that of an attribute which must be true
  int list;        // number of the list that has as many arrays, or -1
};

// An op as its export takes it: outputs, inputs, attributes, scratch.
//
// Results of the XLA call are the outputs that exist, then the mutated inputs, then the scratch,
// which is a result only because XLA allocates those, or none of it; its operands are the inputs
// that are given.
// Bit i of the attribute kPresent says that input i is given; without optional inputs there is no
// such attribute, and a stored program may be older than the first of them. The arrays of a list
// are operands and results one by one; the attribute kLengths says how many each list has. The
// attribute kSaved says whether the saved outputs are wanted: not by programs without it.
struct Op {
  const char* name;
  int64_t schema;
  const Output* outputs;
  int output_count;
  const Input* inputs;
  int input_count;
  const Attr* attrs;
  int attr_count;
  int scratch_count;
  XLA_FFI_Handler* on_cpu;
  XLA_FFI_Handler* on_cuda;
  XLA_FFI_Handler* on_rocm;
};

inline constexpr char kPresent[] = "_present";
inline constexpr char kSaved[] = "_saved";
inline constexpr char kLengths[] = "_lengths";

// An element type under its names in XLA and in DLPack.
struct DType {
  XLA_FFI_DataType xla;
  DLDataType dlpack;
};

// Tables of gen/handlers.gen.cc.
extern const Op kOps[];
extern const int kOpCount;
extern const DType kDTypes[];
extern const int kDTypeCount;
// The exports, in the order of kOps.
extern TVMFFISafeCallType functions[];

// Runs the export of kOps[index] on the buffers of the frame.
XLA_FFI_Error* Call(int index, DLDeviceType device, XLA_FFI_CallFrame* frame) noexcept;

template <int kIndex, DLDeviceType kDevice>
XLA_FFI_Error* Handler(XLA_FFI_CallFrame* frame) {
  return Call(kIndex, kDevice, frame);
}

}  // namespace opcast_jax

// Gives the op its export and returns its handler for a kind of device (DLPack's number), or null
// if this library was generated from another definition of it.
extern "C" __attribute__((visibility("default"))) void* opcast_jax_bind(const char* op,
                                                                        int64_t schema,
                                                                        void* function, int device);
