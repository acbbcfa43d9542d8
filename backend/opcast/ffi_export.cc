// Where exported functions meet tvm-ffi's C ABI.
#include <exception>
#include <new>
#include <stdexcept>

#include "opcast/ffi_owned.h"
#include "opcast/op.h"

namespace opcast {

namespace {

// Raises without memory of ours. Where tvm-ffi has none either, the call fails without an error.
void OutOfMemory(const char* op) {
  const char* parts[] = {op, ": out of memory"};
  try {
    TVMFFIErrorSetRaisedFromCStrParts("MemoryError", parts, 2);
  } catch (...) {
  }
}

// Raises without a backtrace: its symbols cost ten times the rest, and show frames of this library
// only.
void Raise(const char* op, const char* kind, std::string_view text) {
  const TVMFFIByteArray name{kind, std::char_traits<char>::length(kind)};
  const TVMFFIByteArray message{text.data(), text.size()}, backtrace{nullptr, 0};
  TVMFFIObjectHandle error = nullptr;
  if (TVMFFIErrorCreate(&name, &message, &backtrace, &error) != 0) return OutOfMemory(op);
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
}

// Raises "<op>: <what>".
void RaiseOf(const char* op, const char* kind, const char* what) {
  try {
    Raise(op, kind, std::string(op) + ": " + what);
  } catch (const std::bad_alloc&) {
    OutOfMemory(op);
  }
}

// Runs f; what it throws becomes a raised tvm-ffi error.
template <class F>
[[gnu::always_inline]] inline int Guarded(const char* op, const F& f) noexcept {
  try {
    f();
    return 0;
  } catch (const Fault& fault) {
    Raise(op, fault.kind, fault.text);
  } catch (const Raised&) {
    if (!IsRaised()) RaiseOf(op, "RuntimeError", "tvm-ffi failed, and its error was lost");
  } catch (const std::bad_alloc&) {
    OutOfMemory(op);
  } catch (const std::domain_error& e) {  // this and the next one: see ints.h
    RaiseOf(op, "ValueError", e.what());
  } catch (const std::overflow_error& e) {
    RaiseOf(op, "ValueError", e.what());
  } catch (const std::exception& e) {
    RaiseOf(op, "RuntimeError", e.what());
  } catch (...) {  // anything else would end the process
    RaiseOf(op, "RuntimeError", "unknown C++ exception");
  }
  return -1;
}

}  // namespace

int Export(const char* op, void (*body)(const TVMFFIAny*, int32_t, TVMFFIAny*),
           const TVMFFIAny* args, int32_t count, TVMFFIAny* result) noexcept {
  return Guarded(op, [&] { body(args, count, result); });
}

int Export(const Op& op, const TVMFFIAny* args, int32_t count, Request* request) noexcept {
  return Guarded(op.name, [&] { op.body(args, count, request); });
}

}  // namespace opcast
