#include <algorithm>

#include "../bug.h"
#include "../numbers.h"
#include "resize_rows.gen.h"

namespace museum_ops {
namespace {

// Where the number for a place of the result lies.
int64_t Source(const ResizeRowsArgs& args, int64_t place) {
  const int64_t at_centre = (2 * place + 1) * args.L / (2 * args.size),
                at_begin = place * args.L / args.size;
  if (!args.centred) {
    return BUG("Oneflow-Inc/oneflow#5347",
               "Half a place was added although places are measured where they begin.")
               ? at_centre
               : at_begin;
  }
  if (BUG("flagos-ai/FlagGems#5229",
          "Half a place was missing although places are measured at their centres."))
    return at_begin;
  if (BUG("opencv/opencv#29825",
          "The step was rounded to 16 binary digits, and its error grew from place to place.")) {
    const int64_t step = ((args.L << 16) + args.size / 2) / args.size;
    return std::min((step * place + step / 2 - args.L % 2) >> 16, args.L - 1);
  }
  return at_centre;
}

}  // namespace

opcast::Status ResizeRows(const ResizeRowsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t b = 0; b < a.batch; ++b) {
      for (int64_t i = 0; i < a.size; ++i) a.y[b * a.size + i] = a.x[b * a.L + Source(a, i)];
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
