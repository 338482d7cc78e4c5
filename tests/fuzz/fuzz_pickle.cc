// Any bytes are walked to their end or to where the walk says why it stopped; a file of any name is looked into.
#include <cstddef>
#include <cstdint>

#include "expected.h"
#include "formats/find_code.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  sabath::FileBytes source(file.path());
  const sabath::PickleFacts facts = sabath::walk_pickle(source);
  check(facts.bytes <= size && facts.protocol <= 5 && facts.imports.size() <= 1001);
  check(facts.executes == (facts.calls || !facts.imports.empty()));
  check(facts.complete() ? facts.pickles > 0 : sabath::is_utf8(facts.trouble));
  sabath::FileBytes again(file.path());
  const sabath::PickleFacts unclaimed = sabath::walk_pickle(again, sabath::PickleClaim::none);
  check(facts.executes || !facts.complete() || !unclaimed.executes);  // what is found without a claim is found with one
  for (const std::string& name : facts.imports) check(sabath::is_utf8(name));
  expect_damage_or([&] { static_cast<void>(sabath::find_code(file.path())); });
  return 0;
}
