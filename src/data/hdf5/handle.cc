#include "hdf5/handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "base/wording.h"
#include "hdf5/messages.h"
#include "sabath/path.h"

namespace sabath::h5 {
namespace {

struct Story {
  std::string reason;     // of the innermost function
  std::string no_filter;  // "required filter 'x' is not registered"
  bool truncated = false, not_hdf5 = false, no_space = false, no_memory = false;
  bool version = false, written = false, absent = false;
};

// "bad superblock version number", "wrong fractal heap header version".
bool refuses_version(std::string_view text) {
  constexpr std::array<std::string_view, 4> words{"bad ", "wrong ", "unknown ", "incorrect "};
  return text.find(" version") != text.npos &&
         std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

herr_t read_entry(unsigned number, const H5E_error2_t* entry, void* data) {
  Story& story = *static_cast<Story*>(data);
  const std::string_view text = entry->desc != nullptr ? entry->desc : "";
  if (number == 0) {
    story.reason = text;
    story.absent = entry->min_num == H5E_NOTFOUND && text.find("doesn't exist") != text.npos;
  }
  story.version |= entry->min_num == H5E_VERSION || refuses_version(text);
  story.written |= text.find("already open for write") != text.npos;
  story.truncated |= entry->min_num == H5E_TRUNCATED;
  story.not_hdf5 |= entry->min_num == H5E_NOTHDF5;
  if (text.starts_with("required filter")) story.no_filter = text;
  story.no_space |= text.find("No space left on device") != text.npos || text.find("quota exceeded") != text.npos;
  story.no_memory |= entry->min_num == H5E_CANTALLOC || text.find("memory allocation failed") != text.npos;
  return 0;
}

// External links that can be read but lead nowhere: they replace HDF5's own.
hid_t lead_nowhere(const char*, hid_t, const void*, std::size_t, hid_t, hid_t) { return -1; }

ssize_t read_link(const char*, const void* value, std::size_t size, void* buffer, std::size_t buffer_size) {
  if (buffer != nullptr) std::memcpy(buffer, value, std::min(size, buffer_size));
  return static_cast<ssize_t>(size);
}

constexpr H5L_class_t external_link{
    H5L_LINK_CLASS_T_VERS, H5L_TYPE_EXTERNAL, "not followed", nullptr, nullptr, nullptr,
    &lead_nowhere,         nullptr,           &read_link,
};

}  // namespace

void throw_failure(std::string_view what, std::string_view name, FailureKind kind) {
  Story story;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &read_entry, &story);
  H5Eclear2(H5E_DEFAULT);
  const auto message = [&](std::string_view reason) { return fmt::format("cannot {} {}: {}", what, name, reason); };
  const std::string reason = story.reason.empty() ? "HDF5 does not say why" : printable(story.reason);
  if (story.no_space) throw Error(FailureKind::space, message(reason), "free space, or use another filesystem");
  if (story.truncated) {
    throw Error(FailureKind::content, message(reason),
                "the file is cut off: fetch or copy it again; a member of a family of files is none by itself: "
                "`h5repart` joins them");
  }
  if (story.not_hdf5) throw Error(kind, message("it is not an HDF5 file"), "look at its first bytes with `file`");
  if (story.written) {
    throw Error(
        kind, message("a program has it open for writing, or ended without closing it"),
        "wait until the program has closed it; after a crash (of an SWMR writer, say) `h5clear -s` on a copy of "
        "the file makes it readable, as far as it was flushed");
  }
  if (story.version) {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    throw Error(
        kind,
        message(fmt::format("it is of a newer format than HDF5 {}.{}.{} knows ({})", major, minor, release, reason)),
        "build SABATH with a newer HDF5, or ask its publisher for a file of an older format (`h5repack -k 2`); "
        "if no HDF5 reads it, it is damaged: fetch it again");
  }
  if (!story.no_filter.empty()) {
    throw Error(kind, message(printable(story.no_filter)),
                fmt::format("install the filter's HDF5 plugin: `{}` names the filter", verb_text("hdf5 inspect")));
  }
  if (story.absent) {
    throw Error(kind, message(reason),
                fmt::format("name an object that it has: `{}` lists them", verb_text("hdf5 inspect")));
  }
  if (story.no_memory) {
    throw Error(kind, message(reason + " (reading it takes more memory than a reader of HDF5 may have)"),
                hdf5_memory_hint);
  }
  throw Error(
      kind, message(reason),
      kind == FailureKind::invalid ? "the file may be damaged or hostile: fetch it again, do not trust it" : "");
}

void prepare_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    H5open();
    H5Lregister(&external_link);
    unsigned paths = 0;
    while (H5PLsize(&paths) >= 0 && paths > 0 && H5PLremove(0) >= 0) {}
    H5PLappend(H5_DEFAULT_PLUGINDIR);
  });
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace sabath::h5
