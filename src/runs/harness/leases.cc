#include "harness/leases.h"

namespace sabath {

LeasedStore::LeasedStore(std::unique_ptr<Store> store, std::string note)
    : store_(std::move(store)), note_(std::move(note)), lease_(store_->lease({}, note_, {true})) {}

void LeasedStore::use(const Sha256& root) {
  roots_.push_back(root);
  lease_.add(root);
}

// The new lease is there before the old one ends.
void LeasedStore::settle() { lease_ = store_->lease(roots_, note_, {false}); }

}  // namespace sabath
