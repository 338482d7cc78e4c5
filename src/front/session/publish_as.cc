#include "session/publish_as.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "base/counted.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/wording.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Bytes = std::function<void(std::span<const std::byte>)>;

// The content of one file, passed on as it is read; its SHA-256 and, if `sha512` says so, that.
Checksums read_content(const Store& store, const Entry& entry, const std::stop_token& stop, bool sha512,
                       const Bytes& pass) {
  const auto content = store.open_content(entry.digest);
  if (!content) {
    throw Error(FailureKind::offline, fmt::format("{} is not in the store", printable(entry.path.text())),
                "fetch the asset first");
  }
  FileHasher tree;
  StreamHash sum("sha256");
  std::optional<StreamHash> long_sum;
  if (sha512) long_sum.emplace("sha512");
  std::vector<std::byte> buffer(1 << 20);
  while (const std::size_t n = content->read(tree.size_bytes(), buffer)) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const auto bytes = std::span<const std::byte>(buffer).first(n);
    tree.update(bytes);
    sum.update(bytes);
    if (long_sum) long_sum->update(bytes);
    pass(bytes);
  }
  if (tree.finish().digest != entry.digest) {
    throw Error(FailureKind::content, fmt::format("{} is damaged in the store", printable(entry.path.text())),
                fmt::format("`{}` and `{}` mend it", verb_text("verify"), verb_text("fetch")));
  }
  Checksums sums;
  sums.sha256 = sum.finish_hex();
  if (long_sum) sums.sha512 = long_sum->finish_hex();
  return sums;
}

void refuse_links(const Manifest& manifest, const char* format) {
  if (manifest.totals().symlinks == 0) return;
  throw Error(FailureKind::usage, fmt::format("the asset holds {}, which a {} cannot hold",
                                              counted(manifest.totals().symlinks, "symlink"), format));
}

std::vector<Url> urls_of(const RelativePath& path, const std::vector<Url>& below) {
  std::vector<Url> urls;
  for (const Url& url : below) urls.push_back(Url::parse(url.text() + percent_encode_path(path.text())));
  return urls;
}

class BagWriter {
 public:
  BagWriter(const Store& store, const Manifest& manifest, fs::path place, const Publication& publication)
      : store_(store), manifest_(manifest), place_(std::move(place)), publication_(publication) {}

  void write() {
    make_directories(place_ / "data");
    manifest_.for_each([&](const Entry& entry) {
      if (entry.is_file()) write_file(entry);
    });
    add_tag("bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    add_tag("bag-info.txt", info());
    add_tag("manifest-sha256.txt", sums_);
    add_tag("manifest-sha512.txt", long_sums_);  // the default of RFC 8493; SHA-256 is what older readers know
    if (!publication_.below.empty()) add_tag("fetch.txt", fetch_);
    write_text_atomically(place_ / "tagmanifest-sha256.txt", tag_sums_);
    write_text_atomically(place_ / "tagmanifest-sha512.txt", long_tag_sums_);
  }

 private:
  void write_file(const Entry& entry) {
    const std::string path = "data/" + escaped(entry.path.text());
    Checksums sums;
    if (publication_.below.empty()) {
      const fs::path file = place_ / "data" / entry.path.text();
      make_directories(file.parent_path());
      const Fd fd = open_file(file, O_WRONLY | O_CREAT | O_EXCL);
      sums = read_content(store_, entry, publication_.stop, true,
                          [&](std::span<const std::byte> bytes) { write_all(fd.get(), bytes, file); });
    } else {
      sums = read_content(store_, entry, publication_.stop, true, [](std::span<const std::byte>) {});
      const Url url = urls_of(entry.path, publication_.below).front();
      fetch_ += fmt::format("{} {} {}\n", url.text(), entry.digest.size_bytes, path);
    }
    sums_ += fmt::format("{}  {}\n", sums.sha256, path);
    long_sums_ += fmt::format("{}  {}\n", sums.sha512, path);
  }

  static std::string escaped(std::string_view path) {  // line ends cannot stand in a path of ours
    std::string text;
    for (const char c : path) text += c == '%' ? "%25" : std::string(1, c);
    return text;
  }

  void add_tag(const std::string& name, const std::string& text) {
    write_text_atomically(place_ / name, text);
    tag_sums_ += fmt::format("{}  {}\n", sha256(text).hex(), name);
    StreamHash long_sum("sha512");
    long_sum.update(std::as_bytes(std::span(text)));
    long_tag_sums_ += fmt::format("{}  {}\n", long_sum.finish_hex(), name);
  }

  std::string info() const {
    const Totals totals = manifest_.totals();
    const auto today = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format(
        "Bagging-Date: {:%Y-%m-%d}\nBag-Software-Agent: {}\nBag-Size: {}\nExternal-Identifier: {}\nPayload-Oxum: "
        "{}.{}\n",
        fmt::gmtime(today), publication_.agent, format_bytes(totals.bytes), manifest_.root().prefixed(), totals.bytes,
        totals.files);
  }

  const Store& store_;
  const Manifest& manifest_;
  const fs::path place_;
  const Publication& publication_;
  std::string sums_, long_sums_, tag_sums_, long_tag_sums_, fetch_;
};

}  // namespace

std::vector<ListedFile> described_files(const Store& store, const Manifest& manifest, const Publication& publication) {
  refuse_links(manifest, "metalink");
  std::vector<ListedFile> files;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file()) return;
    files.push_back({entry.path, urls_of(entry.path, publication.below), entry.digest.size_bytes,
                     read_content(store, entry, publication.stop, false, [](std::span<const std::byte>) {})});
  });
  return files;
}

void write_bag(const Store& store, const Manifest& manifest, const fs::path& directory,
               const Publication& publication) {
  refuse_links(manifest, "bag");
  const fs::path target = directory.has_filename() ? directory : directory.parent_path();
  const fs::path unfinished = unfinished_name(target, "unfinished");
  for (const fs::path& place : {target, unfinished}) {
    if (try_stat(place))
      throw Error(FailureKind::usage, fmt::format("{} is there already", place.string()), "name a new directory");
  }
  try {
    BagWriter(store, manifest, unfinished, publication).write();
  } catch (...) {
    remove_tree(unfinished);
    throw;
  }
  std::error_code error;
  fs::rename(unfinished, target, error);
  if (error) throw_errno("rename a new bag to", target, error.value());
}

}  // namespace sabath
