#include "store/disk/ref_file.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "store/disk/listing.h"

namespace sabath {

std::string encode_ref(const Ref& ref) {
  nlohmann::ordered_json json{{"root", ref.root.prefixed()},
                              {"trusted_by", ref.trusted_by},
                              {"etag", ref.validators.etag},
                              {"last_modified", ref.validators.last_modified},
                              {"time", ref.time},
                              {"source", ref.source},
                              {"note", ref.note}};
  if (!ref.proved.empty()) json["proved"] = ref.proved;
  const auto dump = [&] { return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); };
  json["xxh3"] = fmt::format("{:016x}", xxh3_64(dump()));
  return dump() + "\n";
}

std::optional<Ref> try_decode_ref(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    const auto root = Sha256::try_parse(json.at("root").get<std::string>());
    if (!root) return std::nullopt;
    Ref ref{*root,
            json.at("trusted_by"),
            {json.at("etag"), json.at("last_modified")},
            json.at("time"),
            json.at("source"),
            json.at("note"),
            json.value("proved", "")};
    if (encode_ref(ref) != text) return std::nullopt;  // one spelling, and its checksum agrees
    return ref;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::vector<std::filesystem::path> ref_files(const Layout& layout, const Sha256& source_key) {
  std::vector<std::filesystem::path> files;
  const auto relative = layout.ref(source_key).lexically_relative(layout.refs());
  for (const auto& room : note_rooms(layout, layout.refs())) {
    if (try_lstat(room / relative)) files.push_back(room / relative);
  }
  const auto fan = (layout.root() / layout.refs().stem() / relative).parent_path();
  for (const auto& file : list_directory(fan)) {  // <62 hex>.<uid>.json: an earlier SABATH's
    const auto name = try_parse_ref_name(fan.filename().native(), file.filename().native());
    if (name && name->owner && name->source_key == source_key) files.push_back(file);
  }
  return files;
}

std::string encode_alias(const Digest& digest) {
  const std::string text = fmt::format("{} {}", digest.hash.prefixed(), digest.size_bytes);
  return fmt::format("{} {:016x}\n", text, xxh3_64(text));
}

std::optional<Digest> try_decode_alias(std::string_view text) {
  const std::size_t first = text.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const auto hash = Sha256::try_parse(text.substr(0, first));
  Digest digest;
  std::from_chars(text.data() + first + 1, text.data() + text.size(), digest.size_bytes);
  if (!hash) return std::nullopt;
  digest.hash = *hash;
  if (encode_alias(digest) != text) return std::nullopt;
  return digest;
}

}  // namespace sabath
