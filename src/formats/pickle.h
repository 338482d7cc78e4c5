// What a Python pickle would do if it were loaded, found without loading it: the modules and names that it imports, and
// whether it calls them. The walker knows every opcode of protocols 0 to 5 and follows the stack and the memo as far as
// names need it; it makes no object. Source: Lib/pickletools.py.
//
// A pickle is a program: what cannot be followed (a name that is computed, an extension code, bytes that are no opcode)
// is told, never passed over. Bounded: opcodes, stack, memo, names. One thread at a time. Throws Error of the source;
// damaged pickles are facts, not errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
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

// All pickles of `source`, one behind the other.
[[nodiscard]] PickleFacts walk_pickle(
    ByteSource& source, const std::function<void()>& on_progress = [] {});

// A file that holds pickles, or code of another kind that loading it would run.
struct CodeInFile {
  std::string form;   // "pickle", "torch", "npy", "npz", "keras", "joblib"
  std::string where;  // the member of an archive; empty: the file itself
  PickleFacts facts;  // of keras: imports are "keras.layers.Lambda"
};

// Looks into a file by its content, and by its name's ending where a pickle of protocol 0 has no mark: .pkl, .pickle,
// .pk, .joblib, .pth, .pt, .ckpt, .npy, .npz, .keras; also packed by gzip or zlib. Empty: none of these holds code.
// Throws Error{invalid} or {content} for an archive that is damaged, {storage}.
[[nodiscard]] std::vector<CodeInFile> find_code(
    const std::filesystem::path& file, const std::function<void()>& on_progress = [] {});

// False: neither the name nor the first bytes are those of a file that find_code looks into. Reads at most 8 bytes.
[[nodiscard]] bool may_hold_code(const std::filesystem::path& file);

}  // namespace sabath
