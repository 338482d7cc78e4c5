#include "base/certificates.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace sabath {

std::span<const char* const> ca_file_places() noexcept {
  static constexpr std::array<const char*, 6> places{
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",                   // RHEL, Rocky, Fedora
      "/etc/ssl/ca-bundle.pem",                             // SLES, openSUSE
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora 43 and newer, containers of RHEL
      "/var/lib/ca-certificates/ca-bundle.pem",             // SLES without the link
      "/etc/ssl/cert.pem",                                  // Alpine, others
  };
  return places;
}

std::filesystem::path system_ca_file(std::span<const char* const> places) {
  for (const char* place : places) {
    struct stat status {};
    if (::stat(place, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && ::access(place, R_OK) == 0)
      return place;
  }
  return {};
}

}  // namespace sabath
