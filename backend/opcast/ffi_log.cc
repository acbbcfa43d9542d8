// What <NAME>_LOG=calls prints: one line per launch, read off the arguments as they came.
#include <unistd.h>

#include <cstdlib>

#include "opcast/environment.h"
#include "opcast/registry.h"

namespace opcast {

std::atomic<Log> log_mode{Log::kUnread};

std::string Quoted(std::string_view text) {
  std::string s = "'";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      s += std::string("\\") + c;
    } else if (code >= ' ' && code != 0x7f) {
      s += c;
    } else {  // a line stays one line
      const char* digits = "0123456789abcdef";
      s += std::string("\\x") + digits[code >> 4] + digits[code & 15];
    }
  }
  return s + "'";
}

namespace {

// What the environment says. Another value than the known one is a slip that would otherwise show
// as silence.
Log Read(const Call& call) {
  const std::string variable = VariableName("LOG");
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') return Log::kOff;
  if (std::string_view(value) == "calls") return Log::kCalls;
  call.Expected("ValueError", variable.c_str(), "'calls'", "'" + std::string(value) + "'");
}

std::string ArrayText(const TVMFFIAny& v) {
  const DLTensor* t = AsTensor(v);
  if (t == nullptr) return "None";
  const auto dtype = static_cast<DType>(t->dtype.code << 8 | t->dtype.bits);
  return DTypeName(dtype) + List(t->shape, t->ndim);
}

std::string AttrText(const Call& call, int index) {
  const TVMFFIAny& v = call.args()[index];
  switch (v.type_index) {
    case kTVMFFINone:
      return "None";
    case kTVMFFIInt:
      return std::to_string(v.v_int64);
    case kTVMFFIBool:
      return v.v_int64 != 0 ? "True" : "False";
    case kTVMFFIFloat:
      return Number(v.v_float64);
    default:
      break;
  }
  const IntList list = AsInts(v);
  if (list.count < 0) return Quoted(call.Str(index, "a string"));
  std::string s;
  for (int64_t i = 0; i < list.count; ++i) {
    s += (i == 0 ? "" : ", ") +
         std::to_string(list.values != nullptr ? list.values[i] : list.items[i].v_int64);
  }
  return "[" + s + "]";
}

// The arguments, outputs first: "y float32[4, 16], x float32[4, 16], eps=1e-06".
std::string Arguments(const Call& call, const Op& op) {
  std::string s;
  int index = op.ListCount();
  const auto next = [&](const std::string& name) { return (s.empty() ? "" : ", ") + name; };
  for (const Array& a : op.arrays) {
    for (int i = 0; i < Op::Repeats(a, call.args()); ++i) {
      const std::string number = a.list < 0 ? "" : "[" + std::to_string(i) + "]";
      s += next(a.name + number) + " " + ArrayText(call.args()[index]);
      ++index;
    }
  }
  for (const Attr& a : op.attrs) {
    if (a.type == AttrType::kDType) continue;  // the output has it
    s += next(a.name) + "=" + AttrText(call, index);
    ++index;
  }
  for (const Array& a : op.scratch) {
    s += next(a.name) + " " + ArrayText(call.args()[index]);
    ++index;
  }
  return s;
}

}  // namespace

void LogLaunch(const Call& call, const Op& op, const std::string& kernel, const Launch& launch) {
  if (log_mode.load(std::memory_order_relaxed) == Log::kUnread) {
    log_mode.store(Read(call), std::memory_order_relaxed);
    if (log_mode.load(std::memory_order_relaxed) == Log::kOff) return;
  }
  const DLDevice device = {static_cast<DLDeviceType>(launch.device_type), launch.device_id};
  const std::string line = std::string(CollectionName()) + ": " + op.name + "(" +
                           Arguments(call, op) + ") by " + kernel + " on " + DeviceName(device) +
                           "\n";
  // One call, so that the lines of several threads do not mix. Who closed stderr wants no lines.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace opcast
