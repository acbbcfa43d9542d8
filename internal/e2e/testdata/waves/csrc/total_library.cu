// The file of a kernel that only compilers for GPUs take: no build for an emulated device may
// compile it, or need what it defines.
#error "the C++ compiler has read the file of a kernel that it does not take"
