// Where exported functions meet tvm-ffi's C ABI.
#include <exception>
#include <new>
#include <stdexcept>

#include "opcast/ffi.h"

namespace opcast {

int Export(const char* op, void (*body)(const TVMFFIAny*, int32_t, TVMFFIAny*),
           const TVMFFIAny* args, int32_t count, TVMFFIAny* result) noexcept {
  try {
    body(args, count, result);
    return 0;
  } catch (const Fault& f) {
    TVMFFIErrorSetRaisedFromCStr(f.kind, f.text.c_str());
  } catch (const std::bad_alloc&) {
    const char* parts[] = {op, ": out of memory"};
    TVMFFIErrorSetRaisedFromCStrParts("MemoryError", parts, 2);
  } catch (const std::domain_error& e) {
    const char* parts[] = {op, ": ", e.what()};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 3);
  } catch (const std::exception& e) {
    const char* parts[] = {op, ": ", e.what()};
    TVMFFIErrorSetRaisedFromCStrParts("RuntimeError", parts, 3);
  } catch (...) {  // anything else would end the process
    const char* parts[] = {op, ": unknown C++ exception"};
    TVMFFIErrorSetRaisedFromCStrParts("RuntimeError", parts, 2);
  }
  return -1;
}

}  // namespace opcast
