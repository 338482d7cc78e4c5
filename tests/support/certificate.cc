#include "support/certificate.h"

#include <stdexcept>

#include "support/process.h"

namespace sabath::test {

Certificate make_certificate(const std::filesystem::path& directory, const std::string& name) {
  const Certificate made{directory / "cert.pem", directory / "key.pem"};
  const std::string alternative = name == "localhost" ? "DNS:localhost,IP:127.0.0.1" : "DNS:" + name;
  ChildProcess openssl(
      {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
       "-subj", "/CN=" + name, "-addext", "subjectAltName=" + alternative, "-keyout", made.key, "-out", made.file},
      directory / "openssl.log");
  if (openssl.wait() != 0) throw std::runtime_error("openssl made no certificate for " + name);
  return made;
}

}  // namespace sabath::test
