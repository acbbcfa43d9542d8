// Gradients of flash_attn_varlen: with p = e^(score - lse), delta = grad_o . o - grad_lse and
// grad_s = p (grad_o . v - delta), which the slope of soft_cap and sm_scale multiply, grad_v is the
// sum of p grad_o, grad_k that of grad_s q, grad_q that of grad_s k, as in "FlashAttention" (Dao et
// al., 2022). grad_sinks is less the sum of e^(sink - lse) delta.
//
// A task has the heads of a sequence that share keys, so that no two tasks add to one sum: blocks
// of keys in order, and for each blocks of rows in order. Products are those of gemm_blocks.h, sums
// float, exponents and sums for sinks double; results are rounded once.
#include "cpu/lib/standard_headers.h"

#include <cmath>
#include <memory>

#include "cpu/attention/ragged_sequences.h"
#include "cpu/attention/visible_keys.h"
#include "flash_attn_varlen_backward.gen.h"

namespace opcast_ops {
namespace {

using Args = FlashAttnVarlenBackwardArgs;

constexpr int64_t kBlockKeys = kBlockRows;  // products with keys as rows have no more

struct BackwardSpace {
  alignas(64) float weights[kBlockRows][kBlockKeys];
  alignas(64) float grads[kBlockRows][kBlockKeys];  // of products
};

BackwardSpace* BackwardSpaceOfThread() {
  thread_local const std::unique_ptr<BackwardSpace> space(new BackwardSpace);
  return space.get();
}

// Rows and keys that meet.
struct Meeting {
  int64_t row, rows, key, keys;
};

// One head of keys of a sequence.
template <int kVector>
class Backward {
 public:
  Backward(const Args& args, int64_t b, int64_t head)
      : args_(args),
        b_(b),
        head_(head),
        sequence_(args, b),
        sight_{sequence_.count, sequence_.k_count, args.causal, args.window_left},
        scores_{args.sm_scale, args.soft_cap},
        q_lines_(sequence_.count, args.q_layout.Stride(-3)),
        o_lines_(sequence_.count, args.Hq * args.Dv),
        rows_(sequence_.count * sequence_.group),
        sums_(kBlockKeys * (args.D + args.Dv)),
        space_(*BackwardSpaceOfThread()),
        product_(*SpaceOfThread()) {}

  void Run() {
    for (int64_t r = 0; r < rows_; ++r) {
      args_.deltas[Place(r)] = Delta(Place(r));
      std::fill_n(args_.grad_q_sums + Place(r) * args_.D, args_.D, 0.0f);
    }
    AddSinks();
    for (int64_t key = 0; key < sequence_.k_count; key += kBlockKeys)
      RunKeys(key, std::min(kBlockKeys, sequence_.k_count - key));
    for (int64_t r = 0; r < rows_; ++r) {
      const int64_t at = Place(r) * args_.D;
      Write(args_.T, args_.grad_q_sums + at, args_.D, args_.grad_q, at, Width<kVector>());
    }
  }

 private:
  int64_t Place(int64_t r) const {
    const int64_t group = sequence_.group;
    return (sequence_.begin + r / group) * args_.Hq + head_ * group + r % group;
  }
  Factor GradO(bool along) const {
    const int64_t first = Place(0) * args_.Dv;
    return o_lines_.Of(args_.T, ElementAt(args_.T, args_.grad_o, first), args_.Dv, sequence_.group,
                       along);
  }

  float Delta(int64_t place) const {
    constexpr int64_t kPart = 256;
    float grad[kPart], o[kPart];
    double sum = -double{args_.grad_lse[place]};
    for (int64_t j = 0; j < args_.Dv; j += kPart) {
      const int64_t n = std::min(kPart, args_.Dv - j);
      Read(args_.T, args_.grad_o, place * args_.Dv + j, n, grad, Width<kVector>());
      Read(args_.T, args_.o, place * args_.Dv + j, n, o, Width<kVector>());
      sum += Sum(n, [&](int64_t i) { return double{grad[i]} * o[i]; });
    }
    return static_cast<float>(sum);
  }

  void AddSinks() const {
    if (args_.sinks == nullptr) return;
    for (int64_t g = 0; g < sequence_.group; ++g) {
      const int64_t head = head_ * sequence_.group + g;
      double sum = 0;
      for (int64_t i = 0; i < sequence_.count; ++i) {
        const int64_t place = Place(i * sequence_.group + g);
        const double lse = args_.lse[place];
        if (lse != kNone) sum -= std::exp(args_.sinks[head] - lse) * args_.deltas[place];
      }
      args_.sink_sums[b_ * args_.Hq + head] = sum;
    }
  }

  void RunKeys(int64_t key, int64_t keys) {
    float *const grad_k = sums_.Floats(), *const grad_v = grad_k + kBlockKeys * args_.D;
    std::fill_n(grad_k, kBlockKeys * (args_.D + args_.Dv), 0.0f);
    for (int64_t row = 0; row < rows_; row += kBlockRows)
      RunBlock({row, std::min(kBlockRows, rows_ - row), key, keys}, grad_k, grad_v);
    for (int64_t i = 0; i < keys; ++i) {
      const int64_t place = (sequence_.k_begin + key + i) * args_.Hk + head_;
      Write(args_.T, grad_k + i * args_.D, args_.D, args_.grad_k, place * args_.D,
            Width<kVector>());
      Write(args_.T, grad_v + i * args_.Dv, args_.Dv, args_.grad_v, place * args_.Dv,
            Width<kVector>());
    }
  }

  // The keys of a meeting that one of its rows sees, counted from its first key.
  KeyRange Seen(const Meeting& m, int64_t r) const {
    const KeyRange all = sight_.Of((m.row + r) / sequence_.group);
    return {std::clamp<int64_t>(all.begin - m.key, 0, m.keys),
            std::clamp<int64_t>(all.end - m.key, 0, m.keys)};
  }

  void RunBlock(const Meeting& m, float* grad_k, float* grad_v) {
    bool any = false, all = true;
    for (int64_t r = 0; r < m.rows; ++r) {
      const KeyRange seen = Seen(m, r);
      any |= !seen.Empty();
      all &= seen.begin == 0 && seen.end == m.keys && args_.lse[Place(m.row + r)] != kNone;
    }
    if (!any) return;
    MakeGrads(m);
    if (!all && !IsFinite(m)) return AddEach(m, grad_k, grad_v);
    AddBlocks(m, grad_k, grad_v);
  }

  // Makes weights, and gradients of products; those of keys that a row does not see are zero.
  void MakeGrads(const Meeting& m) {
    const Block block{m.row, m.rows, m.key, m.keys};
    Clear({0, m.rows, 0, m.keys}, product_.sums);
    Multiply(sequence_.Q(args_, head_, q_lines_), sequence_.K(args_, head_), block, args_.D,
             &product_, Width<kVector>());
    for (int64_t r = 0; r < m.rows; ++r) {
      scores_.Weigh<kVector>(m.keys, args_.lse[Place(m.row + r)], product_.sums[r],
                             space_.weights[r], space_.grads[r]);
    }
    Clear({0, m.rows, 0, m.keys}, product_.sums);
    Multiply(GradO(true), sequence_.V(args_, head_, true), block, args_.Dv, &product_,
             Width<kVector>());
    for (int64_t r = 0; r < m.rows; ++r) {
      float *const weights = space_.weights[r], *const grads = space_.grads[r];
      const int64_t place = Place(m.row + r);
      const float delta = args_.deltas[place];
      for (int64_t j = 0; j < m.keys; ++j) grads[j] *= product_.sums[r][j] - delta;
      KeyRange seen = Seen(m, r);
      if (args_.lse[place] == kNone) seen = {m.keys, m.keys};
      if (seen.Empty()) seen = {m.keys, m.keys};
      for (float* const line : {weights, grads}) {
        std::fill_n(line, seen.begin, 0.0f);
        std::fill(line + seen.end, line + m.keys, 0.0f);
      }
    }
  }

  // Adds a product, whose terms meet along `depth`, to rows of sums.
  template <class To>
  void AddProduct(const Factor& a, const Factor& b, int64_t rows, int64_t columns, int64_t depth,
                  To to) {
    for (int64_t column = 0; column < columns; column += kBlockColumns) {
      const Block block{0, rows, column, std::min(kBlockColumns, columns - column)};
      Clear(block, product_.sums);
      Multiply(a, b, block, depth, &product_, Width<kVector>());
      for (int64_t i = 0; i < rows; ++i) {
        float* const sums = to(i) + column;
        for (int64_t j = 0; j < block.columns; ++j) sums[j] += product_.sums[i][j];
      }
    }
  }

  void AddBlocks(const Meeting& m, float* grad_k, float* grad_v) {
    const Factor weights{opcast::DType::kF32, space_.weights, kBlockKeys, false};
    Factor grads{opcast::DType::kF32, space_.grads, kBlockKeys, false};
    Factor q = sequence_.Q(args_, head_, q_lines_, false), o = GradO(false);
    Factor k = sequence_.K(args_, head_, false);
    q.first = o.first = m.row, k.first = m.key;
    AddProduct(weights, o, m.keys, args_.Dv, m.rows,
               [&](int64_t i) { return grad_v + i * args_.Dv; });
    AddProduct(grads, q, m.keys, args_.D, m.rows, [&](int64_t i) { return grad_k + i * args_.D; });
    grads.along = true;
    AddProduct(grads, k, m.rows, args_.D, m.keys,
               [&](int64_t i) { return args_.grad_q_sums + Place(m.row + i) * args_.D; });
  }

  // Calls f with the numbers of a line.
  template <class F>
  void WithLine(const Factor& factor, int64_t line, int64_t n, F f) const {
    constexpr int64_t kPart = 256;
    float numbers[kPart];
    for (int64_t j = 0; j < n; j += kPart) {
      const int64_t count = std::min(kPart, n - j);
      Read(factor.type, factor.data, factor.Offset(line) + j, count, numbers, Width<kVector>());
      f(j, count, numbers);
    }
  }

  // Whether products with zeros are zero.
  bool IsFinite(const Meeting& m) const {
    const Factor q = sequence_.Q(args_, head_, q_lines_), k = sequence_.K(args_, head_);
    const Factor o = GradO(true);
    bool finite = true;
    const auto check = [&](int64_t, int64_t count, const float* numbers) {
      finite &= AllOf<kVector>(count, [](float x) { return x - x == 0; }, numbers);
    };
    for (int64_t r = m.row; r < m.row + m.rows; ++r) {
      WithLine(q, r, args_.D, check);
      WithLine(o, r, args_.Dv, check);
    }
    for (int64_t key = m.key; key < m.key + m.keys; ++key) WithLine(k, key, args_.D, check);
    return finite;
  }

  // The same as AddBlocks, one row and key that it sees at a time.
  void AddEach(const Meeting& m, float* grad_k, float* grad_v) {
    const Factor q = sequence_.Q(args_, head_, q_lines_), k = sequence_.K(args_, head_);
    const Factor o = GradO(true);
    const auto add = [this](const Factor& from, int64_t line, int64_t n, float factor, float* to) {
      WithLine(from, line, n, [=](int64_t at, int64_t count, const float* numbers) {
        for (int64_t j = 0; j < count; ++j) to[at + j] += factor * numbers[j];
      });
    };
    for (int64_t r = 0; r < m.rows; ++r) {
      const int64_t place = Place(m.row + r);
      const KeyRange seen = Seen(m, r);
      if (args_.lse[place] == kNone) continue;
      for (int64_t j = seen.begin; j < seen.end; ++j) {
        add(o, m.row + r, args_.Dv, space_.weights[r][j], grad_v + j * args_.Dv);
        add(q, m.row + r, args_.D, space_.grads[r][j], grad_k + j * args_.D);
        add(k, m.key + j, args_.D, space_.grads[r][j], args_.grad_q_sums + place * args_.D);
      }
    }
  }

  const Args& args_;
  const int64_t b_, head_;
  const Sequence sequence_;
  const Sight sight_;
  const Scores scores_;
  const TokenLines q_lines_, o_lines_;
  const int64_t rows_;
  const FloatSpace sums_;  // of grad_k and grad_v, for a block of keys
  BackwardSpace& space_;
  ProductSpace& product_;
};

// Writes zeros where there is no sequence.
void WriteOthers(const Args& args, const opcast::Launch& launch) {
  const auto clear = [&](const Offsets& offsets, int64_t n, void* to) {
    ForOthers(launch, offsets, args.B, n, [&](int64_t row, auto width) {
      const FloatSpace zeros(n);
      std::fill_n(zeros.Floats(), n, 0.0f);
      Write(args.T, zeros.Floats(), n, to, row * n, width);
    });
  };
  clear({args.cu_seqlens_q, args.Tq}, args.Hq * args.D, args.grad_q);
  clear({args.cu_seqlens_k, args.Tk}, args.Hk * args.D, args.grad_k);
  clear({args.cu_seqlens_k, args.Tk}, args.Hk * args.Dv, args.grad_v);
}

}  // namespace

opcast::Status FlashAttnVarlenBackward(const Args& args, const opcast::Launch& launch) {
  WriteOthers(args, launch);
  opcast::ParallelFor(launch, args.B * args.Hk, 1, [&](int64_t begin, int64_t end, auto vector) {
    for (int64_t i = begin; i < end; ++i) Backward<vector>(args, i / args.Hk, i % args.Hk).Run();
  });
  for (int64_t h = 0; h < args.Hq && args.sinks != nullptr; ++h) {
    double sum = 0;
    for (int64_t b = 0; b < args.B; ++b) sum += args.sink_sums[b * args.Hq + h];
    args.grad_sinks[h] = Round<float>(sum);
  }
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
