// XLA's threads, lent to loops: by an XLA that runs tasks in other threads, that has no threads,
// that takes one task only, and that runs tasks when the loop is over.
#include "xla_threads.h"

#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

namespace {

int checks = 0, failures = 0;

void Expect(const char* what, int64_t got, int64_t want) {
  ++checks;
  if (got == want) return;
  ++failures;
  std::fprintf(stderr, "%s: got %lld, want %lld\n", what, static_cast<long long>(got),
               static_cast<long long>(want));
}

opcast_jax::Lent place = nullptr;
opcast_jax::Lent* Place() { return &place; }

// The collection's export.
int Export(void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) {
  result->v_ptr = reinterpret_cast<void*>(&Place);
  return 0;
}

enum class Xla { kThreads, kNone, kOne, kLate };
Xla kind;
int scheduled = 0, errors = 0;
std::vector<std::thread> threads;
std::vector<std::pair<XLA_FFI_Task*, void*>> late;

XLA_FFI_Error* Schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  if (kind == Xla::kNone || (kind == Xla::kOne && scheduled == 1)) {
    ++errors;
    return reinterpret_cast<XLA_FFI_Error*>(&errors);
  }
  ++scheduled;
  if (kind == Xla::kLate) {
    late.emplace_back(args->task, args->data);
  } else {
    threads.emplace_back(args->task, args->data);
  }
  return nullptr;
}

void Destroy(XLA_FFI_Error_Destroy_Args*) { --errors; }

// A loop of 1000 items, taken one by one by whoever joins.
struct Loop {
  std::atomic<int> next{0}, done{0};

  static void Part(int64_t, int64_t, void* data) {
    auto* loop = static_cast<Loop*>(data);
    while (loop->next++ < 1000) ++loop->done;
  }
};

void TestKind(Xla now, int32_t code, int tasks) {
  kind = now;
  scheduled = 0;
  XLA_FFI_Api api = {};
  api.struct_size = sizeof api;
  api.XLA_FFI_ThreadPool_Schedule = &Schedule;
  api.XLA_FFI_Error_Destroy = &Destroy;
  XLA_FFI_CallFrame frame = {};
  frame.api = &api;
  {
    Loop loop;
    const opcast_jax::LentThreads lent(frame, true);
    Expect("the code", place(0, 4, 1, &Loop::Part, &loop), code);
    Expect("items done", loop.done, code == 0 ? 1000 : 0);
  }
  Expect("tasks", scheduled, tasks);
  Expect("errors left", errors, 0);
  Expect("lent after the call", place == nullptr, true);
  for (const auto& [task, data] : late) task(data);  // the loop is gone
  for (std::thread& thread : threads) thread.join();
  late.clear();
  threads.clear();
}

}  // namespace

int main() {
  opcast_jax_lend(reinterpret_cast<void*>(&Export));
  for (int i = 0; i < 100; ++i) TestKind(Xla::kThreads, 0, 3);
  TestKind(Xla::kNone, 1, 0);
  TestKind(Xla::kOne, 0, 1);
  TestKind(Xla::kLate, 0, 3);
  XLA_FFI_Api old = {};
  old.struct_size = 8;  // of an XLA that lends no threads
  XLA_FFI_CallFrame frame = {};
  frame.api = &old;
  const opcast_jax::LentThreads none(frame, true), gpu(frame, false);
  Expect("lent by an old XLA", place == nullptr, true);
  if (failures > 0) return 1;
  std::printf("ok %d checks\n", checks);
}
