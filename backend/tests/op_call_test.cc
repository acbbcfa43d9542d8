// op_call: defaults of every type, arrays of every role, scratch that is given or not, and nested
// calls. Prints "ok N checks".
#include "registry_ops.h"

extern "C" int __tvm_ffi__opcast_op_call(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

namespace {

using Values = std::vector<TVMFFIAny>;

TVMFFIAny Bool(bool value) { return Int(value ? 1 : 0, kTVMFFIBool); }

// A call of the op by name, after which the test says what else is in it.
struct Flat {
  Tally tally;
  Values scratch;
  Values attrs;

  std::string Run(bool weight = true) {
    seen = {};
    Values args = {Text("tally"), Int(weight ? 3 : 2),
                   Int(1),        Int(static_cast<int64_t>(scratch.size())),
                   tally.x.any,   tally.starts.any};
    if (weight) args.push_back(tally.weight.any);
    args.push_back(tally.y.any);
    args.insert(args.end(), scratch.begin(), scratch.end());
    args.insert(args.end(), attrs.begin(), attrs.end());
    const std::string error = Ask(__tvm_ffi__opcast_op_call, args);
    return error.empty() ? seen.kernel : error;
  }
};

void Defaults() {
  Flat flat;
  Expect(flat.Run(), "picky");
  Expect(seen.attrs, "1 2 -1 -1 a \"b\"? exact");
  Expect(opcast::Number(seen.scale) + " " + std::to_string(seen.bias), "0.408248 5");
  Expect(flat.Run(false), "picky");
}

void Given() {
  Flat flat;
  int64_t both[] = {7, 8};
  Raw list(both, {2}, kInt64);
  flat.attrs = {Text("exact"), Bool(false), Text("tag"),  Text("t"), Text("skip"),  list.any,
                Text("pads"),  Int(3),      Text("bias"), Int(4),    Text("scale"), Int(2)};
  Expect(flat.Run(), "picky");
  Expect(seen.attrs, "3 3 7 8 t rounded");
  Expect(opcast::Number(seen.scale) + " " + std::to_string(seen.bias), "2 4");
  flat.attrs = {Text("scale"), kNone, Text("bias"), kNone};  // these are computed
  Expect(flat.Run(), "picky");
  Expect(opcast::Number(seen.scale) + " " + std::to_string(seen.bias), "0.408248 5");
  flat.attrs = {Text("pads"), kNone};
  Expect(flat.Run(), "TypeError: tally: pads: expected 2 integers, got NoneType");
}

void Names() {
  Flat flat;
  flat.attrs = {Text("step"), Int(1)};
  Expect(
      flat.Run(),
      "TypeError: tally: attrs: expected one of 'scale', 'bias', 'pads', 'skip', 'tag', 'exact', "
      "got 'step'");
  flat.attrs = {Text("bias"), Int(1), Text("bias"), Int(1)};
  Expect(flat.Run(), "TypeError: tally: bias: expected one value, got two");
  flat.attrs = {Text("bias"), Int(1), Text("tag")};
  Expect(flat.Run(),
         "TypeError: tally: attrs: expected a value for every name, got none for 'tag'");
  flat.attrs = {Int(1), Int(1)};
  Expect(flat.Run(), "TypeError: tally: attrs: expected str, got int");
  flat.attrs = {Text(nullptr), Int(1)};
  Expect(flat.Run(), "TypeError: tally: attrs: expected str, got a null pointer");
}

// What is missing is allocated, for kernels that want it, and freed.
void Scratch() {
  Flat flat;
  Expect(flat.Run(), "picky");
  Expect(std::to_string(seen.part != nullptr && seen.part != data + 256 && seen.zeros), "1");
  flat.scratch = {flat.tally.part.any, flat.tally.values.any};
  std::memset(data + 256, 1, 64);
  Expect(flat.Run(), "picky");
  Expect(std::to_string(seen.part == data + 256 && seen.values == &number && seen.zeros), "1");
  flat.scratch = {flat.tally.part.any};
  Expect(flat.Run(), "picky");
  Expect(std::to_string(seen.part == data + 256 && seen.values != nullptr), "1");
  flat.scratch = {flat.tally.part.any, flat.tally.values.any, kNone};
  Expect(flat.Run(), "TypeError: tally: scratch: expected at most 2 arrays, got 3");
  flat.scratch = {flat.tally.values.any};
  Expect(flat.Run(), "TypeError: tally: part: expected dtype float32 (as x), got int64");
  wanted = 1000;
  flat.scratch = {};
  Expect(flat.Run(),
         "RuntimeError: tally: kernel tally_picky wants 1000 bytes of scratch, the definition "
         "declares 40");
  wanted = 0;
}

void Counts() {
  const auto call = [](const Values& args) { return Ask(__tvm_ffi__opcast_op_call, args); };
  Flat flat;
  const TVMFFIAny x = flat.tally.x.any;
  Expect(call({}), "TypeError: op_call: expected 4 arguments, got 0");
  Expect(call({Int(5), Int(0), Int(0), Int(0)}), "TypeError: tally: missing required argument 'x'");
  Expect(call({Int(6), Int(0), Int(0), Int(0)}),
         "ValueError: op_call: kind: expected the number or name of an op, got 6");
  Expect(call({Int(5), Int(1), Int(1), Int(0), x}),
         "ValueError: op_call: outputs: expected a number of arrays that follow, got 1");
  Expect(call({Int(5), Int(4), Int(0), Int(0), x, x, x, x}),
         "TypeError: tally: inputs: expected at most 3 arrays, got 4");
  Expect(call({Int(5), Int(0), Int(2), Int(0), x, x}),
         "TypeError: tally: outputs: expected at most 1 array, got 2");
  Expect(call({Int(5), Bool(true), Int(0), Int(0)}),
         "TypeError: op_call: inputs: expected int, got bool");
}

}  // namespace

int main() {
  Defaults();
  Given();
  Names();
  Scratch();
  Counts();
  return Finish();
}
