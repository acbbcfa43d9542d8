// A unit of its own: it is compiled again whenever any source changes.
#include "opcast/build_id.h"

#ifndef OPCAST_BUILD_ID
#define OPCAST_BUILD_ID "dev"
#endif

const char* opcast::BuildId() { return OPCAST_BUILD_ID; }
