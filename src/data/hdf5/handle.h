// Owned HDF5 identifiers, and the library's failures as Error. For src/data/hdf5 only: no other folder sees <hdf5.h>.
//
// HDF5 keeps one error stack for each thread. HDF5 calls of one process wait for each other: any thread may use any of
// this, but two threads are no faster than one.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "sabath/error.h"

namespace sabath::h5 {

// Throws the Error that the error stack tells of: "cannot {what} {name}: {reason}". Its kind: `space` for a full disk,
// `content` for a truncated file, else `kind`.
[[noreturn]] void throw_failure(std::string_view what, std::string_view name, FailureKind kind = FailureKind::invalid);

class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  [[nodiscard]] explicit operator bool() const noexcept { return id_ >= 0; }

  // Closes now, where a failure can still be told: what HDF5 held back is written here.
  void close(std::string_view name) {
    if (id_ >= 0 && close_(std::exchange(id_, -1)) < 0) throw_failure("finish", name, FailureKind::storage);
  }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// Returns what an HDF5 function returned, or throws its failure.
template <typename Result>
Result checked(Result result, std::string_view what, std::string_view name, FailureKind kind = FailureKind::invalid) {
  if (result < 0) throw_failure(what, name, kind);
  return result;
}

[[nodiscard]] inline Handle own(hid_t id, Handle::Close close, std::string_view what, std::string_view name,
                                FailureKind kind = FailureKind::invalid) {
  return {checked(id, what, name, kind), close};
}

// The file is not locked: locks on shared filesystems fail or lie. HDF5 before 1.10.7 asks HDF5_USE_FILE_LOCKING alone.
inline void leave_unlocked([[maybe_unused]] hid_t access, [[maybe_unused]] std::string_view name) {
#if H5_VERSION_GE(1, 10, 7)
  checked(H5Pset_file_locking(access, 0, 1), "prepare", name, FailureKind::internal);
#endif
}

// Each thread calls it before its first HDF5 call. Then failures are thrown, not printed; external links lead nowhere;
// filters are loaded from the system's directory only: HDF5_PLUGIN_PATH does not count. A second call costs nothing.
void prepare_library();

}  // namespace sabath::h5
