#include "hub/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "hub/blob_names.h"
#include "hub/revision.h"
#include "sabath/error.h"

namespace sabath {
namespace {

// Files that transformers, diffusers and others ask for, and go on without. What a whole repository lacks of them is
// noted as absent, so that nothing asks again.
constexpr std::array<std::string_view, 22> optional_files{"adapter_config.json",
                                                          "adapter_model.bin",
                                                          "adapter_model.safetensors",
                                                          "added_tokens.json",
                                                          "chat_template.jinja",
                                                          "chat_template.json",
                                                          "config.json",
                                                          "custom_generate/generate.py",
                                                          "generation_config.json",
                                                          "merges.txt",
                                                          "model.safetensors",
                                                          "model.safetensors.index.json",
                                                          "modules.json",
                                                          "preprocessor_config.json",
                                                          "processor_config.json",
                                                          "pytorch_model.bin",
                                                          "pytorch_model.bin.index.json",
                                                          "sentence_bert_config.json",
                                                          "special_tokens_map.json",
                                                          "tokenizer.json",
                                                          "tokenizer_config.json",
                                                          "video_preprocessor_config.json"};

class LayoutBuilder {
 public:
  explicit LayoutBuilder(Store& store) : store_(store), names_(store) {}

  // `folder`: "", or with a slash at its end.
  void add(const HubAsset& asset, const std::string& folder) {
    const auto manifest = store_.manifest(asset.root);
    if (!manifest) throw Error(FailureKind::storage, "a manifest vanished as it was read", "try again");
    const auto files = files_of(names_, asset.hub, *manifest);
    for (const HubFile& file : files) add_file(folder, asset.hub.commit, file, *manifest);
    if (asset.hub.revision != asset.hub.commit)
      add_text(fmt::format("{}refs/{}", folder, asset.hub.revision), asset.hub.commit);
    if (!asset.hub.whole) return;
    add_text(fmt::format("{}trees/{}.json", folder, asset.hub.commit), tree_text(files));
    if (asset.hub.kind == "models") add_absent(folder, asset.hub.commit, files);
  }

  Manifest finish() {
    store_.publish(std::move(new_));
    const Sha256 root = store_.put_manifest(layout_);
    auto manifest = store_.manifest(root);
    if (!manifest) throw Error(FailureKind::internal, "a manifest vanished as it was written");
    return std::move(*manifest);
  }

 private:
  void add_file(const std::string& folder, const std::string& commit, const HubFile& file, const Manifest& manifest) {
    const std::string blob = fmt::format("{}blobs/{}", folder, file.etag());
    if (added_.insert(blob).second) {
      layout_.add_file(RelativePath::parse(blob), file.entry.digest, manifest.chunks(file.entry));
    }
    std::string up = "../../";
    for (const char c : file.path) up += c == '/' ? "../" : "";
    layout_.add_symlink(RelativePath::parse(fmt::format("{}snapshots/{}/{}", folder, commit, file.path)),
                        fmt::format("{}blobs/{}", up, file.etag()));
  }

  void add_text(const std::string& path, const std::string& text) {
    if (!added_.insert(path).second) return;
    const FileTree tree = put(text);
    layout_.add_file(RelativePath::parse(path), tree.digest, tree.chunks);
  }

  FileTree put(const std::string& text) {
    FileHasher hasher;
    hasher.update(std::as_bytes(std::span(text)));
    FileTree tree = hasher.finish();
    if (!put_.insert(tree.digest).second || store_.present(tree.digest)) return tree;
    auto writer = store_.write_object();
    writer->write(std::as_bytes(std::span(text)));
    tree = writer->finish();
    new_.push_back(std::move(writer));
    return tree;
  }

  // As huggingface_hub writes it: format 1.
  static std::string tree_text(const std::vector<HubFile>& files) {
    auto listed = nlohmann::ordered_json::object();
    for (const HubFile& file : files) {
      auto& entry = listed[file.path] = {{"size", file.entry.digest.size_bytes}, {"blob_id", file.blob_id}};
      if (file.sha256.empty()) continue;
      entry["lfs_sha256"] = file.sha256;
      entry["lfs_size"] = file.entry.digest.size_bytes;
    }
    return nlohmann::ordered_json{{"format_version", 1}, {"files", std::move(listed)}}.dump(1);
  }

  void add_absent(const std::string& folder, const std::string& commit, const std::vector<HubFile>& files) {
    for (const std::string_view name : optional_files) {
      if (std::ranges::find(files, name, &HubFile::path) != files.end()) continue;
      add_text(fmt::format("{}.no_exist/{}/{}", folder, commit, name), "");
    }
  }

  Store& store_;
  BlobNames names_;
  ManifestBuilder layout_;
  std::set<std::string> added_;
  std::set<Digest> put_;
  std::vector<std::unique_ptr<ObjectWriter>> new_;
};

}  // namespace

Manifest hub_layout(Store& store, const std::vector<HubAsset>& assets) {
  LayoutBuilder builder(store);
  for (const HubAsset& asset : assets) builder.add(asset, hub_folder(asset.hub) + "/");
  return builder.finish();
}

Manifest hub_folder_layout(Store& store, const HubAsset& asset) {
  LayoutBuilder builder(store);
  builder.add(asset, "");
  return builder.finish();
}

HubAsset named_as_hub(const Sha256& root, HubRevision name) {
  name.commit = root.hex().substr(0, 40);
  name.revision = "main";
  name.whole = true;
  return {root, std::move(name), 0};
}

}  // namespace sabath
