// o = softmax(sm_scale * (q_nope @ ckv.T + q_pe @ kpe.T)) @ ckv and the logarithm of the softmax's
// denominator, for each sequence over the pages in its row of block_tables: see attention.h for the
// algorithm and its precision.
//
// All heads of a query see the same keys, so a task has a block of the rows of a sequence, for
// which a key is read once: the parts of queries and of a step's keys are copied side by side.
// Slots beyond the length of a sequence are not read. Pages that the definition forbids lead to
// wrong results, but not out of the cache.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/paged_cache.h"
#include "mla_paged_attention.gen.h"

namespace opcast_ops {
namespace {

using Args = MlaPagedAttentionArgs;

// Memory of a thread, until it ends: fresh memory would cost more than many a step.
struct Copies {
  std::vector<char> queries, keys;
};
Copies* CopiesOfThread() {
  thread_local Copies copies;
  return &copies;
}
char* Room(std::vector<char>* space, int64_t bytes) {
  if (space->size() < static_cast<size_t>(bytes)) space->resize(static_cast<size_t>(bytes));
  return space->data();
}

// A cache without heads. Its rows are read as `type` says, and copied to lines of both caches.
struct Part {
  CacheType type;
  PagedRows rows;
  int64_t columns, at;  // the first column of a line

  void Copy(const int32_t* table, int64_t first, int64_t count, char* lines, int64_t line) const {
    const char* from[kStepKeys];
    rows.Find(table, first, count, from);
    for (int64_t i = 0; i < count && columns > 0; ++i) {
      const char* const ahead = from[std::min(i + kAhead, count - 1)];
      for (int64_t j = 0; j < columns * type.Bytes(); j += kFetched) FetchToRead(ahead + j);
      type.Copy(from[i], columns, lines + i * line + at * type.ReadBytes());
    }
  }

 private:
  static constexpr int64_t kAhead = 8, kFetched = 64;  // rows on their way, and bytes of one fetch
};

// The keys of a sequence, whose first columns are the values.
class LatentKeys {
 public:
  LatentKeys(const Args& args, int64_t b)
      : args_(args),
        table_(args.block_tables + b * args.M),
        count_(args.P == 0 ? 0 : std::clamp<int64_t>(args.seq_lens[b], 0, args.M * args.S)) {}

  int64_t Count() const { return count_; }

  StepFactors operator()(int64_t first, int64_t count) const {
    const int64_t depth = args_.Dc + args_.Dr;
    const Part ckv = PartOf(args_.ckv_cache, args_.ckv_cache_layout, args_.ckv_scale, args_.Dc, 0);
    const Part kpe =
        PartOf(args_.kpe_cache, args_.kpe_cache_layout, args_.kpe_scale, args_.Dr, args_.Dc);
    const int64_t line = depth * ckv.type.ReadBytes();
    char* const lines = Room(&CopiesOfThread()->keys, kStepKeys * line);
    ckv.Copy(table_, first, count, lines, line);
    kpe.Copy(table_, first, count, lines, line);
    const opcast::DType type = ckv.type.Read();
    return {{type, lines, depth}, {type, lines, depth, false}};
  }

 private:
  // If one of both has a scale, both become floats.
  Part PartOf(const void* cache, const opcast::Layout& layout, const float* scale, int64_t columns,
              int64_t at) const {
    const bool scaled = args_.ckv_scale != nullptr || args_.kpe_scale != nullptr;
    const CacheType type{args_.C, scale == nullptr ? 1 : *scale, scaled};
    const int64_t bytes = type.Bytes();
    return {type,
            {static_cast<const char*>(cache), layout.Stride(-3) * bytes, layout.Stride(-2) * bytes,
             args_.P, args_.S},
            columns,
            at};
  }

  const Args& args_;
  const int32_t* const table_;
  const int64_t count_;
};

// Copies the parts of `rows` rows of a sequence from `row` on side by side.
void CopyQueries(const Args& args, int64_t row, int64_t rows, char* to) {
  const int64_t bytes = args.T == opcast::DType::kF32 ? 4 : 2;
  const auto copy = [&](const void* from, const opcast::Layout& layout, int64_t n, int64_t at) {
    if (n == 0) return;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t query = (row + i) / args.H, head = (row + i) % args.H;
      const int64_t offset = query * layout.Stride(-3) + head * layout.Stride(-2);
      std::memcpy(to + (i * (args.Dc + args.Dr) + at) * bytes,
                  static_cast<const char*>(from) + offset * bytes, static_cast<size_t>(n * bytes));
    }
  };
  copy(args.q_nope, args.q_nope_layout, args.Dc, 0);
  copy(args.q_pe, args.q_pe_layout, args.Dr, args.Dc);
}

// Computes a block of the rows of a sequence.
template <int kVector>
void Attend(const Args& args, int64_t b, int64_t row) {
  const Offsets offsets{args.cu_seqlens_q, args.N};
  const int64_t depth = args.Dc + args.Dr, first = offsets.Begin(b) * args.H;
  LatentKeys keys(args, b);
  const Sight sight{offsets.Length(b), keys.Count(), args.causal, std::nullopt};
  const int64_t rows = std::min(kBlockRows, sight.queries * args.H - row);
  const int64_t bytes = args.T == opcast::DType::kF32 ? 4 : 2;
  char* const copies = Room(&CopiesOfThread()->queries, kBlockRows * depth * bytes);
  CopyQueries(args, first + row, rows, copies);
  Queries queries{{args.T, copies, depth},
                  args.H,
                  depth,
                  sight,
                  {args.sm_scale, std::nullopt},
                  nullptr,
                  args.Dc,
                  args.T,
                  args.o,
                  args.lse,
                  first,
                  args.H};
  queries.q.first = -row;
  Attention<kVector, LatentKeys>(queries, &keys).Run(row, rows);
}

// Writes results of queries that belong to no sequence.
void WriteOthers(const Args& args, const opcast::Launch& launch) {
  const int64_t n = args.H * args.Dc;
  ForOthers(launch, {args.cu_seqlens_q, args.N}, args.B, n, [&](int64_t row, auto width) {
    const FloatSpace zeros(n);
    std::fill_n(zeros.Floats(), n, 0.0f);
    Write(args.T, zeros.Floats(), n, args.o, row * n, width);
    std::fill_n(args.lse + row * args.H, args.H, static_cast<float>(kNone));
  });
}

}  // namespace

opcast::Status MlaPagedAttention(const Args& args, const opcast::Launch& launch) {
  WriteOthers(args, launch);
  const Offsets offsets{args.cu_seqlens_q, args.N};
  const SequenceParts parts(args.B, [&](int64_t b) {
    return (offsets.Length(b) * args.H + kBlockRows - 1) / kBlockRows;
  });
  opcast::ParallelFor(launch, parts.Count(), 1, [&](int64_t begin, int64_t end, auto vector) {
    for (int64_t index = begin; index < end; ++index) {
      const auto place = parts.At(index);
      Attend<vector>(args, place.b, place.part * kBlockRows);
    }
  });
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
