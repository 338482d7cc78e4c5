// Files that run code when they are loaded: found by the bytes that loaders go by, under any name.
// docs/formats.md, "Code in files", has the forms. Nothing is loaded, no other file is opened. One thread at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "formats/pickle.h"

namespace sabath {

// A file that holds pickles, or code of another kind that loading it would run.
struct CodeInFile {
  std::string form;     // "pickle", "torch", "npy", "npz", "keras", "joblib"
  std::string where;    // the member of an archive; empty: the file itself
  PickleFacts facts;    // of keras: imports are "keras.layers.Lambda"
  bool hidden = false;  // the name is that of a format that holds no code
};

// What is found here is judged anew when this number changes: an older verdict did not see what a newer one sees.
inline constexpr int find_code_version = 4;

// Empty: loading the file runs no code that is known here. Reads a few kilobytes of a file that has none. Throws
// Error{invalid} or {content} for a file that is damaged, of which other readers may read more; {storage}.
[[nodiscard]] std::vector<CodeInFile> find_code(
    const std::filesystem::path& file, const std::function<void()>& on_progress = [] {});

}  // namespace sabath
