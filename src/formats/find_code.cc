#include <algorithm>
#include <array>

#include "base/text.h"
#include "formats/gzip.h"
#include "formats/npy.h"
#include "formats/pickle.h"
#include "formats/zip.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t config_bytes_max = 64 << 20;
constexpr std::array<std::string_view, 8> pickle_endings{".pkl", ".pickle", ".pk",   ".joblib",
                                                         ".pth", ".pt",     ".ckpt", ".p"};
constexpr std::array<std::string_view, 3> packed_endings{"", ".gz", ".z"};

bool ends_as_pickle(const std::filesystem::path& file) {
  const std::string name = to_lower(file.filename().string());
  return std::ranges::any_of(pickle_endings, [&](std::string_view ending) {
    return std::ranges::any_of(packed_endings, [&](std::string_view packed) {
      return name.ends_with(std::string(ending) + std::string(packed));
    });
  });
}

// PROTO of protocols 2 to 5, which their pickles begin with.
bool has_pickle_mark(std::string_view begin) {
  return begin.size() >= 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

// RFC 1950, 2.2: joblib packs so.
bool is_zlib(std::string_view begin) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(begin[at]); };
  return begin.size() >= 2 && byte(0) == 0x78 && (byte(0) * 256 + byte(1)) % 31 == 0;
}

bool has_packed_mark(std::string_view begin) {
  return begin.starts_with("BZh") ||
         begin.starts_with(
             "\xfd"
             "7zXZ") ||
         begin.starts_with("\x04\x22\x4d\x18");
}

// Bytes that were read to look at them, then the others.
class Rejoined final : public ByteSource {
 public:
  Rejoined(std::string begin, ByteSource& rest) : begin_(std::move(begin)), rest_(rest) {}
  std::size_t read(std::span<char> into) override {
    if (at_ == begin_.size()) return rest_.read(into);
    const std::size_t piece = begin_.copy(into.data(), into.size(), at_);
    at_ += piece;
    return piece;
  }

 private:
  std::string begin_;
  ByteSource& rest_;
  std::size_t at_ = 0;
};

std::optional<PickleFacts> objects_of(ByteSource& source, std::string_view name,
                                      const std::function<void()>& progress) {
  std::string begin(npy_header_bytes_max, '\0');
  begin.resize(read_full(source, begin));
  const Npy array = parse_npy_header(begin, name);
  if (!array.objects) return std::nullopt;
  Rejoined data(begin.substr(array.data_offset), source);
  return walk_pickle(data, progress);
}

// A Lambda layer holds marshalled bytecode; `config` is searched as text, as the file's own reader is not asked.
std::optional<PickleFacts> lambda_of(ByteSource& source, std::uint64_t bytes) {
  PickleFacts facts;
  if (bytes > config_bytes_max) facts.trouble = "it is too long to be looked into";
  std::string config(std::min(bytes, config_bytes_max), '\0');
  config.resize(read_full(source, config));
  std::erase_if(config, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  const bool lambda =
      config.find(R"("class_name":"Lambda")") != std::string::npos || config.find("__lambda__") != std::string::npos;
  if (lambda) facts.imports = {"keras.layers.Lambda"};
  facts.executes = facts.calls = lambda;
  facts.bytes = config.size();
  return lambda || !facts.complete() ? std::optional(facts) : std::nullopt;
}

std::vector<CodeInFile> in_archive(const std::filesystem::path& file, const std::function<void()>& progress) {
  std::vector<CodeInFile> found;
  const ZipArchive archive(file);
  for (const ZipMember& member : archive.members()) {
    const std::string name = to_lower(member.name);
    const std::string where = printable(member.name);
    const auto add = [&](std::string_view form, std::optional<PickleFacts> facts) {
      if (facts) found.push_back({std::string(form), where, std::move(*facts)});
    };
    if (name.ends_with(".pkl") || name.ends_with(".pickle")) {
      add("torch", walk_pickle(*archive.open(member), progress));
    } else if (name.ends_with(".npy")) {
      add("npz", objects_of(*archive.open(member), where, progress));
    } else if (name == "config.json") {
      add("keras", lambda_of(*archive.open(member), member.bytes));
    }
  }
  return found;
}

// What a stream holds whose packing has been taken off: nothing, unless it is a pickle.
std::vector<CodeInFile> in_stream(ByteSource& source, std::string_view form, bool sure,
                                  const std::function<void()>& progress) {
  std::string begin(2, '\0');
  begin.resize(read_full(source, begin));
  if (!sure && !has_pickle_mark(begin)) return {};
  Rejoined whole(begin, source);
  return {{std::string(form), "", walk_pickle(whole, progress)}};
}

}  // namespace

bool may_hold_code(const std::filesystem::path& file) {
  const std::string begin = first_bytes(file, 8);
  return has_pickle_mark(begin) || is_npy(begin) || is_zip(begin) || ends_as_pickle(file);
}

std::vector<CodeInFile> find_code(const std::filesystem::path& file, const std::function<void()>& on_progress) {
  const std::string begin = first_bytes(file, 8);
  if (is_zip(begin)) return in_archive(file, on_progress);
  FileBytes source(file);
  if (is_npy(begin)) {
    auto facts = objects_of(source, file.native(), on_progress);
    return facts ? std::vector<CodeInFile>{{"npy", "", std::move(*facts)}} : std::vector<CodeInFile>{};
  }
  const bool named = ends_as_pickle(file);
  const bool joblib = to_lower(file.filename().string()).find(".joblib") != std::string::npos;
  const std::string_view form = joblib ? "joblib" : "pickle";
  if (!named && !has_pickle_mark(begin)) return {};
  if (is_gzip(begin)) {
    InflateSource unpacked(source, InflateSource::Form::gzip, printable(file.native(), 4096));
    return in_stream(unpacked, form, true, on_progress);
  }
  if (is_zlib(begin)) {
    InflateSource unpacked(source, InflateSource::Form::zlib, printable(file.native(), 4096));
    return in_stream(unpacked, form, true, on_progress);
  }
  if (has_packed_mark(begin)) {
    CodeInFile code{std::string(form), "", {}};
    code.facts.executes = true;
    code.facts.trouble = "it is packed in a way that is not looked into";
    return {code};
  }
  return in_stream(source, form, named, on_progress);
}

}  // namespace sabath
