// What a run reads stays: a lease on a store that holds it, from before it is looked up until the run has ended.
// One thread. Throws what opening a store throws.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

class LeasedStore {
 public:
  // Until settle() the lease is open: what will be used is not known yet. `note` is for people.
  LeasedStore(std::unique_ptr<Store> store, std::string note);

  [[nodiscard]] Store& store() const { return *store_; }
  void use(const Sha256& root);  // first this, then whether it is there
  void settle();                 // from now on only what is used is kept

 private:
  std::unique_ptr<Store> store_;
  std::string note_;
  std::vector<Sha256> roots_;
  Lease lease_;  // the last member: it ends before its store
};

}  // namespace sabath
