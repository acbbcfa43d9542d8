// How a kernel is started, besides its grid.
#pragma once

namespace opcast {

// Each needs a GPU that can do it, so guard such kernels by `arch` in the definition; a GPU that
// cannot refuses the launch.
struct StartOptions {
  unsigned cluster = 1;      // blocks along x that share memory, from sm_90 on; divides the grid
  bool cooperative = false;  // all blocks run at once, so that they may wait for each other
  bool overlaps = false;     // may begin before the kernel before it on the stream has ended; it
                             // waits for that by WaitForEarlier before it reads what that wrote
};

}  // namespace opcast
