// A lease says that content is in use: while it lives, its roots' content is not collected. docs/store.md, "Leases".
//
// The user of the content owns the lease, and its use ends with it. It must not outlive its Store. Any thread may call
// add(). A lease that cannot be written (a read-only store, a full disk) is not held, and that is no error: content
// that another process collects is missed, and fetched again.
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
  // It is not known yet which other content will be used: nothing collected since the lease began is deleted while it
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
  // The store outlives it. More roots than a file can name make it an open lease.
  [[nodiscard]] static Lease begin(const Layout& layout, Temporaries& temporaries, Uses& uses, LeaseText text);
  [[nodiscard]] bool held() const noexcept { return holding_ != nullptr; }
  void add(const Sha256& root);

 private:
  std::unique_ptr<Holding> holding_;
};

}  // namespace sabath
