// Everything that a kernel sees of opcast. It includes no FFI and no framework header.
#pragma once

#include "opcast/fpenv.h"
#include "opcast/launch.h"
#include "opcast/layout.h"
#include "opcast/parallel.h"
#include "opcast/scalar.h"
#include "opcast/types.h"
