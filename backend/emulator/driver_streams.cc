// Streams, events and graphs.
#include <algorithm>

#include "driver.h"

using emulator::current;
using emulator::TheState;

namespace emulator {
namespace {

bool Known(CUstream stream) {
  const auto& all = TheState().streams;
  return std::find(all.begin(), all.end(), stream) != all.end();
}

// The stream that belongs to the current context; an error for any other.
CUresult CheckStream(CUstream stream) {
  return Known(stream) && stream->context == current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// Whether this thread may do what captures in other threads forbid.
thread_local CUstreamCaptureMode own_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Breaks the captures of a context's streams that `which` says, and returns whether there are any.
template <class F>
bool Break(F which) {
  bool any = false;
  for (const CUstream s : TheState().streams) {
    if (s->capture == nullptr || !which(*s)) continue;
    s->capture->valid = false;
    any = true;
  }
  return any;
}

// The default stream would wait for streams that are captured.
bool BreakImplicit(CUcontext context) {
  return Break([&](const CUstream_st& s) { return s.blocking && s.context == context; });
}

}  // namespace

CUresult RunTask(CUcontext context, const EmulatedTask& task) {
  if (context->broken != CUDA_SUCCESS) return context->broken;
  Note("  " + task.what + " on device " + std::to_string(context->device));
  if (task.what ==
      "wait") {  // runs what another stream does, maybe of another device, whose errors it keeps
    task.run();
    return CUDA_SUCCESS;
  }
  const Opened opened(context);
  return context->broken = task.run();
}

CUresult RunUntil(CUstream stream, int64_t at) {
  while (stream->done < at) {
    const EmulatedTask task = std::move(stream->tasks.front());
    stream->tasks.pop_front();
    ++stream->done;
    RunTask(stream->context, task);
  }
  return stream->context->broken;
}

CUresult RunAll(CUcontext context, bool only_blocking) {
  for (const CUstream s : TheState().streams) {
    if (s->context == context && (s->blocking || !only_blocking)) RunUntil(s, s->queued);
  }
  return context->broken;
}

CUresult Synchronize(CUcontext context, bool only_blocking) {
  if (only_blocking && BreakImplicit(context)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (!only_blocking && Break([&](const CUstream_st& s) { return s.context == context; }))
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return RunAll(context, only_blocking);
}

CUresult UnsafeNow() {
  if (own_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const auto forbids = [](const CUstream_st& s) {
    return s.capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  };
  return Break(forbids) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult Enqueue(CUstream stream, EmulatedTask task) {
  if (stream == nullptr) {
    if (BreakImplicit(current)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    RunAll(current, true);
    task.what += " on the default stream";
    return RunTask(current, task);
  }
  if (const CUresult code = CheckStream(stream)) return code;
  if (stream->capture != nullptr) {
    if (!stream->capture->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->capture->graph.tasks.push_back(std::move(task));
    return CUDA_SUCCESS;
  }
  ++stream->queued;
  stream->tasks.push_back(std::move(task));
  return CUDA_SUCCESS;
}

}  // namespace emulator

using emulator::CheckStream;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  ENTER_IN_CONTEXT();
  *stream = new CUstream_st{current, (flags & CU_STREAM_NON_BLOCKING) == 0};
  TheState().streams.push_back(*stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER();
  if (!emulator::Known(stream)) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  emulator::RunUntil(stream, stream->queued);
  auto& all = TheState().streams;
  all.erase(std::find(all.begin(), all.end(), stream));
  for (const CUevent e : TheState().events)
    if (e->stream == stream) e->stream = nullptr;  // what it marks has been done
  delete stream;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  ENTER_IN_CONTEXT();
  if (stream == nullptr) return entry.Return(emulator::Synchronize(current, true));
  if (const CUresult code = CheckStream(stream)) return entry.Return(code);
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
    return entry.Return(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return entry.Return(emulator::RunUntil(stream, stream->queued));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  ENTER_IN_CONTEXT();
  if (TheState().events.count(event) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  if (stream != nullptr && event->capture != nullptr) {  // joins the capture
    if (const CUresult code = CheckStream(stream)) return entry.Return(code);
    stream->capture = event->capture;
    return CUDA_SUCCESS;
  }
  const CUstream other = event->stream;
  if (other == nullptr) return CUDA_SUCCESS;
  const auto wait = [other, at = event->at] {
    return emulator::Known(other) ? emulator::RunUntil(other, at) : CUDA_SUCCESS;
  };
  return entry.Return(emulator::Enqueue(stream, {"wait", wait}));
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  ENTER_IN_CONTEXT();
  *event = new CUevent_st{current};
  TheState().events.insert(*event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (TheState().events.count(event) == 0 || event->context != current)
    return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  *event = CUevent_st{current};
  if (stream == nullptr) return CUDA_SUCCESS;  // its work has been done
  if (const CUresult code = CheckStream(stream)) return entry.Return(code);
  event->stream = stream;
  event->at = stream->queued;
  event->capture = stream->capture;
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER_IN_CONTEXT();
  if (TheState().events.count(event) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  if (event->capture != nullptr) return entry.Return(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (event->stream == nullptr) return CUDA_SUCCESS;
  return entry.Return(emulator::RunUntil(event->stream, event->at));
}

CUresult cuEventDestroy_v2(CUevent event) {
  ENTER();
  if (TheState().events.erase(event) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  ENTER_IN_CONTEXT();
  if (stream == nullptr) return entry.Return(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (const CUresult code = CheckStream(stream)) return entry.Return(code);
  if (stream->capture != nullptr) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  stream->capture = std::make_shared<EmulatedCapture>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->graph.context = current;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  ENTER();
  std::swap(*mode, emulator::own_mode);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  ENTER_IN_CONTEXT();
  *graph = nullptr;
  if (const CUresult code = CheckStream(stream)) return entry.Return(code);
  const std::shared_ptr<EmulatedCapture> capture = stream->capture;
  if (capture == nullptr) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  if (capture->origin != stream) return entry.Return(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  for (const CUstream s : TheState().streams)
    if (s->capture == capture) s->capture = nullptr;
  if (!capture->valid) return entry.Return(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  *graph = new CUgraph_st(std::move(capture->graph));
  TheState().graphs.insert(*graph);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  ENTER_IN_CONTEXT();
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream == nullptr) {
    for (const CUstream s : TheState().streams) {
      if (s->context == current && s->blocking && s->capture != nullptr)
        return entry.Return(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    return CUDA_SUCCESS;
  }
  if (const CUresult code = CheckStream(stream)) return entry.Return(code);
  if (stream->capture != nullptr)
    *status = stream->capture->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                     : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* ready, CUgraph graph, unsigned long long) {
  ENTER_IN_CONTEXT();
  if (TheState().graphs.count(graph) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  *ready = new CUgraphExec_st{*graph};
  TheState().ready.insert(*ready);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec ready, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (TheState().ready.count(ready) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  for (const EmulatedTask& task : ready->graph.tasks) {
    if (const CUresult code = emulator::Enqueue(stream, task)) return entry.Return(code);
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec ready) {
  ENTER();
  if (TheState().ready.erase(ready) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  delete ready;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ENTER();
  if (TheState().graphs.erase(graph) == 0) return entry.Return(CUDA_ERROR_INVALID_HANDLE);
  delete graph;
  return CUDA_SUCCESS;
}
