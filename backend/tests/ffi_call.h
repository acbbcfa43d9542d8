// Calling exports with tvm-ffi itself, as C does.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "ffi_check.h"

using Exported = int (*)(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

// The error that a call left behind: "ValueError: text".
inline std::string TakeRaised() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) return "";
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) +
                                                              sizeof(TVMFFIObject));
  const std::string text = std::string(cell->kind.data, cell->kind.size) + ": " +
                           std::string(cell->message.data, cell->message.size);
  TVMFFIObjectDecRef(error);
  return text;
}

// The error of a call, or the text that it returned: "" for none.
inline std::string Ask(Exported f, const std::vector<TVMFFIAny>& args) {
  TVMFFIAny result = {};
  const int code = f(nullptr, args.data(), static_cast<int32_t>(args.size()), &result);
  const std::string raised = TakeRaised();
  if ((code != 0) != !raised.empty()) return "code " + std::to_string(code);
  if (code != 0 || result.type_index == kTVMFFINone) return raised;
  const std::string text(Call("result", &result, 1, 1).Str(0, "text"));
  if (result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  return text;
}

// What f prints to stderr in a process of its own, in which a variable has a value.
inline std::string Printed(const char* variable, const char* value,
                           const std::function<void()>& f) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    setenv(variable, value, 1);
    dup2(ends[1], STDERR_FILENO);
    f();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}
