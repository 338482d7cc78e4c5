#include "s3/profile.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::s3 {
namespace {

constexpr std::uint64_t file_size_max = 1024 * 1024;

// "[profile lake]" in one file, "[lake]" in the other; blanks within do not count.
std::string section_name(std::string_view text) {
  std::string name;
  for (const char c : trim(text)) {
    const char plain = c == '\t' ? ' ' : c;
    if (plain != ' ' || !name.ends_with(' ')) name += plain;
  }
  return name;
}

class LineReader {
 public:
  explicit LineReader(const std::string& origin) : origin_(origin) {}

  void hear(std::string_view line) {
    ++number_;
    const std::string_view text = trim(line);
    if (text.empty() || text.starts_with('#') || text.starts_with(';')) return;
    if (text.starts_with('[')) {
      if (!text.ends_with(']')) fail("a section's name has no end");
      section_ = &sections_[section_name(text.substr(1, text.size() - 2))];
      outer_.clear();
      return;
    }
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) fail("neither a section nor a setting");
    if (section_ == nullptr) fail("a setting before the first section");
    const std::string name = to_lower(trim(text.substr(0, equals)));
    const std::string value(trim(text.substr(equals + 1)));
    const bool nested = line.starts_with(' ') || line.starts_with('\t');
    if (nested && !outer_.empty()) {
      (*section_)[outer_ + '.' + name] = value;
    } else {
      (*section_)[name] = value;
      outer_ = value.empty() ? name : "";
    }
  }

  [[nodiscard]] Sections take() { return std::move(sections_); }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw Error(FailureKind::invalid, fmt::format("{}:{}: {}", origin_, number_, why));
  }

  const std::string& origin_;
  std::size_t number_ = 0;
  Sections sections_;
  std::map<std::string, std::string>* section_ = nullptr;
  std::string outer_;
};

Sections read_sections(const std::filesystem::path& file) {
  if (file.empty()) return {};
  const auto text = try_read_text(file, file_size_max);
  return text ? parse_sections(*text, printable(file.string())) : Sections();
}

void check_private(const std::filesystem::path& file) {
  const auto facts = file.empty() ? std::nullopt : try_stat(file);
  if (!facts || (facts->st_mode & 077) == 0 || facts->st_uid != ::getuid()) return;
  throw Error(FailureKind::access, fmt::format("{} is not used: others may read it", printable(file.string())),
              fmt::format("chmod 600 {}", shell_word(file.string())));
}

class ProfileReader {
 public:
  explicit ProfileReader(const S3Settings& settings)
      : settings_(settings),
        name_(settings.profile.empty() ? "default" : settings.profile),
        config_(read_sections(settings.config_file)),
        credentials_(read_sections(settings.credentials_file)) {}

  Profile read() {
    Profile profile;
    const auto mine = name_ == "default" && !config_.contains("profile default") ? "default" : "profile " + name_;
    const bool known = config_.contains(mine) || credentials_.contains(name_);
    if (!known && !settings_.profile.empty()) {
      throw Error(FailureKind::usage, fmt::format("there is no S3 profile '{}'", printable(name_)),
                  fmt::format("{} and {} would name it", printable(settings_.config_file.string()),
                              printable(settings_.credentials_file.string())));
    }
    profile.region = value(config_, mine, "region");
    const std::string services = value(config_, mine, "services");
    if (!services.empty()) profile.endpoint_url = value(config_, "services " + services, "s3.endpoint_url");
    if (profile.endpoint_url.empty()) profile.endpoint_url = value(config_, mine, "endpoint_url");
    profile.addressing = value(config_, mine, "s3.addressing_style");
    for (const auto& [sections, section] : {std::pair(&credentials_, name_), std::pair(&config_, mine)}) {
      if (profile.keys.empty()) take_keys(*sections, section, profile);
    }
    for (const char* setting : {"credential_process", "sso_session", "sso_start_url", "role_arn"}) {
      if (!value(config_, mine, setting).empty()) profile.elsewhere = setting;
    }
    return profile;
  }

 private:
  static std::string value(const Sections& sections, const std::string& section, const std::string& name) {
    const auto found = sections.find(section);
    if (found == sections.end()) return {};
    const auto setting = found->second.find(name);
    return setting == found->second.end() ? "" : setting->second;
  }

  void take_keys(const Sections& sections, const std::string& section, Profile& profile) const {
    const std::string id = value(sections, section, "aws_access_key_id");
    const std::string secret = value(sections, section, "aws_secret_access_key");
    if (id.empty() || secret.empty()) return;
    check_private(&sections == &credentials_ ? settings_.credentials_file : settings_.config_file);
    profile.keys = {id, Secret(secret), Secret(value(sections, section, "aws_session_token"))};
  }

  const S3Settings& settings_;
  const std::string name_;
  const Sections config_, credentials_;
};

}  // namespace

Sections parse_sections(std::string_view text, const std::string& origin) {
  LineReader reader(origin);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.hear(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

Profile read_profile(const S3Settings& settings) {
  if (settings.access_key_id.empty() != settings.secret_access_key.empty()) {
    throw Error(FailureKind::usage, "of the S3 access key id and the secret access key only one is known",
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither");
  }
  Profile profile = ProfileReader(settings).read();
  if (!settings.access_key_id.empty()) {
    profile.keys = {settings.access_key_id, settings.secret_access_key, settings.session_token};
    profile.elsewhere.clear();
  }
  if (settings.anonymous) profile.keys = {};
  if (!settings.region.empty()) profile.region = settings.region;
  if (!settings.endpoint_url.empty()) profile.endpoint_url = settings.endpoint_url;
  if (!settings.addressing.empty()) profile.addressing = settings.addressing;
  if (!profile.keys.empty() || settings.anonymous) profile.elsewhere.clear();
  return profile;
}

}  // namespace sabath::s3
