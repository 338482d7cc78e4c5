#include "formats/find_code.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "formats/keras.h"
#include "formats/npy.h"
#include "formats/packing.h"
#include "formats/tar_members.h"
#include "formats/zip.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t code_look_bytes = 1 << 10;
constexpr std::size_t code_tar_members_max = 8;  // torch's old archives have four
constexpr std::array<std::string_view, 12> pickle_endings{
    ".pkl", ".pickle", ".pk", ".joblib", ".pth", ".pt", ".ckpt", ".p", ".pckl", ".pklz", ".dill", ".cloudpickle"};
constexpr std::array<std::string_view, 9> packed_endings{"",      ".gz",  ".z",   ".bz2", ".xz",
                                                         ".lzma", ".zst", ".lz4", ".tar"};
// Formats that hold no code: a pickle under such a name is told apart.
constexpr std::array<std::string_view, 22> innocent_endings{
    ".safetensors", ".onnx", ".h5",  ".hdf5", ".nc",  ".json", ".jsonl", ".csv", ".tsv", ".txt",      ".md",
    ".yaml",        ".yml",  ".xml", ".html", ".png", ".jpg",  ".jpeg",  ".gif", ".tif", ".tfrecord", ".gguf"};

bool ends_with_any(std::string_view name, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// What a name, in lower case, says of the bytes.
struct NamedAs {
  explicit NamedAs(std::string_view name) : joblib(name.find(".joblib") != name.npos) {
    std::string_view bare = name;
    for (const std::string_view packed : packed_endings) {
      if (!packed.empty() && name.ends_with(packed)) bare = name.substr(0, name.size() - packed.size());
    }
    pickle = ends_with_any(bare, pickle_endings);
    innocent = ends_with_any(bare, innocent_endings);
    // Their loaders ask zipfile, which looks at the end of the file alone.
    zip = name.ends_with(".keras") || name.ends_with(".zip");
    lzma = name.ends_with(".lzma") || name.ends_with(".xz");
  }
  bool pickle = false, joblib = false, innocent = false, zip = false, lzma = false;
};

// PROTO of protocols 2 to 5, which their pickles begin with.
bool has_pickle_mark(std::string_view begin) {
  return begin.size() >= 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

// Bytes that were read to look at them, then the others.
class Rejoined final : public ByteSource {
 public:
  Rejoined(std::string_view begin, ByteSource& rest) : begin_(begin), rest_(rest) {}
  std::size_t read(std::span<char> into) override {
    if (begin_.empty()) return rest_.read(into);
    const std::size_t piece = begin_.copy(into.data(), into.size());
    begin_.remove_prefix(piece);
    return piece;
  }
  std::uint64_t skip(std::uint64_t bytes) override {
    const std::uint64_t piece = std::min<std::uint64_t>(bytes, begin_.size());
    begin_.remove_prefix(static_cast<std::size_t>(piece));
    return piece == bytes ? piece : piece + rest_.skip(bytes - piece);
  }

 private:
  std::string_view begin_;
  ByteSource& rest_;
};

// The bytes that come before a source says that they are damaged or end early.
class UpToDamage final : public ByteSource {
 public:
  explicit UpToDamage(ByteSource& source) : source_(source) {}
  std::size_t read(std::span<char> into) override {
    try {
      return damaged_ ? 0 : source_.read(into);
    } catch (const Error& error) {
      const FailureKind kind = error.failure().kind;
      damaged_ = kind == FailureKind::invalid || kind == FailureKind::content;
      if (!damaged_) throw;
      return 0;
    }
  }

 private:
  ByteSource& source_;
  bool damaged_ = false;
};

std::string read_begin(ByteSource& source, std::uint64_t bytes_max = code_look_bytes) {
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(bytes_max, code_look_bytes)), '\0');
  begin.resize(read_full(source, begin));
  return begin;
}

class CodeFinder {
 public:
  CodeFinder(const std::filesystem::path& file, const std::function<void()>& on_progress)
      : file_(file), on_progress_(on_progress), name_(to_lower(file.filename().string())), named_(name_) {}

  // As each loader would take it: a file may be several things at once.
  std::vector<CodeInFile> find() {
    FileBytes source(file_);
    on_progress_();
    const std::string begin = read_begin(source, source.size_bytes());
    if (name_ == keras_config_name) look_into_keras_file();
    const bool zip = is_zip(begin) || (named_.zip && ends_as_zip(source));
    Packing packing = packing_of(begin);
    if (packing == Packing::none && named_.lzma && may_be_lzma(begin)) packing = Packing::lzma;
    if (zip) look_into_zip();
    if (packing != Packing::none) look_into_packed(packing);
    const bool bare = !zip && packing == Packing::none;
    if (is_tar(begin)) {
      FileBytes whole(file_);
      look_into_tar(whole, code_tar_members_max);
    }
    look_into(begin, source, bare ? named_ : NamedAs(""), "", pickle_form());
    return std::move(found_);
  }

 private:
  void add(std::string_view form, const std::string& where, PickleFacts facts, bool hidden) {
    found_.push_back({std::string(form), printable(where), std::move(facts), hidden});
  }

  [[nodiscard]] std::string shown() const { return printable(file_.native(), 4096); }
  [[nodiscard]] std::string_view pickle_form() const { return named_.joblib ? "joblib" : "pickle"; }

  // Bytes as they are: an array, or what may be a pickle; `where`: of which member.
  void look_into(std::string_view begin, ByteSource& rest, const NamedAs& named, const std::string& where,
                 std::string_view pickle_form) {
    std::string behind;
    if (is_npy(begin)) {
      behind = begin;
      if (!pass_arrays(behind, rest, named, where)) return;
      begin = behind;
    }
    Rejoined whole(begin, rest);
    const bool certain = named.pickle || has_pickle_mark(begin);
    if (!certain && !may_begin_pickle(begin)) return;
    PickleFacts facts = walk_pickle(whole, certain ? PickleClaim::certain : PickleClaim::none, on_progress_);
    if (certain || facts.executes || !facts.complete())
      add(pickle_form, where, std::move(facts), named.innocent || named_.innocent);
  }

  // One array behind the other, as numpy.save() to an open file leaves them: `begin` is then what stands behind them.
  // Of objects it is a pickle behind a header, and all that follows belongs to it: false.
  bool pass_arrays(std::string& begin, ByteSource& rest, const NamedAs& named, const std::string& where) {
    while (is_npy(begin)) {
      on_progress_();
      Rejoined whole(begin, rest);
      std::string head(npy_header_bytes(begin), '\0');
      head.resize(read_full(whole, head));
      const Npy array = parse_npy_header(head, where.empty() ? file_.native() : where);
      if (array.objects) {
        PickleFacts facts = walk_pickle(whole, PickleClaim::certain, on_progress_);
        add(where.empty() ? "npy" : "npz", where, std::move(facts), named.innocent || named_.innocent);
        return false;
      }
      static_cast<void>(whole.skip(array.data_bytes));
      begin = read_begin(whole);  // no shorter than what is left of the one before
    }
    return true;
  }

  void look_into_tar(ByteSource& whole, std::size_t members_max) {
    const auto look = [&](const std::string& name, ByteSource& content) {
      on_progress_();
      const std::string begin = read_begin(content);
      look_into(begin, content, NamedAs(to_lower(name)), name, "pickle");
    };
    const bool all = for_each_tar_member(whole, members_max, shown(), look);
    if (all || !named_.pickle || members_max == 1) return;
    PickleFacts facts;  // torch asks for its members by name
    facts.trouble = "it may have more members than are looked into";
    add("pickle", "", std::move(facts), false);
  }

  void look_into_packed(Packing packing) {
    FileBytes packed(file_);
    const std::unique_ptr<ByteSource> unpacked = make_unpacked(packed, packing, shown());
    // Texts, too, begin with zlib's mark; what came before the damage is what its loaders would get.
    const bool may_be_text = packing == Packing::zlib || packing == Packing::zfile || packing == Packing::zfile_wide;
    UpToDamage some(*unpacked);
    ByteSource& content = may_be_text && !named_.pickle ? some : *unpacked;
    const std::string begin = read_begin(content);
    if (begin.empty()) return;
    look_into(begin, content, named_, "", pickle_form());
    if (is_tar(begin)) look_into_packed_tar(packing);
  }

  void look_into_packed_tar(Packing packing) {
    FileBytes packed(file_);
    const std::unique_ptr<ByteSource> unpacked = make_unpacked(packed, packing, shown());
    look_into_tar(*unpacked, 1);  // pandas reads the only member
  }

  void look_into_zip() {
    const ZipArchive archive(file_);
    for (const ZipMember& member : archive.members()) {
      on_progress_();
      const NamedAs named(to_lower(member.name));
      const bool encrypted = (member.flags & 1U) != 0;  // no loader has the password
      if ((member.bytes == 0 || encrypted) && !named.pickle) continue;
      if (member.method != 0 && member.method != 8) {
        look_at_method(member, named);
        continue;
      }
      const std::unique_ptr<ByteSource> content = archive.open(member);
      if (member.name == keras_config_name) {
        std::string config(static_cast<std::size_t>(std::min<std::uint64_t>(member.bytes, keras_config_bytes_max + 1)),
                           '\0');
        config.resize(read_full(*content, config));
        look_into_keras(config, member.bytes, member.name);
        continue;
      }
      const std::string begin = read_begin(*content, member.bytes);
      const bool of_torch = member.name.ends_with(".pkl") || member.name.ends_with(".pickle");
      look_into(begin, *content, named, member.name, of_torch ? "torch" : "pickle");
    }
  }

  // Packed by a method that zip.h does not know. Of those that Python knows it is told; others no loader reads.
  void look_at_method(const ZipMember& member, const NamedAs& named) {
    constexpr std::array<unsigned, 3> of_python{12, 14, 93};  // bzip2, lzma, zstd
    if (!named.pickle && std::ranges::find(of_python, member.method) == of_python.end()) return;
    PickleFacts facts;
    facts.trouble = "it is packed in a way that is not looked into";
    add("pickle", member.name, std::move(facts), false);
  }

  // Keras 3 loads a directory as it loads an archive. Other programs, too, call files so, and not all hold JSON.
  void look_into_keras_file() {
    FileBytes content(file_);
    std::string config(
        static_cast<std::size_t>(std::min<std::uint64_t>(content.size_bytes(), keras_config_bytes_max + 1)), '\0');
    config.resize(read_full(content, config));
    if (may_be_keras_config(config)) look_into_keras(config, content.size_bytes(), "");
  }

  void look_into_keras(const std::string& config, std::uint64_t bytes, const std::string& where) {
    PickleFacts facts;
    if (bytes > keras_config_bytes_max) {
      facts.trouble = "it is too long to be looked into";
    } else {
      facts.bytes = config.size();
      facts.imports = keras_code(config, where.empty() ? shown() : shown() + ":" + where);
      facts.executes = facts.calls = !facts.imports.empty();
    }
    if (facts.executes || !facts.complete()) add("keras", where, std::move(facts), !where.empty() && named_.innocent);
  }

  std::filesystem::path file_;
  const std::function<void()>& on_progress_;
  std::string name_;
  NamedAs named_;
  std::vector<CodeInFile> found_;
};

}  // namespace

std::vector<CodeInFile> find_code(const std::filesystem::path& file, const std::function<void()>& on_progress) {
  return CodeFinder(file, on_progress).find();
}

}  // namespace sabath
