// Parameters of kernels, with the op of gen/testdata/params.txtar: which are chosen, how they are
// asked for, and what explains them. Prints "ok N checks".
#include "opcast/tuned.h"

#include "blend.gen.h"
#include "ffi_call.h"
#include "opcast/registry.h"

extern "C" {
int __tvm_ffi_blend(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_arch(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_explain(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_force(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_kernels(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {
std::string seen;  // what the kernel got
}

namespace probe_ops {
opcast::Status BlendRows(const BlendArgs&, const opcast::Launch&, const BlendRowsParams& params) {
  seen = std::to_string(params.rows) + " " + std::to_string(params.ahead);
  return opcast::Status::Ok();
}
}  // namespace probe_ops

namespace {

constexpr DLDataType kHalf = {kDLFloat, 16, 1};

// A call of rows that hold nothing but an address, which kernels here do not read.
std::string Run(int64_t m, DLDataType dtype = {kDLFloat, 32, 1}) {
  static float data[1];
  const auto at = [](int64_t block) { return reinterpret_cast<char*>(data) + (block << 30); };
  const Raw z(at(0), {m, 1}, dtype), x(at(1), {m, 1}, dtype), y(at(2), {m, 1}, dtype);
  seen = "";
  const std::string error = Ask(__tvm_ffi_blend, {z.any, x.any, y.any});
  return error.empty() ? seen : error;
}

std::string Force(const char* kernel) {
  return Ask(__tvm_ffi__opcast_force, {Text("blend"), Text(kernel)});
}

void Logarithms() {
  Expect(std::to_string(opcast::LogOfSize(0)), "0");
  Expect(std::to_string(opcast::LogOfSize(1)), "0");
  Expect(std::to_string(opcast::LogOfSize(2)), "256");
  Expect(std::to_string(opcast::LogOfSize(3)), "384");
  Expect(std::to_string(opcast::LogOfSize(int64_t{3} << 40)), std::to_string(41 * 256 + 128));
  Expect(std::to_string(opcast::LogOfSize(INT64_MAX)), std::to_string(62 * 256 + 255));
}

// The nearest call of the same dtype and of the latest architecture that the machine has.
void Nearest() {
  using opcast::DType;
  constexpr opcast::TunedCall<1, 2> kCalls[] = {
      {80, {DType::kF32}, {opcast::LogOfSize(4), opcast::LogOfSize(64)}, 1},
      {80, {DType::kF16}, {opcast::LogOfSize(4), opcast::LogOfSize(64)}, 2},
      {90, {DType::kF32}, {opcast::LogOfSize(4), opcast::LogOfSize(64)}, 3},
      {90, {DType::kF32}, {opcast::LogOfSize(1000), opcast::LogOfSize(64)}, 4},
  };
  const auto choose = [&](int arch, DType dtype, int64_t m) {
    const opcast::Launch launch{kDLCUDA, 0, nullptr, arch};
    return std::to_string(opcast::NearestTuned(kCalls, launch, {dtype}, {m, 64}));
  };
  Expect(choose(90, DType::kF32, 4), "3");
  Expect(choose(90, DType::kF32, 50), "3");
  Expect(choose(90, DType::kF32, 80), "4");
  Expect(choose(90, DType::kF32, INT64_MAX), "4");
  Expect(choose(90, DType::kF32, 0), "3");
  Expect(choose(90, DType::kF16, 4), "2");   // of an earlier architecture
  Expect(choose(90, DType::kBf16, 4), "0");  // never measured
  Expect(choose(89, DType::kF32, 1000), "1");
  Expect(choose(70, DType::kF32, 4), "0");
  Expect(choose(120, DType::kF32, 4), "3");
  Expect(std::to_string(opcast::Serves(kDLROCM, 0x90a, 0x942)), "0");
  Expect(std::to_string(opcast::Serves(kDLROCM, 0x90a, 0x90a)), "1");
  Expect(std::to_string(opcast::Serves(kDLCPU, opcast::kOtherCpus, 3)), "0");
  Expect(std::to_string(opcast::Serves(kDLCPU, 1, opcast::kOtherCpus)), "0");
}

void Forcing() {
  Expect(Run(4, kHalf), "64 0");  // never measured: the first values
  Expect(Force("blend_rows[rows=256,ahead=-1]"), "");
  Expect(Run(4), "256 -1");
  Expect(Force("blend_rows[ahead=-1]"), "");
  Expect(Run(4), "64 -1");
  Expect(Force("blend_rows[rows=64,ahead=0]"), "");
  Expect(Run(4), "64 0");
  for (const char* wrong :
       {"blend_rows[rows=3]", "blend_rows[step=64]", "blend_rows[rows=64", "blend_rows[rows=64,]]",
        "blend_rows[rows=64]x", "blend[rows=64]", "blend_rows[,]", "blend_rows[]",
        "blend_rows[rows=64,rows=64]", "blend_rows[rows=64,]", "blend_rows[64]"}) {
    Expect(Force(wrong), "ValueError: blend: no kernel '" + std::string(wrong) +
                             "', available: blend_rows[rows=64|128|256,ahead=0|-1],"
                             "blend_cuda[threads=128|256]");
    Expect(Run(4), "64 0");  // as before
  }
  Expect(Force(""), "");
  Expect(Ask(__tvm_ffi__opcast_kernels, {Text("blend")}), R"(["blend_rows","blend_cuda"])");
}

void Explaining() {
  static float data[3];
  const Raw z(data, {1, 1}), x(data + 1, {1, 1}), y(data + 2, {1, 1});
  const std::string text = Ask(__tvm_ffi__opcast_explain, {Text("blend"), z.any, x.any, y.any});
  const std::string first = seen.empty() ? "" : text.substr(0, text.find('}'));
  Run(1);
  const size_t space = seen.find(' ');
  Expect(first, R"([{"name":"blend_rows","device":"cpu","reason":"","params":"[rows=)" +
                    seen.substr(0, space) + ",ahead=" + seen.substr(space + 1) + "]\"");
}

// Before any call here: a process reads the variable once.
void Logging() {
  const std::string line = Printed("TEST_LOG", "calls", [] { Run(1); });
  if (line.find(") by blend_rows[rows=") == line.npos) Expect(line, "the parameters of the kernel");
}

// What was measured with one instruction set is taken by CPUs that have it.
void OnThisCpu() {
  const std::string arch = Ask(__tvm_ffi__opcast_arch, {Int(kDLCPU), Int(0)});
  if (arch == "avx512" || arch == "avx512_bf16") {
    Expect(Run(4), "256 -1");
    Expect(Run(1 << 20), "64 0");
  } else {
    Expect(Run(4), arch == "avx2" ? "128 0" : "64 0");
  }
}

}  // namespace

int main() {
  Logging();
  Logarithms();
  Nearest();
  OnThisCpu();
  Forcing();
  Explaining();
  return Finish();
}
