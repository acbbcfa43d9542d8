// Counts how often a test allocates. For one source of a program: it defines operator new.
#pragma once

#include <cstdlib>
#include <new>

inline int allocations = 0;

void* operator new(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  return memory == nullptr ? throw std::bad_alloc() : memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
