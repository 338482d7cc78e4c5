// Listings of servers, as text: the entries that each format accepts, and those that it refuses.
#include <gtest/gtest.h>

#include "base/checksum_list.h"
#include "ftp/listing.h"
#include "hf/place.h"
#include "http/links.h"
#include "kind_of.h"
#include "lfs/batch.h"
#include "oci/registry.h"
#include "resolvers/bag.h"
#include "resolvers/directory.h"
#include "resolvers/index_page.h"
#include "resolvers/pages.h"
#include "resolvers/records.h"
#include "resolvers/signposting.h"
#include "sabath/error.h"

namespace sabath {
namespace {

const Url top = Url::parse("https://a.example/d%20x/");

std::string names(const std::vector<DirectoryEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += entry.name + (entry.is_directory ? "/" : "");
    if (entry.size_bytes) text += "=" + std::to_string(*entry.size_bytes);
    text += "|";
  }
  return text;
}

TEST(DirectoryPattern, IsSplitWhereThePatternBegins) {
  const struct {
    const char *url, *top, *pattern;
  } cases[] = {
      {"https://h/d/", "https://h/d/", ""},
      {"https://h/d/*.h5", "https://h/d/", "*.h5"},
      {"https://h/d/a*/b/c.h5", "https://h/d/", "a*/b/c.h5"},
      {"https://h/**", "https://h/", "**"},
      {"https://h/d/[ab]/", "https://h/d/", "[ab]/**"},
      {"https://h:8443/d/%20*", "https://h:8443/d/", " *"},
  };
  for (const auto& c : cases) {
    const Url url = Url::parse(c.url);
    EXPECT_TRUE(names_directory(url)) << c.url;
    EXPECT_EQ(parse_directory_pattern(url).top.text(), c.top);
    EXPECT_EQ(parse_directory_pattern(url).pattern, c.pattern);
  }
  EXPECT_FALSE(names_directory(Url::parse("https://h/d/list.txt?x=*")));
}

TEST(Walk, EntersOnlyWhatMayMatch) {
  std::vector<std::string> entered;
  const auto list = [&](const Url& directory) {
    entered.push_back(directory.path());
    const bool first = directory.path() == "/";
    return DirectoryPage{directory, first
                                        ? std::vector<DirectoryEntry>{{"a", true, {}}, {"b", true, {}}, {"f", false, 1}}
                                        : std::vector<DirectoryEntry>{{"c", true, {}}, {"x y", false, 2}}};
  };
  const auto files = walk({Url::parse("http://h/"), "a/*"}, list);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].urls.front().text(), "http://h/a/x%20y");
  EXPECT_EQ(files[0].size_bytes, 2u);
  EXPECT_EQ(entered, (std::vector<std::string>{"/", "/a/"}));
}

TEST(Walk, RefusesWhatHasNoEndAndNamesThatAreNone) {
  const auto deep = [](const Url& directory) { return DirectoryPage{directory, {{"again", true, {}}}}; };
  EXPECT_EQ(kind_of([&] { (void)walk({top, ""}, deep); }), FailureKind::invalid);
  for (const char* name : {"..", ".", "", "a/b", "/etc", "a\nb", "\x1b[31m", "\xff"}) {
    const auto list = [&](const Url& directory) { return DirectoryPage{directory, {{name, false, {}}}}; };
    EXPECT_EQ(kind_of([&] { (void)walk({top, ""}, list); }), FailureKind::invalid) << name;
  }
}

// A place holds names that no asset may have: of those that the pattern asks for the first is named, others do no harm.
TEST(Walk, AsksThePatternBeforeItJudgesNames) {
  const auto list = [](const Url& directory) {
    if (directory.path() == "/caf%E9/")
      return DirectoryPage{directory, {{"x.txt", false, {}}, {"y\xff.h5", false, {}}}};
    return DirectoryPage{directory,
                         {{"a.h5", false, 1},
                          {"\xe9t\xe9.nc", false, {}},
                          {"a\nb.nc", false, {}},
                          {"", false, {}},
                          {"..", false, {}},
                          {"caf\xe9", true, {}}}};
  };
  const auto walked = [&](const char* pattern) { return walk({Url::parse("http://h/"), pattern}, list); };
  EXPECT_EQ(walked("*.h5").size(), 1u);
  EXPECT_EQ(walked("[a-z].h5").size(), 1u);
  for (const auto& [pattern, name] :
       {std::pair("*.nc", "\\xe9t\\xe9.nc"), {"**/*.h5", "caf\\xe9/y\\xff.h5"}, {"*b.nc", "a\\x0ab.nc"}}) {
    try {
      (void)walked(pattern);
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::invalid);
      EXPECT_NE(error.failure().message.find(name), std::string::npos) << error.failure().message;
    }
  }
}

// Links without a '/' at their end: what may be a directory is asked for, and not without end.
TEST(Walk, AsksWhatALinkIsWhereTheListingDoesNotSay) {
  std::vector<std::string> asked;
  std::vector<DirectoryEntry> many;
  for (int i = 0; i < 1000; ++i) many.push_back({"r" + std::to_string(i), false, {}});
  const auto list = [&](const Url& directory) {
    DirectoryPage page{directory, {}};
    if (directory.path() == "/") page.entries = {{"train", false, {}}, {"v1.0", false, {}}, {"a.h5", false, {}}};
    if (directory.path() == "/train/") page.entries = {{"b.h5", false, {}}};
    if (directory.path() == "/v1.0/") page.entries = many;
    page.is_directory = [&](const Url& url) {
      asked.push_back(url.path());
      return url.path() == "/train" || url.path() == "/v1.0";
    };
    return page;
  };
  EXPECT_EQ(walk({Url::parse("http://h/"), "*.h5"}, list).size(), 1u);
  EXPECT_EQ(asked, std::vector<std::string>{});
  EXPECT_EQ(walk({Url::parse("http://h/"), "**/*.h5"}, list).size(), 2u);
  EXPECT_EQ(asked.front(), "/train");
  EXPECT_LT(asked.size(), 100u);
  EXPECT_EQ(walk({Url::parse("http://h/"), ""}, list).size(), 1002u);
}

TEST(Walk, RefusesTooManyDirectories) {
  std::vector<DirectoryEntry> many;
  for (int i = 0; i < 100'000; ++i) many.push_back({std::to_string(i), true, {}});
  std::size_t listed = 0;
  const auto list = [&](const Url& directory) {
    return DirectoryPage{directory, listed++ == 0 ? many : std::vector<DirectoryEntry>{}};
  };
  EXPECT_EQ(kind_of([&] { (void)walk({top, ""}, list); }), FailureKind::invalid);
  EXPECT_EQ(listed, 100'000u);
  many.pop_back();
  listed = 0;
  EXPECT_TRUE(walk({top, ""}, list).empty());
}

TEST(Pages, EndSomewhere) {
  const auto turned = [](auto next, auto first) {  // the number of pages that were believed
    std::size_t pages = 1;
    Pages listing(top);
    EXPECT_EQ(kind_of([&] {
                for (;; ++pages) listing.turn(next(pages), first(pages));
              }),
              FailureKind::invalid);
    return pages;
  };
  const auto number = [](std::size_t page) { return std::to_string(page); };
  const auto none = [](std::size_t) { return std::string(); };
  EXPECT_EQ(turned(number, number), Pages::pages_max);
  EXPECT_EQ(turned(number, none), Pages::empty_pages_max);
  EXPECT_EQ(turned([](std::size_t page) { return std::to_string(page % 7); }, number), 8u);
  EXPECT_EQ(turned(number, [](std::size_t page) { return std::to_string(page % 7); }), 8u);
  // An entry may be called as a page is asked for, and a few pages may be empty.
  Pages listing(top);
  for (std::size_t page = 1; page < Pages::pages_max; ++page)
    listing.turn(number(page), page % 100 == 0 ? number(page) : "");
}

TEST(HtmlIndex, TakesWhatStandsDirectlyBelow) {
  EXPECT_EQ(names(parse_html_index("<html><a href=\"../\">up</a> <a href=\"b%20c.h5\">b</a><A HREF='sub/'>s</A>"
                                   "<a href=x&amp;y.txt>x</a><a name=z>z</a><a href=\"/d%20x/abs\">a</a>"
                                   "<a href='https://a.example/d%20x/full'>f</a><a href=\"b%20c.h5\">again</a>"
                                   "<a href=\"u\xC3\xBC\">u</a><a href='sub/deep'>d</a><abbr href=no>",
                                   top)),
            "b c.h5|sub/|x&y.txt|abs|full|u\xC3\xBC|");
  EXPECT_EQ(names(parse_html_index("<a href=\"", top)), "");
  EXPECT_EQ(names(parse_html_index("<a href=\"https://b.example/d%20x/f\"><a href=\"http://a.example/d%20x/f\">", top)),
            "");
}

TEST(JsonIndex, SaysSizes) {
  EXPECT_EQ(names(parse_json_index(R"([{"name":"f","type":"file","mtime":"x","size":3},{"name":"d","type":"directory"},
                                      {"name":"s","type":"other"}])",
                                   top)),
            "f=3|d/|");
  EXPECT_EQ(kind_of([] { (void)parse_json_index("{}", top); }), FailureKind::unavailable);
  // nginx writes the bytes that it has: a name in Latin-1 is one that no file may have, and the others stay.
  EXPECT_EQ(names(parse_json_index(
                "[{\"name\":\"caf\xe9\",\"type\":\"file\"},{\"name\":\"\xc3\xa9\",\"type\":\"file\"}]", top)),
            "caf\x1a|\xc3\xa9|");
}

TEST(Multistatus, KnowsDirectoriesByTheirType) {
  const std::string text =
      "<?xml version='1.0'?><D:multistatus xmlns:D='DAV:'><D:response><D:href>/d%20x/</D:href></D:response>"
      "<D:response><D:href>/d%20x/f</D:href><D:propstat><D:prop><lp1:getcontentlength xmlns:lp1='DAV:'>12"
      "</lp1:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
      "<D:response><D:href>https://a.example/d%20x/sub</D:href><D:propstat><D:prop><D:resourcetype><D:collection/>"
      "</D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>";
  EXPECT_EQ(names(parse_multistatus(text, top)), "f=12|sub/|");
}

TEST(FtpList, ReadsUnixDosAndFacts) {
  EXPECT_EQ(names(parse_list("total 4\r\ndrwxr-xr-x    2 0  0   4096 Nov 21 12:00 sub\r\n"
                             "-rw-r--r--    1 ftp      ftp        12345678901 Jan 01  2020  lead space\r\n"
                             "lrwxrwxrwx 1 0 0 5 Nov 21 12:00 link -> f\nprw-r--r-- 1 0 0 0 Nov 21 12:00 pipe\n"
                             "drwxr-xr-x    2 0  0   4096 Nov 21 12:00 ..\r\n",
                             top)),
            "sub/| lead space=12345678901|link|");
  EXPECT_EQ(names(parse_list("11-21-26  12:00PM       <DIR>          my dir\n01-02-20  01:00AM  77 f.bin\n", top)),
            "my dir/|f.bin=77|");
  EXPECT_EQ(names(parse_mlsd("type=cdir;modify=x; /\r\nType=file;Size=5;UNIX.mode=0644; a b\r\ntype=dir; d\r\n"
                             "type=OS.unix=slink:/x; l\r\n",
                             top)),
            "a b=5|d/|l|");
  const auto linked = parse_list(
      "-rw-r--r-- 1 0 0 7 Nov 21 12:00 a.h5\ndrwxr-xr-x 2 0 0 4096 Nov 21 12:00 v2\n"
      "lrwxrwxrwx 1 0 0 4 Nov 21 12:00 latest.h5 -> ./a.h5\n"
      "lrwxrwxrwx 1 0 0 2 Nov 21 12:00 current -> v2\n"
      "lrwxrwxrwx 1 0 0 9 Nov 21 12:00 away -> ../b\n",
      top);
  EXPECT_EQ(names(linked), "a.h5=7|v2/|latest.h5=7|current/|away|");
  EXPECT_EQ(linked.at(2).stands_for, "a.h5");
  EXPECT_EQ(linked.at(4).stands_for, "");
  for (const char* line : {"no listing\n", "-rw\n", "?rw-r--r-- 1 0 0 5 Nov 21 12:00 f\n", "1 2 3\n"})
    EXPECT_EQ(kind_of([&] { (void)parse_list(line, top); }), FailureKind::invalid) << line;
  EXPECT_EQ(kind_of([] { (void)parse_mlsd("type=file;size=1;name\n", top); }), FailureKind::invalid);
}

TEST(Links, AreReadOneByOne) {
  const auto links = parse_links(R"(<a?x=1,2>; rel=next, <b>;rel="duplicate describedby"; type="T/x";pri=3 , <c>)");
  ASSERT_EQ(links.size(), 3u);
  EXPECT_TRUE(links[0].is("next"));
  EXPECT_EQ(links[0].target, "a?x=1,2");
  EXPECT_TRUE(links[1].is("describedby") && links[1].is("duplicate") && !links[1].is("dup"));
  EXPECT_EQ(links[1].type, "t/x");
  EXPECT_EQ(links[1].priority, 3u);
  for (const char* text : {"", "<", ">", "<a", "x", "<a>;", "<a>;rel=\"", "<a>;=", "<a>;;;"})
    EXPECT_LE(parse_links(text).size(), 1u) << text;
}

TEST(Hub, NamesPlaces) {
  const auto place = hf::place_of(Url::parse("hf://datasets/Lab/Set@refs%2Fpr%2F1/a%20b/*.h5"));
  EXPECT_EQ(place.revision_path(), "/api/datasets/Lab/Set/revision/refs%2Fpr%2F1");
  EXPECT_EQ(place.path, "a b/*.h5");
  EXPECT_EQ(place.url_of("c0", "a b/f").text(), "hf://datasets/Lab/Set@c0/a%20b/f");
  EXPECT_EQ(hf::place_of(Url::parse("hf://Lab/Net/x")).content_path(), "/Lab/Net/resolve/main/x");
  for (const char* url :
       {"hf://datasets/Lab", "hf://datasets/Lab/..", "hf://Lab/Net@", "hf://Lab/Net@../x", "hf://Lab/N?x=1"})
    EXPECT_EQ(kind_of([&] { (void)hf::place_of(Url::parse(url)); }), FailureKind::unavailable) << url;
}

TEST(Registry, NamesPlacesAndReadsChallenges) {
  const std::string hex(64, 'a');
  EXPECT_EQ(oci::place_of(Url::parse("oci://ghcr.io/lab/x:v1")).manifest_url().text(),
            "https://ghcr.io/v2/lab/x/manifests/v1");
  EXPECT_EQ(oci::place_of(Url::parse("oci://localhost:5000/x@sha256:" + hex)).blob_url().text(),
            "http://localhost:5000/v2/x/blobs/sha256:" + hex);
  for (const char* url :
       {"oci://h/", "oci://h/x@sha256:0", "oci://h/UP", "oci://h/x:-", "oci://h/a/../b", "oci://h/x?y=1"})
    EXPECT_EQ(kind_of([&] { (void)oci::place_of(Url::parse(url)); }), FailureKind::unavailable) << url;
  const auto challenge = oci::try_parse_challenge(R"(Bearer realm="https://t/x",service="a,b",scope="z")");
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->realm + " " + challenge->service, "https://t/x a,b");
  for (const char* text : {"", "Basic realm=\"x\"", "Bearer", "Bearer x", "Bearer realm=", "Bearer ,,,"})
    EXPECT_FALSE(oci::try_parse_challenge(text)) << text;
  const auto place = oci::place_of(Url::parse("oci://ghcr.io/lab/x"));
  for (const char* realm : {"http://t/", "file:///x", "x"})
    EXPECT_EQ(kind_of([&] { (void)oci::token_url({realm, ""}, place); }), FailureKind::access) << realm;
}

// Files of a record that a pattern leaves out may have any name, and may be closed.
TEST(Records, AskThePatternFirst) {
  const std::string zenodo =
      R"({"id":1,"files":[{"key":"../x.nc"},{"key":"a.h5","links":{"self":"https://a.example/a.h5"}}]})";
  EXPECT_EQ(parse_zenodo_record(zenodo, top, "*.h5").files.size(), 1u);
  EXPECT_EQ(kind_of([&] { (void)parse_zenodo_record(zenodo, top, "**/*.nc"); }), FailureKind::invalid);
  const std::string figshare = R"({"files":[{"name":"a\nb.nc"},{"name":"a.h5","download_url":"https://a.example/1"}]})";
  EXPECT_EQ(parse_figshare_article(figshare, top, "*.h5").files.size(), 1u);
  EXPECT_EQ(kind_of([&] { (void)parse_figshare_article(figshare, top, "*.nc"); }), FailureKind::invalid);
  const std::string dataverse =
      R"({"data":{"files":[{"label":"raw.nc","restricted":true,"dataFile":{"id":1,"filename":"raw.nc"}},)"
      R"({"label":"a.h5","directoryLabel":"d","dataFile":{"id":2,"filename":"a.h5"}}]}})";
  EXPECT_EQ(parse_dataverse_version(dataverse, top, "d/*.h5").files.size(), 1u);
  EXPECT_EQ(kind_of([&] { (void)parse_dataverse_version(dataverse, top, "*"); }), FailureKind::access);
}

TEST(Records, LeadToTheirApi) {
  const auto api = [](const char* page) { return record_place(Url::parse(page), "10.1/x").api.text(); };
  EXPECT_EQ(api("https://zenodo.org/record/12"), "https://zenodo.org/api/records/12");
  EXPECT_EQ(api("https://rodare.example/records/12/preview"), "https://rodare.example/api/records/12");
  EXPECT_EQ(api("https://figshare.com/articles/dataset/T_9/7/2"), "https://api.figshare.com/v2/articles/7/versions/2");
  EXPECT_EQ(api("https://lab.figshare.com/articles/7"), "https://api.figshare.com/v2/articles/7");
  EXPECT_EQ(api("https://dv.example/citation?persistentId=doi:10.1/x"),
            "https://dv.example/api/datasets/:persistentId/versions/:latest-published?persistentId=doi%3A10.1%2Fx");
  for (const char* page : {"https://x.example/", "https://figshare.com/", "https://figshare.com/articles/T"})
    EXPECT_EQ(kind_of([&] { (void)record_place(Url::parse(page), "10.1/x"); }), FailureKind::unavailable) << page;
}

TEST(BagText, IsRead) {
  const auto sums = parse_bag_manifest("\xEF\xBB\xBF" + std::string(32, 'A') + " *./data/100%25 x\r\n\r\n",
                                       *find_checksum_algorithm("md5"), top);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].path.text(), "data/100% x");
  EXPECT_EQ(sums[0].hex, std::string(32, 'a'));
  const auto fetches = parse_bag_fetch("http://h/x - data/a b\nhttp://h/y\t12\tdata/c", top);
  ASSERT_EQ(fetches.size(), 2u);
  EXPECT_EQ(fetches[0].path.text(), "data/a b");
  EXPECT_FALSE(fetches[0].size_bytes);
  EXPECT_EQ(fetches[1].size_bytes, 12u);
  EXPECT_EQ(parse_bag_files("X: 1\npayload-oxum: 10.3\n", top), 3u);
  EXPECT_EQ(kind_of([] { (void)parse_bag_declaration("Tag-File-Character-Encoding: UTF-16\n", top); }),
            FailureKind::invalid);
}

TEST(Lfs, ReadsItsOwnUrls) {
  const std::string oid(64, 'b');
  const auto object = lfs::parse_object(Url::parse("lfs+https://h/r.git/info/lfs/" + oid + "?size=7"));
  EXPECT_EQ(object.batch_url().text(), "https://h/r.git/info/lfs/objects/batch");
  EXPECT_EQ(object.question(), R"({"operation":"download","transfers":["basic"],"objects":[{"oid":")" + oid +
                                   R"(","size":7}],"hash_algo":"sha256"})");
  for (const std::string& tail : {std::string("x?size=1"), oid, oid + "?size=", oid + "?size=-1", oid + "/?size=1"}) {
    const Url url = Url::parse("lfs+https://h/r.git/info/lfs/" + tail);
    EXPECT_EQ(kind_of([&] { (void)lfs::parse_object(url); }), FailureKind::unavailable) << tail;
  }
}

TEST(ChecksumLists, AreKnownByTheirNames) {
  const auto is = [](const char* name) {
    return names_checksum_list(Url::parse(std::string("https://a.example/d/") + name));
  };
  for (const char* name : {"SHA256SUMS", "SHA256SUMS.txt", "sha512sum.txt", "md5sums", "MD5SUMS.asc", "B2SUMS",
                           "x-1.0-CHECKSUM", "tool_1.2_SHA256SUMS", "checksums.txt", "f.tar.gz.sha256", "f.md5",
                           "f.sha1.txt", "checksums.sha256", "f.b3sum"})
    EXPECT_TRUE(is(name)) << name;
  for (const char* name :
       {"f.h5", "sums.txt", "md5", "sha256.h5", "sha256sums.tar.gz", "readme.txt", "list.b2", "", "f.sha256.json"})
    EXPECT_FALSE(is(name)) << name;
}

TEST(ChecksumLists, AreReadLineByLine) {
  const std::string a(64, 'a'), b(32, 'b'), c(128, 'C');
  const auto read = [](const std::string& text, const char* name = "list") {
    return parse_checksum_list(text, top.resolve(name), top);
  };
  const auto files = read("\xEF\xBB\xBF# by us\r\n" + a + "  ./x/y\r\n" + b + " *x/y\nMD5 (p (1).h5) = " + b +
                          "\nRMD160 (q) = abcd\n" + c + "\tz\n" + a + "  list\n");
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].path.text(), "x/y");
  EXPECT_EQ(files[0].checksum.sha256, a);
  EXPECT_EQ(files[0].checksum.md5, b);
  EXPECT_EQ(files[1].urls[0].text(), "https://a.example/d%20x/p%20%281%29.h5");
  EXPECT_EQ(files[2].unchecked, "rmd160");
  EXPECT_EQ(files[3].checksum.sha512, std::string(128, 'c'));
  EXPECT_EQ(read(a, "x.blake3").at(0).unchecked, "blake3") << "as many digits, another hash";
  EXPECT_TRUE(is_checksum_list(a + "  f\n"));
  EXPECT_FALSE(is_checksum_list(a + "\n")) << "this may be any file";
  EXPECT_FALSE(is_checksum_list("https://a.example/f.h5\n"));
  EXPECT_FALSE(is_checksum_list("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256"));
  for (const std::string& bad :
       {a + "  ../x", a + "  /x", a + "  x\nnone", "SHA256 (x) = " + b, a + "  x\n" + std::string(64, 'b') + "  x",
        std::string(20'000, 'a'), std::string(), std::string("# nothing\n"),
        std::string("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256"),
        "-----BEGIN PGP SIGNED MESSAGE-----\n\n\n-----BEGIN PGP SIGNATURE-----\n" + a + "  x"})
    EXPECT_EQ(kind_of([&] { (void)read(bad); }), FailureKind::invalid) << bad.substr(0, 100);
}

TEST(Signposting, NamesItems) {
  const Url page = Url::parse("https://a.example/record/7");
  const auto links = links_of_page(
      "<html><!-- <link rel=item href=no> --><link href='f/a.h5' rel=\"item\"><LINK REL=item HREF=\"/b c.csv\">"
      "<link rel=\"stylesheet\" href=\"s.css\"><link rel='item' href='file:///etc/passwd'>"
      "<link rel=item href='https://o.example/f/a.h5'>");
  const auto files = files_of_links(links, page);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].urls[0].text(), "https://a.example/record/f/a.h5");
  EXPECT_EQ(files[1].path.text(), "b c.csv");
  EXPECT_EQ(files[2].path.text(), "2/a.h5");
  EXPECT_EQ(files_of_links(links, page, "*.csv").size(), 1u);
  const auto set = parse_link_set(R"({"linkset":[{"anchor":"https://a.example/record/7","item":[{"href":"x"}]},
    {"anchor":"https://a.example/other","item":[{"href":"y"}]},{"item":[{"href":"z"}]}]})",
                                  page, page);
  EXPECT_EQ(set.size(), 2u);
  for (const char* bad : {"{}", "[]", R"({"linkset":7})", R"({"linkset":[{"item":[{}]}]})"})
    EXPECT_EQ(kind_of([&] { (void)parse_link_set(bad, page, page); }), FailureKind::invalid) << bad;
}

}  // namespace
}  // namespace sabath
