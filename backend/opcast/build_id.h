// What tells this library from others: two builds of one collection can live in one process.
#pragma once

namespace opcast {

// A hash of the sources, flags and compilers that made this library.
const char* BuildId();

}  // namespace opcast
