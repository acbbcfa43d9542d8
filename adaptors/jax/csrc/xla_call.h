// Calls the ops of a collection from XLA.
//
// XLA calls a handler with a frame of buffers and attributes. A handler has no user data, so
// handlers.gen.cc instantiates one function per op and gives it the op's description; Call() does
// the work for all of them. The library does not link the collection: Python hands over the address
// of every op's export (opcast_jax_bind), so that a process with two versions of a collection never
// mixes them.
#pragma once

#include <tvm/ffi/c_api.h>
#include <xla/ffi/api/c_api.h>

namespace opcast_jax {

// An attribute of an op, in the order of the export's parameters. It may be absent: its default
// depends on sizes.
struct Attr {
  enum Kind { kInt, kFloat, kBool, kString, kInts };
  const char* name;
  Kind kind;
};

// An op as its export takes it: outputs, inputs, attributes.
struct Op {
  const char* name;
  int64_t schema;
  int outputs;
  int inputs;
  // Bit i of the frame's attribute kPresent says that input i is given; without optional inputs
  // there is no such attribute.
  bool optional_inputs;
  const Attr* attrs;
  int attr_count;
  XLA_FFI_Handler* handler;
};

inline constexpr char kPresent[] = "_present";

// An element type under its names in XLA and in DLPack.
struct DType {
  XLA_FFI_DataType xla;
  DLDataType dlpack;
};

// Tables of handlers.gen.cc.
extern const Op kOps[];
extern const int kOpCount;
extern const DType kDTypes[];
extern const int kDTypeCount;
// The exports, in the order of kOps.
extern TVMFFISafeCallType functions[];

// Runs the export of kOps[index] on the buffers of the frame.
XLA_FFI_Error* Call(int index, XLA_FFI_CallFrame* frame) noexcept;

template <int kIndex>
XLA_FFI_Error* Handler(XLA_FFI_CallFrame* frame) {
  return Call(kIndex, frame);
}

}  // namespace opcast_jax
