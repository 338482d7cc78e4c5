// A sign that content is in use: what its roots name is not collected while it lives. docs/store.md, "Leases".
//
// Owned by whoever uses the content, which ends with it; it must not outlive its Store. add() may be called by any
// thread. A lease that could not be written (a read-only store, a full disk) is not held, and that is no error: what is
// taken away by another is missed, and is fetched again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

class Layout;
class Temporaries;
class Uses;
struct LeaseText;

struct LeaseOptions {
  // What else will be used is not known yet: nothing that was collected since the lease began is deleted while it
  // lives.
  bool open = false;
};

class Lease {
 public:
  class Holding;  // its file, and the thread that keeps it fresh
  Lease() noexcept;
  explicit Lease(std::unique_ptr<Holding> holding) noexcept;
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();
  // Of a store that outlives it. More roots than a file names make it an open one.
  [[nodiscard]] static Lease begin(const Layout& layout, Temporaries& temporaries, Uses& uses, LeaseText text);
  [[nodiscard]] bool held() const noexcept { return holding_ != nullptr; }
  void add(const Sha256& root);

 private:
  std::unique_ptr<Holding> holding_;
};

}  // namespace sabath
