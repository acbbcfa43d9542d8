// A library of plain C functions that the tests call: none of it is an op.
#include <string.h>
#include <tvm/ffi/c_api.h>

#define EXPORT(name) \
  int __tvm_ffi_##name(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result)

static TVMFFIByteArray Text(const TVMFFIAny* v) {
  if (v->type_index == kTVMFFIByteArrayPtr) return *(const TVMFFIByteArray*)v->v_ptr;
  return (TVMFFIByteArray){v->v_c_str, strlen(v->v_c_str)};
}

// The types of the arguments, in the letters of the alphabet.
EXPORT(types) {
  (void)self;
  char text[64];
  for (int32_t i = 0; i < count; ++i) text[i] = (char)('a' + args[i].type_index);
  const TVMFFIByteArray bytes = {text, (size_t)count};
  return TVMFFIStringFromByteArray(&bytes, result);
}

// The only argument.
EXPORT(echo) {
  (void)self;
  (void)count;
  *result = args[0];
  if (args[0].type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(args[0].v_ptr);
  if (args[0].type_index != kTVMFFIByteArrayPtr && args[0].type_index != kTVMFFIRawStr) return 0;
  const TVMFFIByteArray text = Text(args);
  return TVMFFIStringFromByteArray(&text, result);
}

// The sum of a list or dense array of 64-bit integers, times its first stride if it has one.
EXPORT(sum) {
  (void)self;
  (void)count;
  const DLTensor* t = (const DLTensor*)args[0].v_ptr;
  const int64_t* data = (const int64_t*)((const char*)t->data + t->byte_offset);
  int64_t n = 1, sum = 0;
  for (int32_t d = 0; d < t->ndim; ++d) n *= t->shape[d];
  for (int64_t i = 0; i < n; ++i) sum += data[i];
  result->type_index = kTVMFFIInt;
  result->v_int64 = sum * (t->strides == NULL ? 1 : t->strides[0]);
  return 0;
}

// "code bits lanes device id" of an array, as one number of two digits each.
EXPORT(kind) {
  (void)self;
  (void)count;
  const DLTensor* t = (const DLTensor*)args[0].v_ptr;
  result->type_index = kTVMFFIInt;
  result->v_int64 = t->dtype.code;
  result->v_int64 = result->v_int64 * 100 + t->dtype.bits;
  result->v_int64 = result->v_int64 * 100 + t->dtype.lanes;
  result->v_int64 = result->v_int64 * 100 + t->device.device_type;
  result->v_int64 = result->v_int64 * 100 + t->device.device_id;
  return 0;
}

// Raises an error whose text is the argument.
EXPORT(fail) {
  (void)self;
  (void)count;
  (void)result;
  const TVMFFIByteArray text = Text(args);
  const TVMFFIByteArray kind = {"ValueError", strlen("ValueError")}, backtrace = {NULL, 0};
  TVMFFIObjectHandle error = NULL;
  if (TVMFFIErrorCreate(&kind, &text, &backtrace, &error) != 0) return -1;
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  return -1;
}

// An object, of the one kind that is made easily.
EXPORT(object) {
  (void)self;
  (void)args;
  (void)count;
  const TVMFFIByteArray text = {"text", 4}, backtrace = {NULL, 0};
  TVMFFIObjectHandle error = NULL;
  if (TVMFFIErrorCreate(&text, &text, &backtrace, &error) != 0) return -1;
  result->type_index = kTVMFFIError;
  result->v_obj = (TVMFFIObject*)error;
  return 0;
}

// Fails and says nothing.
EXPORT(silent) {
  (void)self;
  (void)args;
  (void)count;
  (void)result;
  return -1;
}
