#include "xla_threads.h"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace opcast_jax {
namespace {

Lent* (*lent_place)() = nullptr;  // of the collection; null if it takes no threads

// The call whose loops this thread runs.
thread_local const XLA_FFI_CallFrame* current = nullptr;

// A loop that XLA's threads may join. A task that begins when the loop is over finds it closed: the
// caller never waits for a task that has not begun, since all threads may be busy with callers.
class Loop {
 public:
  Loop(void (*part)(int64_t, int64_t, void*), void* data) : part_(part), data_(data) {}

  void Join(int64_t index) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      ++running_;
    }
    part_(index, index + 1, data_);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) done_.notify_all();
  }

  void Close() {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    done_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void (*const part_)(int64_t, int64_t, void*);
  void* const data_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable done_;
  int running_ = 0;
  bool closed_ = false;
};

// A part of a loop on its way to one of XLA's threads.
struct Task {
  std::shared_ptr<Loop> loop;
  int64_t index;

  static void Run(void* task) {
    const std::unique_ptr<Task> self(static_cast<Task*>(task));
    self->loop->Join(self->index);
  }
};

// Whether XLA takes the task; it has none where a program runs without threads.
bool Schedule(const XLA_FFI_CallFrame& frame, std::unique_ptr<Task> task) {
  const XLA_FFI_Api* const api = frame.api;
  XLA_FFI_ThreadPool_Schedule_Args args = {};
  args.struct_size = XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE;
  args.ctx = frame.ctx;
  args.task = &Task::Run;
  args.data = task.get();
  if (XLA_FFI_Error* error = api->XLA_FFI_ThreadPool_Schedule(&args)) {
    XLA_FFI_Error_Destroy_Args destroy = {};
    destroy.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE;
    destroy.error = error;
    api->XLA_FFI_Error_Destroy(&destroy);
    return false;
  }
  task.release();  // XLA's from now on
  return true;
}

// What the collection calls. The caller's thread takes part, whatever the others do.
int32_t Run(int64_t begin, int64_t end, int64_t, void (*part)(int64_t, int64_t, void*),
            void* data) {
  std::shared_ptr<Loop> loop;
  try {
    loop = std::make_shared<Loop>(part, data);
    for (int64_t i = begin + 1; i < end; ++i) {
      if (!Schedule(*current, std::unique_ptr<Task>(new Task{loop, i}))) {
        if (i == begin + 1) return 1;
        break;
      }
    }
  } catch (...) {  // no memory
    if (loop == nullptr) return 1;
  }
  loop->Join(begin);
  loop->Close();
  return 0;
}

}  // namespace

LentThreads::LentThreads(const XLA_FFI_CallFrame& frame, bool cpu) {
  constexpr size_t kNeeded = offsetof(XLA_FFI_Api, XLA_FFI_ThreadPool_Schedule) + sizeof(void*);
  if (!cpu || lent_place == nullptr || frame.api->struct_size < kNeeded) return;
  place_ = lent_place();
  lent_before_ = *place_;
  frame_before_ = current;
  *place_ = &Run;
  current = &frame;
}

LentThreads::~LentThreads() {
  if (place_ == nullptr) return;
  *place_ = lent_before_;
  current = frame_before_;
}

}  // namespace opcast_jax

void opcast_jax_lend(void* lent_threads) {
  const auto ask = reinterpret_cast<TVMFFISafeCallType>(lent_threads);
  TVMFFIAny result = {};
  if (ask == nullptr || ask(nullptr, nullptr, 0, &result) != 0) return;
  opcast_jax::lent_place = reinterpret_cast<opcast_jax::Lent* (*)()>(result.v_ptr);
}
