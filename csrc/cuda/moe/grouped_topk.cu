// ids[i] = the k best experts of token i, out of the topk_groups groups that are best; weights[i] =
// their scores, dense rows. A group is as good as its best two scores and biases together, or, if
// there is no bias, as its best score. A warp for each row, in double, so that scores which differ
// are told apart.
//
// Registers: at most 128.
// sass: allows call in GroupedTopkKernel: indices beyond 32 bits
// sass: allows fp64 in GroupedTopkKernel: precision, as the head of this file says
// sass: allows narrow in GroupedTopkKernel: rows at any address
#include "cuda/moe/expert_ranking.h"
#include "grouped_topk.gen.h"

namespace opcast_ops {
namespace {

constexpr int kRows = 4;  // of a block, a warp each

template <class T>
class Router {
 public:
  explicit Router(const GroupedTopkTyped<T>& a)
      : logits_(a.scores),
        bias_(a.bias),
        n_(a.E),
        k_(a.k),
        groups_(a.num_groups),
        taken_groups_(a.topk_groups),
        renormalize_(a.renormalize),
        sigmoid_(a.scoring == GroupedTopkScoring::kSigmoid),
        factor_(a.routed_scaling_factor),
        compared_(a.compared),
        taken_(a.taken),
        weights_(a.weights),
        ids_(a.ids) {}

  OPCAST_DEVICE void Route(int64_t i) const {
    const Softmax softmax = sigmoid_ ? Softmax{} : SoftmaxOf(i);
    const auto score = [&](int64_t e) {
      const double x = static_cast<float>(logits_[i * n_ + e]);
      return sigmoid_ ? 1 / (1 + exp(-x)) : exp(x - softmax.max) / softmax.sum;
    };
    double* const compared = compared_ + i * n_;
    for (int64_t e = opcast::Lane(); e < n_; e += opcast::kWarp)
      compared[e] = score(e) + (bias_ == nullptr ? 0 : static_cast<double>(bias_[e]));
    int32_t* const taken = taken_ + i * groups_;
    for (int64_t g = opcast::Lane(); g < groups_; g += opcast::kWarp) taken[g] = 0;
    opcast::SyncWarp();
    TakeGroups(compared, taken);
    ChooseExperts(i, compared, taken, score);
  }

 private:
  struct Softmax {
    double max = 0, sum = 1;
  };

  OPCAST_DEVICE Softmax SoftmaxOf(int64_t i) const {
    const T* const row = logits_ + i * n_;
    float max = -INFINITY;
    for (int64_t e = opcast::Lane(); e < n_; e += opcast::kWarp) {
      const float x = static_cast<float>(row[e]);
      max = x > max ? x : max;
    }
    max = opcast::WarpReduce(max, [](float a, float b) { return a > b ? a : b; });
    double sum = 0;
    for (int64_t e = opcast::Lane(); e < n_; e += opcast::kWarp)
      sum += exp(static_cast<double>(static_cast<float>(row[e])) - max);
    return {max, opcast::WarpReduce(sum, [](double a, double b) { return a + b; })};
  }

  // How good a group is.
  OPCAST_DEVICE double Worth(const double* compared) const {
    const int64_t size = n_ / groups_;
    double best = compared[0], second = NAN;
    for (int64_t e = 1; e < size; ++e) {
      const double x = compared[e];
      if (Above(x, best)) {
        second = best;
        best = x;
      } else if (Above(x, second)) {
        second = x;
      }
    }
    return bias_ == nullptr || size == 1 ? best : best + second;
  }

  OPCAST_DEVICE void TakeGroups(const double* compared, int32_t* taken) const {
    const int64_t size = n_ / groups_;
    const auto worth = [&](int64_t g) { return Worth(compared + g * size); };
    const auto all = [](int64_t) { return true; };
    ForBest<double>(groups_, taken_groups_, worth, all, [&](int64_t, const Ranked<double>& best) {
      if (opcast::Lane() == 0) taken[best.place] = 1;
    });
    opcast::SyncWarp();
  }

  template <class Score>
  OPCAST_DEVICE void ChooseExperts(int64_t i, const double* compared, const int32_t* taken,
                                   Score score) const {
    const int64_t size = n_ / groups_;
    const auto value = [&](int64_t e) { return compared[e]; };
    const auto counts = [&](int64_t e) { return taken[e / size] != 0; };
    double sum = 1e-20;
    ForBest<double>(n_, k_, value, counts, [&](int64_t j, const Ranked<double>& best) {
      sum += score(best.place);
      if (opcast::Lane() == 0) ids_[i * k_ + j] = opcast::Narrow<int32_t>(best.place);
    });
    if (opcast::Lane() != 0) return;
    const double factor = renormalize_ ? factor_ / sum : factor_;
    for (int64_t j = 0; j < k_; ++j)
      weights_[i * k_ + j] = static_cast<float>(score(ids_[i * k_ + j]) * factor);
  }

  const T* logits_;
  const float* bias_;  // or null
  int64_t n_, k_, groups_, taken_groups_;
  bool renormalize_, sigmoid_;
  double factor_;
  double* compared_;
  int32_t* taken_;
  float* weights_;
  int32_t* ids_;
};

template <class T>
__global__ void __launch_bounds__(kRows* opcast::kWarp)
    GroupedTopkKernel(Router<T> router, int64_t rows) {
  const int64_t step = int64_t{gridDim.x} * kRows;
  for (int64_t i = int64_t{blockIdx.x} * kRows + threadIdx.x / opcast::kWarp; i < rows; i += step)
    router.Route(i);
}

}  // namespace

opcast::Status GroupedTopkCuda(const GroupedTopkArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return opcast::Start(GroupedTopkKernel<T>, opcast::Blocks((a.N + kRows - 1) / kRows),
                         kRows * opcast::kWarp, 0, launch, Router<T>(a), a.N);
  });
}

}  // namespace opcast_ops
