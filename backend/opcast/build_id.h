// What tells this library from others: two builds of one collection can live in one process.
#pragma once

namespace opcast {

// A hash of the sources, flags and compilers that made this library.
const char* BuildId();

// The name of the collection. No other unit's text has it, so a compiler cache shares theirs.
const char* CollectionName();

}  // namespace opcast
