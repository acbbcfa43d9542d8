// Dispatch in a library for AMD's GPUs, on a stand-in for one: architectures, and how they are
// named. Prints "ok N checks".
#include "registry_ops.h"

extern "C" {
int __tvm_ffi__opcast_explain(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_devices(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

void Dispatching() {
  Tally call(6, {kDLFloat, 32, 1}, kDLROCM);
  const auto answers = [&](const std::string& wide, const std::string& plain,
                           const std::string& matrix) {
    Expect(call.About(__tvm_ffi__opcast_explain), "[" + NotOnTheCPU() + "," +
                                                      Says("tally_wide", "rocm", wide) + "," +
                                                      Says("tally_cuda", "rocm", plain) + "," +
                                                      Says("tally_matrix", "rocm", matrix) + "]");
  };
  device = {0x90a, 104, ""};
  Expect(call.Run(), "wide");
  Expect(std::to_string(seen.arch == 0x90a), "1");
  answers("", "", "needs an architecture gfx942; this device is gfx90a");
  device.arch = 0x908;  // which the code is for, and not every kernel
  Expect(call.Run(), "cuda");
  answers("needs an architecture gfx90a or gfx942; this device is gfx908", "",
          "needs an architecture gfx942; this device is gfx908");
  device.arch = 0x942;
  const std::string lacks =
      "built for gfx90a, gfx908; this device is gfx942: add it to [rocm] arch";
  answers(lacks, lacks, lacks);
  Expect(call.Run(),
         "NotImplementedError: tally: no kernel takes this call on rocm:0: tally_wide: " + lacks +
             "; tally_cuda: " + lacks + "; tally_matrix: " + lacks);
  device = {0, 0, "hipErrorNoDevice"};
  Expect(call.Run(), "RuntimeError: tally: rocm:0 cannot be used: hipErrorNoDevice");
}

void OnOthers() {
  Expect(Ask(__tvm_ffi__opcast_devices, {}), R"(["cpu","rocm"])");
  Expect(Tally().Run(), "picky");
  Tally call(6, {kDLFloat, 32, 1}, kDLCUDA);
  Expect(call.Run(),
         "NotImplementedError: tally: no kernel for device cuda:0, available: cpu, rocm");
}

}  // namespace

int main() {
  Dispatching();
  OnOthers();
  return Finish();
}
