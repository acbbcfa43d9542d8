// Calls the ops of a collection from PyTorch, through PyTorch's stable C ABI alone.
//
// PyTorch calls a kernel with a stack of boxed values. A kernel has no user data, so
// gen/handlers.gen.cc instantiates one function per op and gives it the op's description; Call()
// does the work for all of them: it unboxes, has the collection check the arguments and make the
// results, and boxes these. No Python is needed. The library does not link the collection: Python
// hands over the addresses (opcast_torch_bind), else the collection's library beside this one, or
// on the loader's path, is opened with the first call.
#pragma once

#include <tvm/ffi/c_api.h>

#include <cstdint>

// The namespace of the ops. `opcast hub` writes another one into its copies of the library, so that
// copies can be in one process; hence the room, and the name outside.
extern "C" __attribute__((visibility("default"))) const char opcast_torch_namespace[128];

namespace opcast_torch {

// A boxed value, as PyTorch's stable ABI has it.
using Boxed = uint64_t;

// What a kernel reads: any strides, a dense last dim, or dense memory only.
enum class Stride { kAny, kLast, kDense };

// An input of an op.
struct Input {
  bool optional;
  bool mutated;
  Stride stride;
  int list;             // number of the list that it is, or -1
  int number;           // the kind of attribute that a number in its place is, or -1
  uintptr_t align = 1;  // what its address is a multiple of
};

// An output of an op.
struct Output {
  bool saved;
  int present_if;  // number of the input without which it does not exist, or -1; behind the inputs
                   // that of an attribute which must be true
  int list;        // number of the list that has as many arrays, or -1
};

// An attribute of an op. A dtype is not passed on: it is that of the output `carrier`. Where it is
// left out, that is the dtype of the input `like`, or `fixed` if there is none.
struct Attr {
  enum Kind { kInt, kFloat, kBool, kString, kInts, kDType };
  Kind kind;
  bool optional;  // None stands for what the collection computes, or for nothing
  int carrier = -1;
  int like = -1;
  DLDataType fixed = {};
};

// What a call does with results: it returns them; also those that only the gradient needs; or it
// writes them to tensors that are given after the attributes. With kNumbers it returns them, and
// all inputs that may be numbers are.
enum class Form { kPlain, kTrain, kInto, kNumbers };

// A form of an op in PyTorch's registry: arguments and results as in schemas, and the kernel. The
// kernel is null where the op has no such form.
struct Entry {
  const char* signature;
  void (*kernel)(Boxed* stack, uint64_t arguments, uint64_t results);
};

// An op: its entries by Form, and its arguments as the collection's export takes them.
struct Op {
  const char* name;
  int64_t definition;  // its hash
  Entry entries[4];
  const Output* outputs;
  int output_count;
  const Input* inputs;
  int input_count;
  const Attr* attrs;
  int attr_count;
  int list_count;
  int scratch_count;
};

// An element type: the function that tells its number in this release of PyTorch, null where there
// is none, and DLPack's name.
struct Type {
  int32_t (*number)();
  DLDataType dlpack;
};

// Tables of gen/handlers.gen.cc, and the collection's library.
extern const char kLibrary[];
extern const Type kTypes[];
extern const int kTypeCount;
extern const Op kOps[];
extern const int kOpCount;
// What the collection knows each op by, once it was asked.
extern void* known[];

// Runs kOps[index] on the values of the stack.
void Call(int index, Form form, Boxed* stack);

// Whether PyTorch's registry has all ops.
bool Registered();

template <int kIndex, Form kForm>
void Kernel(Boxed* stack, uint64_t, uint64_t) {
  Call(kIndex, kForm, stack);
}

}  // namespace opcast_torch
