// Arguments of an exported call that are lists of arrays. Their arrays stand one by one where the
// list would, and how many there are comes before all other arguments.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "opcast/ffi.h"

namespace opcast {

// How many arrays each list of a call has: at least one.
class Lengths {
 public:
  Lengths(const char* op, const TVMFFIAny* args, int32_t count,
          std::initializer_list<const char*> lists);

  int operator[](int list) const { return lengths_[static_cast<size_t>(list)]; }
  // The list has as many arrays as an earlier one, whose arrays have sizes in common with its own.
  void Same(int list, int first) const {
    if (lengths_[static_cast<size_t>(list)] != lengths_[static_cast<size_t>(first)]) {
      Differ(list, first);
    }
  }

 private:
  [[noreturn, gnu::cold]] void Differ(int list, int first) const;
  const char* Name(int list) const { return names_[static_cast<size_t>(list)]; }

  const char* const op_;
  const std::vector<const char*> names_;
  std::vector<int> lengths_;
};

// The arrays of a list, which are called "xs[0]", "xs[1]" and so on.
class Tensors {
 public:
  // Reads them from `first` on. Throws for what is no array.
  Tensors(const Call& call, int first, int count, const char* name);

  size_t size() const { return tensors_.size(); }
  const Tensor& operator[](size_t i) const { return tensors_[i]; }
  Tensor& operator[](size_t i) { return tensors_[i]; }
  std::deque<Tensor>::const_iterator begin() const { return tensors_.begin(); }
  std::deque<Tensor>::const_iterator end() const { return tensors_.end(); }
  bool empty() const;  // no array has elements
  // The first elements of all.
  std::vector<void*> data() const;
  // How many leading indices each has.
  std::vector<int64_t> batches(int trailing) const;

 private:
  std::deque<std::string> names_;
  std::deque<Tensor> tensors_;  // which stay where they are
};

// An argument, or the arrays of one that is a list.
class Group {
 public:
  Group(const Tensor& t) : one_(&t) {}      // NOLINT(google-explicit-constructor)
  Group(const Tensors& ts) : many_(&ts) {}  // NOLINT(google-explicit-constructor)

  size_t size() const { return one_ != nullptr ? 1 : many_->size(); }
  const Tensor& operator[](size_t i) const { return one_ != nullptr ? *one_ : (*many_)[i]; }

 private:
  const Tensor* one_ = nullptr;
  const Tensors* many_ = nullptr;
};

// No byte of t belongs to another of these arrays.
void Apart(const Call& call, const Tensor& t, std::initializer_list<Group> others);
// The same, for the arrays before t itself.
void ApartFromEarlier(const Call& call, const Tensor& t, std::initializer_list<Group> others);

// All arrays of a list are given. Throws for the first that is not.
void RequireList(const Call& call, int first, int count, const char* name);

}  // namespace opcast
