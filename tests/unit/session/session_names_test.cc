// The assets that a name means, and local copies of them.
#include "sabath/session.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "archive_maker.h"
#include "site.h"
#include "support/fault_server.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;
using Tree = std::map<std::string, std::string>;

// --- which assets --------------------------------------------------------------------------------------------------

std::vector<std::string> names(const FetchRecord& record) {
  std::vector<std::string> names;
  for (const auto& asset : record.assets) names.push_back(asset.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Session, AModelBringsItsDefaultDataset) {
  Site site;
  const auto fragment = [&](const char* name) {
    return Json::array({file_fragment("f", "f", {site.serve(name, name)})});
  };
  site.dataset("d1", fragment("d1"));
  site.dataset("d2", fragment("d2"));
  const Json steps = Json::parse(R"([{"argv": ["true"]}])");
  const Json run = {{"unknown", steps}, {"d2", steps}, {"d1", steps}};
  site.model("said", {{"fragments", fragment("said")}, {"default_dataset", "d1"}, {"run", run}});
  site.model("first-run", {{"fragments", fragment("first-run")}, {"run", run}});
  site.model("d1", {{"fragments", fragment("model-d1")}});
  site.model("alone", {{"fragments", fragment("alone")}});

  EXPECT_EQ(names(site.fetch("said")), (Names{"said", "d1"}));
  EXPECT_EQ(names(site.fetch("first-run")), (Names{"first-run", "d2"}));
  EXPECT_EQ(names(site.fetch("d1")), (Names{"d1", "d1"})) << "a model and the dataset of its name";
  EXPECT_EQ(names(site.fetch("d2")), (Names{"d2"}));
  EXPECT_EQ(names(site.fetch("alone")), (Names{"alone"}));
  EXPECT_EQ(site.warnings.texts.size(), 1U);
  EXPECT_EQ(names(site.fetch([&](FetchRequest& r) { r.models = {"said"}; })), (Names{"said"}));
  EXPECT_EQ(names(site.fetch([&](FetchRequest& r) { r.datasets = {"d1"}; })), (Names{"d1"}));
  EXPECT_EQ(names(site.fetch([&](FetchRequest& r) {
              r.names = {"said"};
              r.datasets = {"d2"};
            })),
            (Names{"said", "d2"}));
  EXPECT_EQ(names(site.fetch([&](FetchRequest& r) {
              r.names = {"d1", "said"};
            })),
            (Names{"d1", "d1", "said"}))
      << "each once";
}

TEST(Session, WhatIsNotAskedForRightly) {
  Site site;
  site.dataset("d", {file_fragment("f", "f", {site.serve("f", "f")})});
  const auto kind = [&](const auto& ask) {
    try {
      (void)site.fetch(ask);
    } catch (const Error& error) {
      return error.failure().kind;
    }
    return FailureKind::internal;
  };
  EXPECT_EQ(kind([](FetchRequest&) {}), FailureKind::usage);
  EXPECT_EQ(kind([&](FetchRequest& r) { r.names = {"nothing"}; }), FailureKind::not_found);
  EXPECT_EQ(kind([&](FetchRequest& r) {
              r.names = {"d"};
              r.manifest = "https://a.example/m";
            }),
            FailureKind::usage);
  site.dataset("e", {file_fragment("f", "f", {site.serve("f", "f")})});
  EXPECT_EQ(kind([&](FetchRequest& r) {
              r.names = {"d", "e"};
              r.local_paths = {"x"};
            }),
            FailureKind::usage);
  EXPECT_FALSE(fs::exists(site.settings.store)) << "no store was made for that";
}

// --- local copies --------------------------------------------------------------------------------------------------

TEST(Session, LocalCopiesAreVerifiedAndUsedInOrder) {
  Site site;
  const std::string a = "local a", b = seeded_bytes(1, 0, 5'000'000);
  site.dataset("d", {with_checksum(file_fragment("a", "a", {"https://a.invalid/a"}), a),
                     with_checksum(file_fragment("b", "b", {"https://a.invalid/b"}), b)});
  write_file(site / "a", a);
  write_file(site / "b", b);
  const auto record = site.fetch([&](FetchRequest& r) {
    r.datasets = {"d"};
    r.local_paths = {site / "a"};
    r.local_links = {site / "b"};
  });
  ASSERT_EQ(record.exit, 0) << record.assets[0].failures[0].failure.message;
  EXPECT_EQ(record.assets[0].fetched_bytes, 0U);
  EXPECT_EQ(record.assets[0].trusted_by, "checksum");
  fs::remove(site / "a");
  EXPECT_EQ(site.fetch("d").exit, 0) << "a was copied";

  Site other;
  other.dataset("d", {with_checksum(file_fragment("a", "a", {"https://a.invalid/a"}), a)});
  write_file(other / "a", "local b");
  const auto wrong = other.fetch([&](FetchRequest& r) {
    r.datasets = {"d"};
    r.local_paths = {other / "a"};
  });
  EXPECT_EQ(wrong.exit, 7);
  EXPECT_EQ(other
                .fetch([&](FetchRequest& r) {
                  r.datasets = {"d"};
                  r.local_paths = {other / "none"};
                })
                .exit,
            2);
}

TEST(Session, ALocalArchiveIsUnpacked) {
  for (const char* format : {"pax", "zip"}) {
    Site site;
    const std::string packed = archive_of({{.name = "x", .content = std::string(300'000, 'x')}}, format, "");
    write_file(site / "local", packed);
    site.dataset("a", {with_checksum(archive_fragment("a", {"https://a.invalid/a"}), packed)});
    const auto record = site.fetch([&](FetchRequest& r) {
      r.datasets = {"a"};
      r.local_paths = {site / "local"};
    });
    ASSERT_EQ(record.exit, 0) << format << record.assets[0].failures[0].failure.message;
    EXPECT_EQ(tree_at(record.assets[0].path).at("x"), "f:" + std::string(300'000, 'x'));
  }
}

TEST(Session, MoreLocalFilesThanFragmentsAreToldOf) {
  Site site;
  write_file(site / "a", "a");
  site.dataset("d", {file_fragment("a", "a", {"https://a.invalid/a"})});
  EXPECT_EQ(site.fetch([&](FetchRequest& r) {
                  r.datasets = {"d"};
                  r.local_paths = {site / "a", site / "a"};
                })
                .exit,
            0);
  EXPECT_EQ(site.warnings.texts.size(), 1U);
}

}  // namespace
}  // namespace sabath::test
