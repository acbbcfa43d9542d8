// The list of registered kernels, the calls that run them, and the exports that change the list.
//
// What Python registers is called as function(device, stream, outputs..., inputs..., attrs...) and
// returns None, or [class, text, exception] of what was raised, or only an object that has the
// exception if that cannot be put into words; a predicate returns a reason instead of None. The
// arguments are views that own their shapes, and the memory where the caller's arguments do.
#include "opcast/registered.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "opcast/ffi_owned.h"
#include "opcast/fpenv.h"
#include "opcast/registered_call.h"
#include "opcast/registry.h"

namespace opcast {
namespace {

// Set when calls did not end in time at the exit of the process: Python may be gone by then, and
// its objects are left alone.
std::atomic<bool> abandoned{false};

struct Kernel {
  int id;
  Op* op;
  std::string name;
  int device;  // DLDeviceType
  bool slow;   // comes after all that are not
  TVMFFIObjectHandle function;
  TVMFFIObjectHandle supported;  // null: takes every call on its device

  Kernel(const Kernel&) = delete;
  ~Kernel() {
    if (abandoned.load()) return;
    if (function != nullptr) TVMFFIObjectDecRef(function);
    if (supported != nullptr) TVMFFIObjectDecRef(supported);
  }
};
using Share = std::shared_ptr<const Kernel>;

// Never held while Python is called or an object of Python is released.
struct List {
  std::mutex mutex;
  std::condition_variable idle;
  std::vector<Share> kernels;  // in the order of dispatch
  int running = 0;             // calls that hold shares
  int last = kRegistered;      // id
  bool closed = false;
};

// How many shares this thread holds: kernels may call ops, and fork.
thread_local int held = 0;

List& TheList() {
  // Never destroyed: threads of frameworks outlive main.
  static List* const list = [] {
    auto* made = new List;
    // A child gets an unlocked mutex and, of the threads that were in a call, the one that forked.
    pthread_atfork([] { TheList().mutex.lock(); }, [] { TheList().mutex.unlock(); },
                   [] {
                     TheList().running = held;
                     TheList().mutex.unlock();
                   });
    return made;
  }();
  return *list;
}

// Shares of the registered kernels of an op; the list counts as busy while they are held.
class Shares {
 public:
  explicit Shares(const Op& op) {
    List& list = TheList();
    const std::lock_guard<std::mutex> lock(list.mutex);
    for (const Share& k : list.kernels) {
      if (k->op == &op) kernels_.push_back(k);
    }
    ++list.running;
    ++held;
  }
  Shares(const Shares&) = delete;
  ~Shares() {
    kernels_.clear();  // may end kernels that were removed meanwhile
    List& list = TheList();
    const std::lock_guard<std::mutex> lock(list.mutex);
    --held;
    if (--list.running == 0) list.idle.notify_all();
  }
  auto begin() const { return kernels_.begin(); }
  auto end() const { return kernels_.end(); }
  bool Has(int id) const {
    return std::any_of(begin(), end(), [&](const Share& k) { return k->id == id; });
  }

 private:
  std::vector<Share> kernels_;
};

// Why a kernel does not take a call; empty if it does.
std::string Refusal(const Kernel& kernel, const Call& call, const Launch& launch) {
  if (kernel.device != launch.device_type) return "is for " + DeviceKind(kernel.device);
  if (kernel.supported == nullptr) return "";
  return CallPredicate({kernel.supported, kernel.name, "predicate"}, call, *kernel.op, launch);
}

// A graph would call nothing of Python's when it is replayed, and go on with what the function has
// launched after the kernel is removed. It may also wait or allocate, which breaks a capture.
void RefuseInCapture([[maybe_unused]] const Kernel& kernel, [[maybe_unused]] const Call& call,
                     [[maybe_unused]] const Launch& launch) {
#if OPCAST_GPU
  if (launch.device_type != kGpu) return;
  bool captures = false;
  const Status status = gpu::Captures(launch.stream, &captures);
  if (!status.ok()) call.Throw("RuntimeError", status.text());
  if (captures)
    call.Throw("RuntimeError", kernel.name + ": a registered kernel cannot be captured in a graph");
#endif
}

void Run(const Kernel& kernel, const Call& call, const Launch& launch) {
  if (__builtin_expect(log_mode.load(std::memory_order_relaxed) != Log::kOff, false))
    LogLaunch(call, *kernel.op, kernel.name, launch);
  const OnDevice device(call, launch);
  RefuseInCapture(kernel, call, launch);
  const FpEnv environment;
  kernel.op->calls.fetch_add(1, std::memory_order_relaxed);
  CallKernel({kernel.function, kernel.name, "kernel"}, call, *kernel.op, launch);
}

}  // namespace

bool RunRegistered(const Call& call, Op& op, const Launch& launch, int* forced) {
  if (*forced >= 0 && *forced < kRegistered) return false;
  const Shares kernels(op);
  if (*forced >= 0 && !kernels.Has(*forced)) {
    *forced = op.Forced();  // another one: nothing forces a kernel that has gone
    return RunRegistered(call, op, launch, forced);
  }
  for (const Share& k : kernels) {
    if (*forced >= 0 ? *forced != k->id : k->device != launch.device_type) continue;
    const std::string reason = Refusal(*k, call, launch);
    if (reason.empty()) {
      Run(*k, call, launch);
      return true;
    }
    if (*forced >= 0) {
      const DLDevice device = {static_cast<DLDeviceType>(launch.device_type), launch.device_id};
      NoKernel(call, device, "", k->name + ": " + reason);
    }
  }
  return false;
}

std::vector<Registration> Registrations(const Op& op) {
  std::vector<Registration> found;
  for (const Share& k : Shares(op)) found.push_back({k->name, k->device});
  return found;
}

bool UseRegistered(const Op& op, std::string_view name, const std::function<void(int)>& use) {
  auto& list = TheList();
  const std::lock_guard<std::mutex> lock(list.mutex);
  for (const Share& k : list.kernels) {
    if (k->op != &op || k->name != name) continue;
    use(k->id);
    return true;
  }
  return false;
}

std::vector<KernelAnswer> RegisteredAnswers(const Call& call, Op& op, const Launch& launch) {
  std::vector<KernelAnswer> answers;
  for (const Share& k : Shares(op))
    answers.push_back({k->name, k->device, Refusal(*k, call, launch)});
  return answers;
}

namespace {

// The function that an argument is, with a reference for the list.
TVMFFIObjectHandle FunctionOf(const Call& call, int index, const char* name) {
  const TVMFFIAny& v = call.args()[index];
  if (v.type_index != kTVMFFIFunction) {
    call.Expected("TypeError", name, "a function", "another type");
  }
  TVMFFIObjectIncRef(v.v_obj);
  return v.v_obj;
}

// Names stand in lists and lines of text.
void CheckName(const Call& call, const std::string& name) {
  const auto fits = [](unsigned char c) { return c == '_' || c >= 0x80 || std::isalnum(c); };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ||
      !std::all_of(name.begin(), name.end(), fits))
    call.Expected("ValueError", "name", "an identifier", Quoted(name));
}

// _opcast_register(op, name, device type, function, supported or None, slow) -> id
void Register(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_register", args, count, 6);
  Op& op = FindOp(call, call.Str(0, "op"));
  const std::string name(call.Str(1, "name"));
  CheckName(call, name);
  const int64_t type = call.Int(2, "device_type");
  CheckDevice(call, "device_type", type, "", 0);
  const auto device = static_cast<int>(type);
  const bool slow = call.Bool(5, "slow");
  const std::shared_ptr<Kernel> kernel(
      new Kernel{0, &op, name, device, slow, FunctionOf(call, 3, "function"), nullptr});
  if (call.args()[4].type_index != kTVMFFINone)
    kernel->supported = FunctionOf(call, 4, "supported");
  List& list = TheList();
  const std::lock_guard<std::mutex> lock(list.mutex);
  if (list.closed) call.Throw("RuntimeError", "the process is ending");
  const auto same = [&](const Share& k) { return k->op == &op && k->name == name; };
  if (op.BuiltIn(name) >= 0 || std::any_of(list.kernels.begin(), list.kernels.end(), same)) {
    throw Fault{"ValueError", std::string(op.name) + ": name: expected a new name, got '" + name +
                                  "', which is a kernel already"};
  }
  kernel->id = ++list.last;
  const auto place = std::find_if(list.kernels.begin(), list.kernels.end(),
                                  [&](const Share& k) { return k->slow == slow || k->slow; });
  list.kernels.insert(place, kernel);
  op.registered.fetch_add(1, std::memory_order_release);
  *result = IntValue(kernel->id);
}

// With the list locked. Who sees the lower count must not see that the kernel is forced.
void Uncount(const Kernel& kernel) {
  kernel.op->Unforce(kernel.id);
  kernel.op->registered.fetch_sub(1, std::memory_order_release);
}

// _opcast_unregister(id) -> whether there was such a kernel. Calls that run it end with it.
void Unregister(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_unregister", args, count, 1);
  const int64_t id = call.Int(0, "id");
  Share removed;  // ends after the lock
  {
    List& list = TheList();
    const std::lock_guard<std::mutex> lock(list.mutex);
    const auto found = std::find_if(list.kernels.begin(), list.kernels.end(),
                                    [&](const Share& k) { return k->id == id; });
    if (found != list.kernels.end()) {
      removed = *found;
      list.kernels.erase(found);
      Uncount(*removed);
    }
  }
  *result = BoolValue(removed != nullptr);
}

// _opcast_unregister_all(seconds): for the exit of the process. Waits for the calls that run
// registered kernels, since Python ends next.
void UnregisterAll(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("_opcast_unregister_all", args, count, 1);
  const auto limit =
      std::chrono::milliseconds(static_cast<int64_t>(1000 * call.Float(0, "seconds")));
  List& list = TheList();
  std::vector<Share> removed;
  {
    const std::lock_guard<std::mutex> lock(list.mutex);
    list.closed = true;
    removed.swap(list.kernels);
    for (const Share& k : removed) Uncount(*k);
  }
  removed.clear();
  std::unique_lock<std::mutex> lock(list.mutex);
  if (list.running == 0) return;
  // By the clock of the day: waiting by the steady one needs a newer C library.
  const auto end = std::chrono::system_clock::now() + limit;
  if (!list.idle.wait_until(lock, end, [&] { return list.running == 0; })) abandoned = true;
  lock.unlock();
  // Then these calls return to Python, which must not end before they are there.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace opcast

OPCAST_META(register, Register)
OPCAST_META(unregister, Unregister)
OPCAST_META(unregister_all, UnregisterAll)
