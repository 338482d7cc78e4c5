// What a Python pickle would do if it were loaded, found without loading it: the modules and names that it imports, and
// whether it calls them. The walker knows every opcode of protocols 0 to 5 and follows the stack and the memo as far as
// names need it; it makes no object. It reads as CPython's two machines read (Lib/pickle.py, Modules/_pickle.c), and
// stops at nothing that neither of them stops at. Source of the opcodes: Lib/pickletools.py.
//
// A pickle is a program: what cannot be followed (a name that is computed, an extension code, bytes that are no opcode)
// is told, never passed over. Bounded: stack, memo, names, pickles. One thread at a time. Throws Error of the source;
// damaged pickles are facts, not errors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bytes.h"

namespace sabath {

struct PickleFacts {
  std::vector<std::string> imports;  // "os.system", each once, sorted; "?" for a name that is computed. At most 1,000
  bool executes = false;             // something is imported or called: loading it runs code
  bool calls = false;                // an import is called, or a state is set: REDUCE, INST, OBJ, NEWOBJ, BUILD, ...
  bool persistent_ids = false;       // the loading program resolves them: torch's storages
  std::uint64_t pickles = 0;         // that ended with STOP, one behind the other
  int protocol = 0;                  // the highest
  std::uint64_t bytes = 0;           // up to where the walk came
  std::string trouble;               // why the walk ended before the end of the bytes; empty: all was looked at

  [[nodiscard]] bool complete() const { return trouble.empty(); }
};

// What says that bytes are a pickle.
enum class PickleClaim : std::uint8_t {
  certain,  // their first bytes, or the file's name: what cannot be followed is told
  none,     // nothing: they are one only if Python's machine, which loads any bytes, would import or call something.
            // If not, there are no facts: `executes` is false, and nothing is in trouble.
};

// All pickles of `source`, one behind the other.
[[nodiscard]] PickleFacts walk_pickle(
    ByteSource& source, PickleClaim claim = PickleClaim::certain, const std::function<void()>& on_progress = [] {});

// False: no pickle of any protocol begins so. Most files of other formats are told apart by that.
[[nodiscard]] bool may_begin_pickle(std::string_view first_bytes);

}  // namespace sabath
