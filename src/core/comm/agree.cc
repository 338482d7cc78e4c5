#include "comm/agree.h"

#include <fmt/format.h>

#include <array>
#include <new>

#include "comm/parcel.h"

namespace sabath {
namespace {

constexpr std::uint64_t none = UINT64_MAX;

// A failure that ends the call for all ranks comes first.
std::uint64_t gravity(FailureKind kind) {
  switch (kind) {
    case FailureKind::interrupted:
    case FailureKind::terminated:
      return 0;
    case FailureKind::space:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

std::optional<Failure> agree(Comm& comm, const std::optional<Failure>& mine) {
  std::array<std::uint64_t, 1> first{mine ? gravity(mine->kind) << 32U | comm.rank() : none};
  comm.all_reduce(first, Reduction::minimum);
  if (first[0] == none) return std::nullopt;
  const auto rank = static_cast<unsigned>(first[0] & 0xffff'ffffU);
  std::string bytes;
  if (rank == comm.rank()) {
    Failure failure = *mine;
    if (rank != 0) failure.message = fmt::format("rank {} on {}: {}", rank, comm.host(), failure.message);
    bytes = Parcel().add(failure).take();
  }
  comm.broadcast(bytes, rank);
  return Parcel::Reader(bytes).failure();
}

std::optional<Failure> failure_of(const std::function<void()>& phase) {
  try {
    phase();
    return std::nullopt;
  } catch (const Error& error) {
    return error.failure();
  } catch (const std::bad_alloc&) {
    return Failure{FailureKind::internal, "cannot go on: out of memory", "use fewer lanes, or fewer ranks on a node",
                   std::nullopt};
  } catch (const std::exception& error) {
    return Failure{FailureKind::internal, fmt::format("internal error: {}", error.what()), "", std::nullopt};
  }
}

void run_agreed(Comm& comm, const std::function<void()>& phase) {
  const auto agreed = agree(comm, failure_of(phase));
  if (agreed) throw Error(*agreed);
}

}  // namespace sabath
