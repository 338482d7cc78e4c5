#include "sabath/error.h"

namespace sabath {
namespace {

struct Kind {
  std::string_view name;
  int exit_code;
};

constexpr Kind describe(FailureKind kind) noexcept {
  switch (kind) {
    case FailureKind::usage:
      return {"usage", 2};
    case FailureKind::not_found:
      return {"not_found", 3};
    case FailureKind::access:
      return {"access", 4};
    case FailureKind::space:
      return {"space", 5};
    case FailureKind::network:
      return {"network", 6};
    case FailureKind::unavailable:
      return {"unavailable", 6};
    case FailureKind::no_ranges:
      return {"no_ranges", 6};
    case FailureKind::changed:
      return {"changed", 6};
    case FailureKind::content:
      return {"content", 7};
    case FailureKind::partial:
      return {"partial", 8};
    case FailureKind::offline:
      return {"offline", 9};
    case FailureKind::nodes:
      return {"nodes", 10};
    case FailureKind::command:
      return {"command", 11};
    case FailureKind::invalid:
      return {"invalid", 12};
    case FailureKind::storage:
      return {"storage", 70};
    case FailureKind::interrupted:
      return {"interrupted", 130};
    case FailureKind::terminated:
      return {"terminated", 143};
    case FailureKind::internal:
      break;
  }
  return {"internal", 70};
}

}  // namespace

int exit_code(FailureKind kind) noexcept { return describe(kind).exit_code; }

std::string_view name(FailureKind kind) noexcept { return describe(kind).name; }

}  // namespace sabath
