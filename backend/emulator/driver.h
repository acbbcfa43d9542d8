// What the parts of the emulated driver share.
//
// Memory of a device is memory of the process that nobody can touch but a kernel, a copy or a fill
// on that device, while it runs. Work on a stream that was created runs when something waits for
// it, and not before, so that whoever forgets to wait, or uses another stream, sees old contents.
// Work on the default stream runs at once, after that of the streams for which it waits.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "control.h"

// Work on a stream, or a part of a graph.
struct EmulatedTask {
  std::string what;
  std::function<CUresult()> run;
};

struct CUgraph_st {
  CUcontext context;
  std::vector<EmulatedTask> tasks;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};

struct CUctx_st {
  int device;
  bool alive = true;
  CUresult broken = CUDA_SUCCESS;  // the error of work, which stays
};

// A capture on one or more streams, which join by waiting for an event.
struct EmulatedCapture {
  CUstream origin;
  CUstreamCaptureMode mode;
  bool valid = true;
  CUgraph_st graph;
};

struct CUstream_st {
  CUcontext context;
  bool blocking;  // the default stream waits for it, and it for the default stream
  std::deque<EmulatedTask> tasks{};
  int64_t queued = 0, done = 0;
  std::shared_ptr<EmulatedCapture> capture{};
};

struct CUevent_st {
  CUcontext context;
  CUstream stream = nullptr;  // of the last record
  int64_t at = 0;             // that many pieces of work come before
  std::shared_ptr<EmulatedCapture> capture{};
};

namespace emulator {

struct Device {
  int arch;
  int sm_count;
  CUcontext primary = nullptr;
  int retained = 0;
};

// Memory between two pages that nobody can touch; the rest of its pages holds kCanary.
struct Memory {
  CUcontext context;
  bool managed;
  char* pages;
  size_t page_bytes;
  uintptr_t begin;
  size_t bytes;

  bool Holds(uintptr_t from, size_t count) const {
    return from >= begin && count <= bytes && from - begin <= bytes - count;
  }
};

struct State {
  std::recursive_mutex mutex;
  bool initialised = false;
  std::vector<Device> devices;
  std::vector<std::unique_ptr<CUctx_st>> contexts;  // also those that are gone
  std::vector<CUstream> streams;                    // in the order in which they were created
  std::set<CUevent> events;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> ready;
  std::map<uintptr_t, Memory> memory;  // by the address of its first byte
  int64_t calls = 0, fails_at = -1;
  CUresult failure = CUDA_SUCCESS;
  bool records = false;
  std::string record, read;
};
State& TheState();
extern thread_local CUcontext current;

void Note(const std::string& line);

// A call of the driver: holds the lock, counts, and says whether the call is to fail.
class Entry {
 public:
  explicit Entry(const char* name, bool needs_context = false);
  CUresult code() const { return code_; }
  // The result of the call, in the record if it is an error.
  CUresult Return(CUresult code) const;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  const char* const name_;
  CUresult code_ = CUDA_SUCCESS;
};
// The first line of a function of the driver, and of one that acts on the current context.
#define ENTER()                            \
  const ::emulator::Entry entry(__func__); \
  if (entry.code() != CUDA_SUCCESS) return entry.code()
#define ENTER_IN_CONTEXT()                       \
  const ::emulator::Entry entry(__func__, true); \
  if (entry.code() != CUDA_SUCCESS) return entry.code()

// Contexts.
void DropContext(CUcontext context);

// Memory. Opened makes what a device can touch accessible while it lives.
Memory* Find(uintptr_t address, size_t bytes);
class Opened {
 public:
  explicit Opened(CUcontext context);
  ~Opened();
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  const int device_;
};
void Unmap(const Memory& memory);
// Ends the program if a kernel has changed bytes around the memory.
void CheckAround(const Memory& memory);

// Streams. Null is the default stream of the current context.
CUresult Enqueue(CUstream stream, EmulatedTask task);
CUresult RunUntil(CUstream stream, int64_t at);
CUresult RunAll(CUcontext context, bool only_blocking);
CUresult RunTask(CUcontext context, const EmulatedTask& task);
// Waits as a call does that is not allowed while its thread captures.
CUresult Synchronize(CUcontext context, bool only_blocking);
// The error of a call that has effects outside of a graph while a stream is captured.
CUresult UnsafeNow();

}  // namespace emulator
