// Where exported functions meet tvm-ffi's C ABI.
#include <exception>
#include <new>
#include <stdexcept>

#include "opcast/op.h"

namespace opcast {

namespace {

// Raises without a backtrace: its symbols cost ten times the rest, and show frames of this library
// only.
void Raise(const char* kind, const std::string& text) {
  const TVMFFIByteArray name{kind, std::char_traits<char>::length(kind)};
  const TVMFFIByteArray message{text.data(), text.size()}, backtrace{nullptr, 0};
  TVMFFIObjectHandle error = nullptr;
  if (TVMFFIErrorCreate(&name, &message, &backtrace, &error) != 0)
    return;  // that has raised its own
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
}

// Runs f; what it throws becomes a raised tvm-ffi error.
template <class F>
[[gnu::always_inline]] inline int Guarded(const char* op, const F& f) noexcept {
  try {
    f();
    return 0;
  } catch (const Fault& fault) {
    Raise(fault.kind, fault.text);
  } catch (const Raised&) {
  } catch (const std::bad_alloc&) {
    Raise("MemoryError", std::string(op) + ": out of memory");
  } catch (const std::domain_error& e) {
    Raise("ValueError", std::string(op) + ": " + e.what());
  } catch (const std::exception& e) {
    Raise("RuntimeError", std::string(op) + ": " + e.what());
  } catch (...) {  // anything else would end the process
    Raise("RuntimeError", std::string(op) + ": unknown C++ exception");
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
