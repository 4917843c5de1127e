// Owns an open file descriptor. Closing it also releases its flock.
#ifndef HEARTH_CORE_BASE_DESCRIPTOR_H_
#define HEARTH_CORE_BASE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace hearth {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  // Gives the descriptor away: whoever takes it closes it.
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_DESCRIPTOR_H_
