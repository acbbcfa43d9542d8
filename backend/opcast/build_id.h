// What tells this library from others: two builds of one collection can live in one process.
#pragma once

namespace opcast {

// A hash of the sources, flags and compilers that made this library.
const char* BuildId();

// The name of the collection, which no other unit knows: so theirs are the same in all collections.
const char* CollectionName();

}  // namespace opcast
