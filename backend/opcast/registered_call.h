// How a registered kernel is called: the arguments of an export, handed on to a tvm-ffi function.
#pragma once

#include <string>

#include "opcast/ffi.h"
#include "opcast/launch.h"

namespace opcast {

class Op;

// What Python registered, and whose error it is if that is lost: "<op>: <kernel>: the <role>
// failed".
struct Function {
  TVMFFIObjectHandle handle;
  const std::string& kernel;
  const char* role;
};

// Runs a kernel on the arguments of a call; throws what it raised.
void CallKernel(const Function& kernel, const Call& call, const Op& op, const Launch& launch);

// Asks a predicate, which gets the same arguments and reads no memory: the reason for which the
// kernel does not take the call, or "".
std::string CallPredicate(const Function& predicate, const Call& call, const Op& op,
                          const Launch& launch);

}  // namespace opcast
