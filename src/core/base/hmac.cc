#include "base/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "sabath/error.h"

namespace sabath {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string hmac(const char* algorithm, std::string_view key, std::string_view message) {
  const EVP_MD* const hash = EVP_get_digestbyname(algorithm);
  std::string result(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (hash == nullptr || HMAC(hash, key.data(), static_cast<int>(key.size()), bytes_of(message), message.size(),
                              bytes_of(result), &size) == nullptr) {
    throw Error(FailureKind::internal, "OpenSSL: HMAC failed", "check the OpenSSL installation");
  }
  result.resize(size);
  return result;
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that OpenSSL writes
  text.resize(
      static_cast<std::size_t>(EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()))));
  return text;
}

std::optional<std::string> try_from_base64(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  if (digits.find_first_not_of(alphabet) != digits.npos) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(bytes_of(bytes), bytes_of(text), static_cast<int>(text.size())) < 0) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace sabath
