// A real OpenStack Swift with its s3api on a free loopback port: an S3 server that verifies signatures. Its objects are
// put there before it can be reached. Throws std::runtime_error when it does not start.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "support/process.h"
#include "support/temp_dir.h"

namespace sabath::test {

class Swift {
 public:
  // "bucket/key" -> bytes. A key that ends in ".parts" is put in two parts.
  explicit Swift(const std::map<std::string, std::string>& objects);
  [[nodiscard]] static std::string unavailable_because();  // empty: it can be started here
  [[nodiscard]] std::string endpoint() const;              // "http://127.0.0.1:port"
  void kill() { server_.child->kill(); }

  static constexpr const char* access_key_id = "test:tester";
  static constexpr const char* secret = "testing";
  static constexpr const char* region = "us-east-1";

 private:
  TempDir directory_;
  ServerProcess server_;
};

}  // namespace sabath::test
