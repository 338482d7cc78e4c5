#include "metadata/fair.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "metadata/documents.h"
#include "metadata/terms.h"
#include "recipe/document.h"
#include "recipe/naming.h"
#include "sabath/error.h"
#include "sabath/metadata.h"

namespace sabath {
namespace {

// Read by programs of several makers, by a public description.
constexpr auto open_formats = std::to_array<std::string_view>(
    {"hdf5",    "netcdf", "netcdf-4", "tfrecord", "npy",  "npz",  "csv",        "tsv",   "json", "json lines",  "jsonl",
     "parquet", "zarr",   "onnx",     "png",      "jpeg", "tiff", "geotiff",    "nifti", "fits", "xml",         "yaml",
     "text",    "txt",    "lmdb",     "arrow",    "grib", "cif",  "mmcif",      "fasta", "pdb",  "safetensors", "tar",
     "zip",     "idx",    "arff",     "dicom",    "wav",  "mp4",  "webdataset", "vtk",   "xyz",  "mrc"});
constexpr auto open_protocols = std::to_array<std::string_view>(
    {"http",      "https", "ftp",    "ftps", "sftp",   "ssh", "git",    "s3",     "gs",  "hf",   "zenodo", "figshare",
     "dataverse", "oci",   "docker", "osf",  "gdrive", "doi", "sabath", "webdav", "dav", "davs", "lfs",    "ia"});

FairPrinciple answer(std::string_view name, std::string_view said, std::string by, std::string remedy = {}) {
  return {std::string(name), std::string(said), std::move(by), said == "yes" ? "" : std::move(remedy)};
}

// Some of these are there: all, enough, or too few.
struct Wish {
  std::string_view what, remedy;
  bool is_there = false;
};

FairPrinciple by_wishes(std::string_view name, const std::vector<Wish>& wishes, std::size_t all, std::size_t some) {
  std::vector<std::string_view> there, lacking;
  std::string remedy;
  for (const Wish& wish : wishes) {
    (wish.is_there ? there : lacking).push_back(wish.what);
    if (!wish.is_there && remedy.empty()) remedy = wish.remedy;
  }
  if (there.size() >= all) return answer(name, "yes", fmt::format("{}", fmt::join(there, ", ")));
  return answer(name, there.size() >= some ? "part" : "no", fmt::format("no {}", fmt::join(lacking, ", ")), remedy);
}

class Questions {
 public:
  Questions(const Recipe& recipe, const FairTrials& trials)
      : recipe_(recipe), data_(metadata_of(recipe)), trials_(trials) {}

  std::vector<FairPrinciple> run() const {
    return {f1(), f2(), f3(), f4(), a1(), a2(), a3(), a4(), i1(), i2(), i3(), r1(), r2(), r3()};
  }

 private:
  [[nodiscard]] bool has_sources() const { return !recipe_.fragments.empty() || recipe_.git || recipe_.source; }
  [[nodiscard]] const std::string* reason(const std::string& key) const {
    const auto found = data_.unknown.find(key);
    return found == data_.unknown.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool has_text() const { return !recipe_.abstract_text.empty() || !recipe_.description.empty(); }
  [[nodiscard]] bool has_words() const {
    return !data_.keywords.empty() || !data_.tags.empty() || !recipe_.metadata.empty();
  }

  [[nodiscard]] FairPrinciple f1() const {
    return by_wishes("F1",
                     {{"title", "title=TEXT", !recipe_.title.empty()},
                      {"description", "abstract=TEXT", has_text()},
                      {"creators", "creators=[{\"name\": \"Family, Given\"}]", !data_.creators.empty()},
                      {"keywords or facts", "keywords=[\"WORD\"]", has_words()},
                      {"date", "published=YYYY-MM-DD", !data_.published.empty()}},
                     4, 2);
  }

  [[nodiscard]] FairPrinciple f2() const {
    if (!data_.doi.empty()) return answer("F2", "yes", "doi " + data_.doi);
    if (!data_.id.empty()) return answer("F2", "yes", data_.id);
    return answer("F2", "no", "neither id nor doi", "id=URI");
  }

  [[nodiscard]] FairPrinciple f3() const {
    return by_wishes("F3",
                     {{"keywords or facts", "keywords=[\"WORD\"]", has_words()},
                      {"creators", "creators=[{\"name\": \"Family, Given\"}]", !data_.creators.empty()}},
                     2, 1);
  }

  [[nodiscard]] FairPrinciple f4() const {
    if (trials_.is_catalogued) return answer("F4", "yes", "search finds it; an export has it in index.json");
    return answer("F4", "part", "its file is in no directory of recipes", "");
  }

  [[nodiscard]] FairPrinciple a1() const {
    if (has_sources()) return a1_by_sources();
    if (const std::string* why = reason("fragments")) return answer("A1", "part", "by hand: " + *why);
    if (!recipe_.access.steps.empty()) return answer("A1", "part", "by hand: " + recipe_.access.steps.front());
    if (recipe_.manifest) return answer("A1", "part", "only where its bytes are already", "fragments=[...]");
    return answer("A1", "no", "it has no source", "fragments=[...]");
  }

  [[nodiscard]] static std::string other_source(const std::string& fragment) {
    return fragment.empty() ? "git.origin=URL" : fmt::format("fragments.{}.urls=[\"URL\"]", fragment);
  }

  [[nodiscard]] FairPrinciple a1_by_sources() const {
    if (const auto part = part_of_this_machine(recipe_))
      return answer("A1", "part", "on this machine alone, by " + part->url, other_source(part->fragment));
    if (trials_.answers == false)
      return answer("A1", "no", fmt::format("no source gives {}: {}", trials_.silent, trials_.asked),
                    other_source(trials_.silent));
    if (recipe_.access.kind != AccessKind::open) return answer("A1", "part", "its sources ask for a login");
    if (data_.id.empty() && data_.doi.empty())
      return answer("A1", "part", "by its name alone: it has no identifier", "id=URI");
    if (!trials_.id_leads_here) return answer("A1", "part", "here its identifier means another asset", "id=URI");
    if (!trials_.answers) return answer("A1", "not asked", "its identifier leads to it; its sources were not asked");
    return answer("A1", "yes", "its identifier leads to it; " + trials_.asked);
  }

  [[nodiscard]] FairPrinciple a2() const {
    if (const auto part = part_of_this_machine(recipe_))
      return answer("A2", "no", part->url + " is of this machine alone", other_source(part->fragment));
    std::vector<std::string> closed;
    const auto look = [&](const std::string& scheme) {
      if (std::ranges::find(open_protocols, scheme) == open_protocols.end()) closed.push_back(scheme);
    };
    for (const Fragment& fragment : recipe_.fragments) {
      // One open mirror suffices.
      const bool any = std::ranges::any_of(fragment.urls, [](const Url& url) {
        return std::ranges::find(open_protocols, url.scheme()) != open_protocols.end();
      });
      if (!any && !fragment.urls.empty()) look(std::string(fragment.urls.front().scheme()));
    }
    if (!closed.empty())
      return answer("A2", "part", fmt::format("{} is no open protocol", closed.front()), "fragments: another mirror");
    if (has_sources()) return answer("A2", "yes", "by protocols with public descriptions");
    if (!recipe_.homepage.empty()) return answer("A2", "part", "by hand, at " + recipe_.homepage);
    if (const std::string* why = reason("fragments")) return answer("A2", "part", *why);
    if (!recipe_.access.steps.empty()) return answer("A2", "part", "by hand: " + recipe_.access.steps.front());
    return answer("A2", "no", "it has no source", "fragments=[...]");
  }

  [[nodiscard]] FairPrinciple a3() const {
    if (recipe_.access.kind == AccessKind::open) return answer("A3", "yes", "none is needed");
    if (!recipe_.access.steps.empty()) return answer("A3", "yes", recipe_.access.steps.front());
    return answer("A3", "part", "it does not say how", "access={\"kind\": \"login\", \"steps\": [\"...\"]}");
  }

  [[nodiscard]] FairPrinciple a4() const {
    if (!data_.id.empty() || !data_.doi.empty())
      return answer("A4", "yes", "a removed recipe leaves a tombstone with its id");
    return answer("A4", "part", "a tombstone would have its name alone", "id=URI");
  }

  [[nodiscard]] FairPrinciple i1() const {
    if (comes_back()) return answer("I1", "yes", "its JSON-LD is read back equal; Croissant, DataCite, RO-Crate");
    return answer("I1", "part", "JSON-LD, from which not all comes back");
  }

  [[nodiscard]] bool comes_back() const {
    Recipe plain = recipe_;
    plain.name = plain.name.substr(plain.name.rfind('/') + 1);  // LAB/NAME of a subscribed catalogue
    try {
      const auto read =
          try_read_document(find_metadata_format("jsonld").write({plain, ""}), {plain.origin, std::nullopt});
      return read && text_of_recipe(read->recipe) == text_of_recipe(plain);
    } catch (const Error&) {
      return false;
    }
  }

  [[nodiscard]] FairPrinciple i2() const {
    std::vector<std::string> names = data_.format.names;
    if (!data_.model.format.empty()) names.push_back(data_.model.format);
    if (const auto fact = recipe_.metadata.find("format"); fact != recipe_.metadata.end())
      names.push_back(fact->second);
    const auto is_open = [](const std::string& name) {
      return std::ranges::find(open_formats, to_lower(name)) != open_formats.end();
    };
    if (std::ranges::any_of(names, is_open)) return answer("I2", "yes", fmt::format("{}", fmt::join(names, ", ")));
    if (!names.empty()) return answer("I2", "part", fmt::format("{}: of one maker", fmt::join(names, ", ")));
    if (!data_.format.media_types.empty() || recipe_.git || recipe_.source)
      return answer("I2", "part", recipe_.git || recipe_.source ? "source code" : data_.format.media_types.front());
    return answer("I2", "no", "it does not say its format", "format={\"names\": [\"HDF5\"]}");
  }

  [[nodiscard]] FairPrinciple i3() const {
    if (!data_.related.empty())
      return answer("I3", "yes", fmt::format("{} {}", data_.related.front().relation, data_.related.front().target));
    if (!data_.experiment.datasets.empty() || !recipe_.default_dataset.empty())
      return answer("I3", "yes", "it names its dataset");
    if (!recipe_.references.empty() || !recipe_.citation.empty())
      return answer("I3", "part", "references without a relation",
                    "related=[{\"relation\": \"IsDocumentedBy\", \"target\": URI}]");
    return answer("I3", "no", "no references", "related=[{\"relation\": \"IsDocumentedBy\", \"target\": URI}]");
  }

  [[nodiscard]] FairPrinciple r1() const {
    return by_wishes("R1",
                     {{"description", "abstract=TEXT", has_text()},
                      {"citation", "citation=[BIBTEX]", !recipe_.citation.empty()},
                      {"facts", "metadata.KEY=VALUE",
                       !recipe_.metadata.empty() || !data_.format.variables.empty() || !data_.model.empty() ||
                           !data_.experiment.empty()},
                      {"where it was read", "read_from={\"title\": [URL]}", !data_.read_from.empty()}},
                     3, 1);
  }

  [[nodiscard]] FairPrinciple r2() const {
    if (!recipe_.licence.empty()) return answer("R2", "yes", recipe_.licence);
    if (const std::string* why = reason("licence")) return answer("R2", "part", "not known: " + *why);
    return answer("R2", "no", "no licence", "licence=SPDX");
  }

  [[nodiscard]] FairPrinciple r3() const {
    if (!data_.format.conforms_to.empty()) return answer("R3", "yes", data_.format.conforms_to.front());
    if (!data_.format.variables.empty()) return answer("R3", "yes", "its variables are described");
    if (!data_.model.empty() && recipe_.kind == AssetKind::model)
      return answer("R3", "yes", "the facts of a model card");
    if (!data_.experiment.empty()) return answer("R3", "yes", "software, hardware and data of the experiment");
    const bool has_format = !data_.format.names.empty() || !data_.format.media_types.empty();
    if (has_format || !recipe_.metadata.empty() || !recipe_.run.empty())
      return answer("R3", "part", "a format, and no convention", "format.conforms_to=[URI]");
    return answer("R3", "no", "no convention of its field", "format.conforms_to=[URI]");
  }

  const Recipe& recipe_;
  const Metadata& data_;
  const FairTrials& trials_;
};

}  // namespace

std::vector<FairPrinciple> fair_principles(const Recipe& recipe, const FairTrials& trials) {
  return Questions(recipe, trials).run();
}

}  // namespace sabath
