// Keeps the assets of a run: a lease on the store that holds them, from before the look-up until the run has ended.
// One thread. Throws what opening a store throws.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

class LeasedStore {
 public:
  // Until settle() the lease is open (LeaseOptions): its roots are not known yet. `note` is for users.
  LeasedStore(std::unique_ptr<Store> store, std::string note);

  [[nodiscard]] Store& store() const { return *store_; }
  void use(const Sha256& root);  // call it before the look whether the root is there
  void settle();                 // from now on the lease keeps only the roots in use

 private:
  std::unique_ptr<Store> store_;
  std::string note_;
  std::vector<Sha256> roots_;
  Lease lease_;  // the last member: it ends before its store
};

}  // namespace sabath
