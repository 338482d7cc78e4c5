// Listings of servers, in every format: names become paths below the requested place or are refused, URLs lead to no
// file of this machine, and messages can be shown. The first byte chooses the format.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "base/checksum_list.h"
#include "base/metalink.h"
#include "base/text.h"
#include "base/xml.h"
#include "ftp/listing.h"
#include "globus/words.h"
#include "hf/place.h"
#include "http/links.h"
#include "lfs/batch.h"
#include "oci/registry.h"
#include "resolvers/bag.h"
#include "resolvers/directory.h"
#include "resolvers/index_page.h"
#include "resolvers/records.h"
#include "resolvers/signposting.h"
#include "s3/listing.h"
#include "sabath/error.h"

namespace {

using namespace sabath;

void check(bool holds) {
  if (!holds) std::abort();
}

const Url& top() {
  static const Url url = Url::parse("https://a.example/d/");
  return url;
}

using Entries = std::vector<DirectoryEntry> (*)(std::string_view, const Url&);

void walk_one(std::string_view text, Entries parse) {
  bool first = true;
  const auto list = [&](const Url& directory) {
    check(directory.text().starts_with(top().text()));
    if (!std::exchange(first, false)) return DirectoryPage{directory, {}};
    return DirectoryPage{directory, parse(text, directory)};
  };
  for (const auto& file : walk({top(), ""}, list)) {
    check(file.urls.front().text().starts_with(top().text()));
    check(RelativePath::try_parse(file.path.text()).has_value());
  }
}

void check_files(const std::vector<ListedFile>& files) {
  for (const auto& file : files) {
    check(!file.urls.empty());
    for (const auto& url : file.urls) check(url.scheme() != "file");
    const auto& sums = file.checksum;
    for (const auto& algorithm : checksum_algorithms) {
      const std::string& hex = sums.*algorithm.value;
      check(hex.empty() || algorithm.spells(hex));
    }
  }
}

void read(std::uint8_t format, std::string_view text) {
  static const std::string oid(64, 'a');
  static const lfs::Object object{.server = top(), .oid = oid, .size_bytes = 5};
  static const oci::Place place = oci::place_of(Url::parse("oci://h.example/lab/x"));
  static const std::vector<std::function<void(std::string_view)>> formats = {
      [](std::string_view t) { walk_one(t, parse_html_index); },
      [](std::string_view t) { walk_one(t, parse_json_index); },
      [](std::string_view t) { walk_one(t, parse_multistatus); },
      [](std::string_view t) { walk_one(t, parse_mlsd); },
      [](std::string_view t) { walk_one(t, parse_list); },
      [](std::string_view t) { check_files(parse_metalink(t, top())); },
      [](std::string_view t) { (void)parse_xml(t); },
      [](std::string_view t) { (void)parse_links(t); },
      [](std::string_view t) { (void)parse_bag_manifest(t, *find_checksum_algorithm("sha256"), top()); },
      [](std::string_view t) {
        for (const auto& one : parse_bag_fetch(t, top())) check(one.url.scheme() != "file");
      },
      [](std::string_view t) { (void)parse_bag_declaration(t, top()), (void)parse_bag_files(t, top()); },
      [](std::string_view t) { check_files(parse_zenodo_record(t, top()).files); },
      [](std::string_view t) { check_files(parse_figshare_article(t, top()).files); },
      [](std::string_view t) { check_files(parse_dataverse_version(t, top()).files); },
      [](std::string_view t) { (void)record_place(parse_datacite_url(t, "doi"), "10.1/x"); },
      [](std::string_view t) { (void)hf::parse_tree(t, "hub"); },
      [](std::string_view t) {
        if (const auto url = Url::try_parse(t)) (void)hf::place_of(*url).tree_path("c", "d");
      },
      [](std::string_view t) { check_files(oci::parse_manifest(t, place, "registry")); },
      [](std::string_view t) {
        if (const auto challenge = oci::try_parse_challenge(t)) (void)oci::token_url(*challenge, place);
      },
      [](std::string_view t) {
        for (const auto& line : lfs::parse_batch(t, object).headers) check(line.find_first_of("\r\n") == line.npos);
      },
      [](std::string_view t) { (void)s3::parse_list_page(t); },
      [](std::string_view t) {
        walk_one(t, [](std::string_view text, const Url&) { return globus::parse_page(text, "globus", 100).entries; });
      },
      [](std::string_view t) {
        const Failure failure = globus::refusal(403, t, "w", "https://api");
        check(is_utf8(failure.message) && is_utf8(failure.hint));
        (void)globus::failure_of(globus::parse_task(t, "globus"), "id", "w");
      },
      [](std::string_view t) { (void)globus::parse_file(t, "globus"), (void)globus::parse_https_server(t, "globus"); },
      [](std::string_view t) {
        for (const auto& file : parse_checksum_list(t, top().resolve("SHA256SUMS"), top()))
          check(file.urls.front().text().starts_with(top().text()) &&
                (!file.checksum.empty() || !file.unchecked.empty()));
        static_cast<void>(is_checksum_list(t));
      },
      [](std::string_view t) { check_files(files_of_links(links_of_page(t), top())); },
      [](std::string_view t) { check_files(files_of_links(parse_link_set(t, top(), top()), top())); },
  };
  formats[format % formats.size()](text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    read(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const Error& error) {
    check(error.failure().kind != FailureKind::internal && is_utf8(error.failure().message));
  }
  return 0;
}
