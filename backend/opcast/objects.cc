// The ops and their kernels as objects of tvm-ffi, for callers that look around by reflection.
//
// Nothing is registered before somebody asks: two libraries that register one type end the process.
// The keys of the types carry the collection and the build, <collection>.<build>.Op, so that any
// number of libraries can be in one process; the same build, loaded twice, shares its types.
#include <cstddef>
#include <string>
#include <vector>

#include "opcast/build_id.h"
#include "opcast/ffi_owned.h"
#include "opcast/registry.h"
#include "opcast/registry_json.h"

namespace opcast {
namespace {

// What an object holds behind the header that all objects have. Its fields are computed.
struct OpData {
  Op* op;
};
struct KernelData {
  Op* op;
  std::string name;
  int device;  // DLDeviceType
};
template <class Data>
struct Object {
  TVMFFIObject header;
  Data data;
};

struct Types {
  int32_t op, kernel;
};
const Types& TheTypes();

template <class Data>
Owned NewObject(int32_t type, Data data) {
  auto* object = new Object<Data>{{}, std::move(data)};
  object->header.combined_ref_count = (uint64_t{1} << 32) | 1;  // one weak and one strong
  object->header.type_index = type;
  object->header.deleter = [](void* self, int flags) {
    // The weak count falls last; what the object holds may stay until then.
    if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) delete static_cast<Object<Data>*>(self);
  };
  return Owned(type, object);
}

Owned Plain(TVMFFIAny value) {
  Owned v;
  v.value = value;
  return v;
}

Owned OpName(const OpData& o) { return StringValue(o.op->name); }
Owned OpKind(const OpData& o) { return Plain(IntValue(o.op->kind)); }
Owned OpSchema(const OpData& o) { return Plain(IntValue(o.op->schema)); }
Owned OpCalls(const OpData& o) { return Plain(IntValue(o.op->calls.load())); }
Owned OpKernels(const OpData& o) {
  std::vector<Owned> kernels;
  for (const Registration& r : Registrations(*o.op))
    kernels.push_back(NewObject(TheTypes().kernel, KernelData{o.op, r.name, r.device}));
  for (int i = 0; i < o.op->kernels.size(); ++i) {
    const KernelInfo& k = o.op->kernels[i];
    kernels.push_back(NewObject(TheTypes().kernel, KernelData{o.op, k.name, k.device}));
  }
  return ArrayOf(kernels.data(), kernels.size());
}
Owned KernelName(const KernelData& k) { return StringValue(k.name); }
Owned KernelDevice(const KernelData& k) { return StringValue(DeviceKind(k.device)); }
Owned KernelOp(const KernelData& k) { return NewObject(TheTypes().op, OpData{k.op}); }

template <class Data, Owned (*Value)(const Data&)>
int Get(void* field, TVMFFIAny* result) {
  TVMFFIAny data{};
  data.type_index = kTVMFFIOpaquePtr;
  data.v_ptr = field;
  const auto body = [](const TVMFFIAny* args, int32_t, TVMFFIAny* value) {
    *value = Value(*static_cast<const Data*>(args[0].v_ptr)).Release();
  };
  return Export("field", body, &data, 1, result);
}

// The object that a method is called on.
template <class Data>
const Data& Self(const TVMFFIAny* args, int32_t count, int32_t type) {
  if (count < 1 || args[0].type_index != type)
    throw Fault{"TypeError", "expected an object of the method's own type"};
  return reinterpret_cast<const Object<Data>*>(args[0].v_obj)->data;
}

std::vector<KernelAnswer> Answers(Op& op, const TVMFFIAny* args, int32_t count) {
  Request request{Request::Task::kExplain};
  op.body(args + 1, count - 1, &request);
  return request.kernels;
}

void CallOp(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const OpData& self = Self<OpData>(args, count, TheTypes().op);
  if (Export(*self.op, args + 1, count - 1) != 0) throw Raised();
}

void ExplainOp(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const OpData& self = Self<OpData>(args, count, TheTypes().op);
  *result = StringValue(ToJson(Answers(*self.op, args, count))).Release();
}

// "yes", or why the kernel does not take the call.
void ExplainKernel(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const KernelData& self = Self<KernelData>(args, count, TheTypes().kernel);
  for (const KernelAnswer& a : Answers(*self.op, args, count)) {
    if (a.name != self.name) continue;
    *result = StringValue(a.reason.empty() ? "yes" : a.reason).Release();
    return;
  }
  throw Fault{"RuntimeError", std::string(self.op->name) + ": kernel " + self.name + " is gone"};
}

template <void (*Body)(const TVMFFIAny*, int32_t, TVMFFIAny*)>
int Method(void*, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  return Export("method", Body, args, count, result);
}

TVMFFIByteArray Bytes(const char* text) { return {text, std::char_traits<char>::length(text)}; }

template <class Data>
void AddField(int32_t type, const char* name, const char* doc, TVMFFIFieldGetter getter) {
  TVMFFIFieldInfo info{};
  info.name = Bytes(name);
  info.doc = Bytes(doc);
  info.size = sizeof(Data);
  info.alignment = alignof(Data);
  info.offset = offsetof(Object<Data>, data);
  info.getter = getter;
  info.field_static_type_index = kTVMFFIAny;
  if (TVMFFITypeRegisterField(type, &info) != 0) throw Raised();
}

void AddMethod(int32_t type, const char* name, const char* doc, TVMFFISafeCallType call) {
  TVMFFIObjectHandle function = nullptr;
  if (TVMFFIFunctionCreate(nullptr, call, nullptr, &function) != 0) throw Raised();
  const Owned owned(kTVMFFIFunction, function);
  TVMFFIMethodInfo info{};
  info.name = Bytes(name);
  info.doc = Bytes(doc);
  info.method = owned.value;
  if (TVMFFITypeRegisterMethod(type, &info) != 0) throw Raised();
}

// The index of a type, which is new unless this build registered it from another file.
int32_t IndexOf(const char* name, bool* is_new) {
  const std::string key = std::string(CollectionName()) + "." + BuildId() + "." + name;
  const TVMFFIByteArray bytes{key.data(), key.size()};
  int32_t index = 0;
  *is_new = TVMFFITypeKeyToIndex(&bytes, &index) != 0;
  if (!*is_new) return index;
  ForgetRaised();
  return TVMFFITypeGetOrAllocIndex(&bytes, -1, 1, 0, 0, kTVMFFIObject);
}

Types Register() {
  bool is_new = false;
  const int32_t op = IndexOf("Op", &is_new), kernel = IndexOf("Kernel", &is_new);
  if (!is_new) return {op, kernel};
  AddField<OpData>(op, "name", "Name of the op.", Get<OpData, OpName>);
  AddField<OpData>(op, "kind", "Number of the op.", Get<OpData, OpKind>);
  AddField<OpData>(op, "schema", "Hash of the definition.", Get<OpData, OpSchema>);
  AddField<OpData>(op, "calls", "Launches so far.", Get<OpData, OpCalls>);
  AddField<OpData>(op, "kernels", "Kernels in the order of dispatch.", Get<OpData, OpKernels>);
  AddMethod(op, "call", "Call the op with the arguments of its export.", Method<CallOp>);
  AddMethod(op, "explain", "Say in JSON what each kernel says about a call.", Method<ExplainOp>);
  AddField<KernelData>(kernel, "op", "What it is a kernel of.", Get<KernelData, KernelOp>);
  AddField<KernelData>(kernel, "name", "Name of the kernel.", Get<KernelData, KernelName>);
  AddField<KernelData>(kernel, "device", "Kind of its device.", Get<KernelData, KernelDevice>);
  AddMethod(kernel, "explain", "Say yes, or why not, about a call.", Method<ExplainKernel>);
  return {op, kernel};
}

const Types& TheTypes() {
  static const Types types = Register();
  return types;
}

// _opcast_objects() -> all ops
void Objects(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_objects", args, count, 0);
  std::vector<Owned> ops;
  for (int i = 0; i < kOpCount; ++i) ops.push_back(NewObject(TheTypes().op, OpData{kOps[i]}));
  *result = ArrayOf(ops.data(), ops.size()).Release();
}

}  // namespace
}  // namespace opcast

OPCAST_META(objects, Objects)
