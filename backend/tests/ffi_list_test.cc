// Lists of arrays: how many there are, what each is called, and which memory they may share. Prints
// "ok N checks".
#include "opcast/ffi_list.h"

#include <vector>

#include "ffi_check.h"

namespace {

using opcast::Lengths;
using opcast::Tensors;

// The lengths of the lists xs and ws of a call, of which the second goes with the first, or why
// there are none.
std::string Read(std::vector<TVMFFIAny> args) {
  std::string text;
  const std::string fault = Thrown([&] {
    const Lengths lengths("op", args.data(), static_cast<int32_t>(args.size()), {"xs", "ws"});
    lengths.Same(1, 0);
    text = std::to_string(lengths[0]) + " " + std::to_string(lengths[1]);
  });
  return fault.empty() ? text : fault;
}

void Counted() {
  Raw x(nullptr, {1});
  Expect(Read({Int(1), Int(1), x.any, x.any}), "1 1");
  Expect(Read({Int(2), Int(2), x.any, x.any, x.any, x.any}), "2 2");
  Expect(Read({Int(0), Int(1), x.any}), "ValueError: op: xs: expected at least 1 array, got 0");
  Expect(Read({Int(1), Int(0), x.any}), "ValueError: op: ws: expected at least 1 array, got 0");
  Expect(Read({Int(-3), Int(1), x.any}), "ValueError: op: xs: expected at least 1 array, got -3");
  Expect(Read({Int(2), Int(1), x.any, x.any, x.any}),
         "ValueError: op: ws: expected 2 arrays (as xs), got 1");
  Expect(Read({Int(1), Int(3), x.any, x.any, x.any, x.any}),
         "ValueError: op: ws: expected 1 array (as xs), got 3");
}

// A caller that lies about how much follows, or sends something else, is refused before anything
// is read that is not there.
void NoCounts() {
  Raw x(nullptr, {1});
  const std::string beyond = ": expected a number of arrays that follow, got ";
  Expect(Read({Int(4), Int(4), x.any}), "ValueError: op: xs" + beyond + "4");
  Expect(Read({Int(INT64_MAX), Int(1), x.any}),
         "ValueError: op: xs" + beyond + "9223372036854775807");
  Expect(Read({Int(1), Int(int64_t{1} << 32), x.any}),
         "ValueError: op: ws" + beyond + "4294967296");
  Expect(Read({x.any, Int(1), x.any}), "TypeError: op: xs: expected int, got array");
  Expect(Read({Number(1), Int(1), x.any}), "TypeError: op: xs: expected int, got float");
  Expect(Read({Int(1), kNone, x.any}), "TypeError: op: ws: expected int, got NoneType");
  Expect(Read({Int(1)}), "TypeError: op: expected 2 arguments, got 1");
  Expect(Read({}), "TypeError: op: expected 2 arguments, got 0");
}

// The arrays of a list that a call has from argument 1 on, or why they are none.
std::string Given(std::vector<TVMFFIAny> args) {
  args.insert(args.begin(), Int(static_cast<int64_t>(args.size())));
  const auto count = static_cast<int32_t>(args.size());
  std::string text;
  const std::string fault = Thrown([&] {
    const Call call("op", args.data(), count, count);
    opcast::RequireList(call, 1, count - 1, "xs");
    const Tensors xs(call, 1, count - 1, "xs");
    text = std::to_string(xs.size()) + (xs.empty() ? " empty" : "");
    for (const int64_t batch : xs.batches(1)) text += " " + std::to_string(batch);
    for (const Tensor& x : xs) call.Rank(x, 2);
    for (const Tensor& x : xs) call.SameBatch(x, 1, xs[0], 1);
  });
  return fault.empty() ? text : fault;
}

void Arrays() {
  Raw a(nullptr, {2, 3}), b(nullptr, {2, 0}), c(nullptr, {0, 3}), vector(nullptr, {3});
  Raw other(nullptr, {4, 3});
  Expect(Given({a.any}), "1 2");
  Expect(Given({b.any, a.any}), "2 2 2");
  Expect(Given({c.any, c.any, c.any}), "3 empty 0 0 0");
  Expect(Given({a.any, kNone}), "TypeError: op: missing required argument 'xs[1]'");
  Expect(Given({a.any, a.any, Int(3)}), "TypeError: op: xs[2]: expected DLPack tensor, got int");
  Expect(Given({Text("a"), a.any}), "TypeError: op: xs[0]: expected DLPack tensor, got str");
  Expect(Given({a.any, vector.any}), "ValueError: op: xs[1]: expected 2 dimensions, got shape [3]");
  Expect(Given({a.any, a.any, other.any}),
         "ValueError: op: xs[2]: expected leading dimensions [2] (as xs[0]), got shape [4, 3]");
}

// Arrays of one list keep their names and places, however many there are.
void Many() {
  float memory[100] = {};
  std::vector<TVMFFIAny> args;
  std::deque<Raw> raws;
  for (float& x : memory)
    args.push_back(raws.emplace_back(&x, std::initializer_list<int64_t>{1}).any);
  const Call call("op", args.data(), 100, 100);
  const Tensors xs(call, 0, 100, "xs");
  const std::vector<void*> data = xs.data();
  for (size_t i : {0, 9, 10, 63, 64, 99}) {
    Expect(xs[i].name(), "xs[" + std::to_string(i) + "]");
    Expect(data[i] == &memory[i] ? "its own" : "another's", "its own");
  }
}

// Whether the arrays of two lists, and an array of its own, lie apart.
enum class Which { kAll, kEarlier };

std::string Overlap(Which which, std::initializer_list<Raw*> raws) {
  std::vector<TVMFFIAny> any;
  for (Raw* raw : raws) any.push_back(raw->any);
  return Thrown([&] {
    const Call call("op", any.data(), 5, 5);
    const Tensors xs(call, 0, 2, "xs"), ys(call, 2, 2, "ys");
    const Tensor z = call.Array(4, "z");
    for (const Tensor& x : xs) {
      if (which == Which::kAll) opcast::Apart(call, x, {ys, z, xs});
    }
    for (const Tensor& y : ys) {
      if (which == Which::kEarlier) opcast::ApartFromEarlier(call, y, {xs, ys, z});
    }
  });
}

void Memory() {
  float memory[16] = {};
  Raw x0(memory, {2}), x1(memory + 2, {2}), y0(memory + 4, {2}), y1(memory + 6, {2});
  Raw z(memory + 8, {2}), empty(memory, {0});
  const std::string overlap = ", got overlapping memory";
  const std::string apart = ": expected memory apart from ";
  for (const Which which : {Which::kAll, Which::kEarlier}) {
    Expect(Overlap(which, {&x0, &x1, &y0, &y1, &z}), "");
    Expect(Overlap(which, {&empty, &empty, &empty, &empty, &empty}), "");
  }
  // Within one list: of what is overwritten, each array is compared with all others; of outputs,
  // with those before.
  Raw half(memory + 1, {2}), same(memory + 4, {2}), row(memory + 5, {1});
  Expect(Overlap(Which::kAll, {&x0, &half, &y0, &y1, &z}),
         "ValueError: op: xs[0]" + apart + "xs[1]" + overlap);
  Expect(Overlap(Which::kEarlier, {&x0, &half, &y0, &y1, &z}), "");
  Expect(Overlap(Which::kEarlier, {&x0, &x1, &y0, &same, &z}),
         "ValueError: op: ys[1]" + apart + "ys[0]" + overlap);
  Expect(Overlap(Which::kAll, {&x0, &x1, &y0, &same, &z}), "");
  // Between lists, and with other arrays.
  Expect(Overlap(Which::kAll, {&x0, &row, &y0, &y1, &z}),
         "ValueError: op: xs[1]" + apart + "ys[0]" + overlap);
  Expect(Overlap(Which::kEarlier, {&x0, &row, &y0, &y1, &z}),
         "ValueError: op: ys[0]" + apart + "xs[1]" + overlap);
  Expect(Overlap(Which::kAll, {&x0, &x1, &y0, &y1, &half}),
         "ValueError: op: xs[0]" + apart + "z" + overlap);
  Expect(Overlap(Which::kEarlier, {&x0, &x1, &y0, &y1, &y0}), "");
}

}  // namespace

int main() {
  Counted();
  NoCounts();
  Arrays();
  Many();
  Memory();
  return Finish();
}
