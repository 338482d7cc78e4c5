// A decision's file is what an attacker would like to write: any text is refused as `invalid`, or says exactly what its
// name stands for, and is then written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "sabath/error.h"
#include "trust/registry.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 64) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string id(text.substr(0, 64));
  try {
    const sabath::TrustEntry entry = sabath::parse_trust_entry(text.substr(64), "entry.json", id);
    check(sabath::id_of(entry) == id);
    const sabath::TrustEntry again = sabath::parse_trust_entry(sabath::text_of(entry), "entry.json", id);
    check(again.origin == entry.origin && again.commit == entry.commit && again.commands == entry.commands);
  } catch (const sabath::Error& error) {
    check(error.failure().kind == sabath::FailureKind::invalid && sabath::is_utf8(error.failure().message));
  }
  return 0;
}
