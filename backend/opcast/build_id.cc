// A unit of its own: it is compiled again whenever any source changes.
#include "opcast/build_id.h"

#ifndef OPCAST_COLLECTION
#error "define OPCAST_COLLECTION as the name of the collection"
#endif
#ifndef OPCAST_BUILD_ID
#define OPCAST_BUILD_ID "dev"
#endif
#ifndef OPCAST_SOURCES
#define OPCAST_SOURCES ""
#endif

namespace {
// The digest of all sources, headers, generated files and the manifest, for tools that read the
// library as a file: `readelf -p .opcast` prints it.
__attribute__((section(".opcast"), used)) const char sources[] = OPCAST_SOURCES;
}  // namespace

const char* opcast::BuildId() {
  asm volatile("" : : "r"(&sources));  // linkers that leave out what nobody refers to shall keep it
  return OPCAST_BUILD_ID;
}

const char* opcast::CollectionName() { return OPCAST_COLLECTION; }
