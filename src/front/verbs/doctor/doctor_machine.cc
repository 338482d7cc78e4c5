#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/certificates.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "manifest/file_tree.h"
#include "mpi/library.h"
#include "sabath/fetcher.h"
#include "sabath/path.h"
#include "verbs/doctor/examination.h"
#include "verbs/version.h"

namespace sabath {
namespace {

// The first line of a program's --version; nullopt if the program is not there or does not answer.
std::optional<std::string> version_line(const char* program) {
  Command command;
  command.argv = {program, "--version"};
  command.deadline = std::chrono::seconds(5);
  try {
    const CommandResult result = run_command(command, {});
    if (result.status != 0) return std::nullopt;
    return printable(trim(std::string_view(result.out).substr(0, result.out.find('\n'))));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Where a rank that this mpirun starts would look: an MPI by its launcher's variables.
MpiPlaces places_under(const std::optional<std::string>& mpirun, const Environment& environment) {
  MpiPlaces places = mpi_places(environment);
  if (!mpirun || launched_ranks(places.variable) > 1) return places;
  const std::string lower = to_lower(*mpirun);
  const auto is_of = [&](std::string_view maker) { return lower.find(maker) != std::string::npos; };
  const std::string sets = is_of("open mpi") || is_of("openrte") || is_of("prrte") ? "OMPI_COMM_WORLD_SIZE"
                           : is_of("mpich") || is_of("hydra") || is_of("intel")    ? "PMI_RANK"
                                                                                   : "";
  places.variable = [sets, real = places.variable](const std::string& name) {
    return name == sets && !real(name) ? std::optional<std::string>("2") : real(name);
  };
  return places;
}

// Which library, where, by which ABI, and why others were not taken.
void check_mpi(Examination& findings) {
  const auto mpirun = version_line("mpirun");
  const MpiSearch search = find_mpi(places_under(mpirun, findings.environment), true);
  if (!search.built) return findings.ok("MPI", "none (built without MPI)");
  const std::string others = fmt::format("{}", fmt::join(search.passed_over, "; "));
  const bool launched = launched_ranks(mpi_places(findings.environment).variable) > 1;
  if (const auto& mpi = search.found) {
    findings.ok("MPI", fmt::format("{}: {}, ABI `{}`, by {}{}{}", mpi->version, mpi->file.native(), mpi->abi,
                                   mpi->plugin.native(), others.empty() ? "" : "; not used: ", others));
  } else if (launched || mpirun) {
    findings.fail("MPI", "none can be used: " + others,
                  "load the MPI that the launcher is of (`module load ...`), or set SABATH_LIBMPI to its library",
                  FailureKind::nodes);
  } else {
    findings.warn("MPI", "none can be used: " + others, "load an MPI (`module load ...`) before several ranks work");
  }
  if (mpirun) {
    findings.ok("launcher", *mpirun);
  } else {
    findings.warn("launcher", "no mpirun in PATH", "load the module of an MPI (`module load ...`), or use srun");
  }
}

void check_hash_rate(Examination& findings) {
  const std::vector<std::byte> chunk(chunk_size_bytes, std::byte{0x5a});
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed{};
  std::uint64_t bytes = 0;
  while (passed.count() < 0.2) {
    if (hash_chunk(chunk) == Sha256{}) break;  // keeps the compiler from leaving the work out
    bytes += chunk.size();
    passed = std::chrono::steady_clock::now() - begin;
  }
  const double rate = static_cast<double>(bytes) / passed.count();
  const std::string text = fmt::format("{}/s of SHA-256 on one core", format_bytes(static_cast<std::uint64_t>(rate)));
  if (rate < 100e6) {
    findings.warn("hash rate", text, "was this a debug build? verification will be slower than the disk");
  } else {
    findings.ok("hash rate", text);
  }
}

// The kernels that hash pieces of files here, and the rate of every candidate.
void check_hash_kernels(Examination& findings) {
  const HashKernels kernels = hash_kernels();
  std::string rates;
  for (const auto& [name, rate] : kernels.bytes_per_second) {
    rates += fmt::format("{}{} {}/s", rates.empty() ? "" : ", ", name, format_bytes(static_cast<std::uint64_t>(rate)));
  }
  const std::string text = fmt::format(
      "{}; {}: {}", kernels.pieces,
      kernels.with_stream.empty() ? "a file's checksum by itself" : "with a file's checksum " + kernels.with_stream,
      rates);
  if (kernels.wrong.empty()) {
    findings.ok("hash kernel", text);
  } else {
    findings.warn("hash kernel", fmt::format("{}; wrong, and not used: {}", text, fmt::join(kernels.wrong, ", ")),
                  "this processor, or what emulates it, is broken: trust none of its results");
  }
}

void check_descriptors(Examination& findings) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::string text = limit.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{} open files", limit.rlim_cur);
  if (limit.rlim_cur < 1024) {
    findings.warn("descriptors", text, "ulimit -n 4096, before sabath");
  } else {
    findings.ok("descriptors", text);
  }
}

// Certificates are judged by the clock: one that stands in the past fails every TLS connection.
void check_clock(Examination& findings) {
  constexpr std::time_t written = 1'763'000'000;  // November 2025: this program is younger
  const std::time_t now = std::time(nullptr);
  if (now < written) {
    findings.fail("clock", fmt::format("the clock is at {} s after 1970, before this program was written", now),
                  "set the clock (chrony, ntp): certificates will be refused", FailureKind::internal);
  } else {
    findings.ok("clock", "plausible");
  }
}

// Userinfo in a proxy's URL may hold a password.
std::string without_userinfo(const std::string& proxy) {
  const auto scheme = proxy.find("://");
  const auto begin = scheme == std::string::npos ? 0 : scheme + 3;
  const auto at = proxy.find('@', begin);
  return at == std::string::npos ? proxy : proxy.substr(0, begin) + "***@" + proxy.substr(at + 1);
}

// They may be missing, or their settings wrong.
void check_fetchers(Examination& findings) {
  try {
    std::vector<std::string> built;
    for (const Scheme& scheme : make_fetchers(findings.settings.fetchers)->schemes()) {
      if (scheme.built && std::ranges::find(built, scheme.name) == built.end()) built.push_back(scheme.name);
    }
    findings.ok("fetchers", fmt::format("{}", fmt::join(built, " ")));
  } catch (const Error& error) {
    findings.fail("fetchers", error.failure().message, error.failure().hint, error.failure().kind);
  }
}

}  // namespace

void check_libraries(Examination& findings) {
  findings.ok("sabath", SABATH_VERSION);
  check_mpi(findings);
  for (const Library& library : libraries()) {
    if (const auto& missing = library.missing) {
      findings.fail(library.name, missing->message, missing->hint, missing->kind);
    } else {
      findings.ok(library.name, library.version);
    }
  }
  if (const auto git = version_line("git")) {
    findings.ok("git", *git);
  } else {
    findings.warn("git", "no git program in PATH", "install git: models are fetched with it");
  }
}

void check_machine(Examination& findings) {
  cpu_set_t set;
  const int allowed = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  const unsigned all = std::thread::hardware_concurrency();
  findings.ok("cores", allowed > 0 && static_cast<unsigned>(allowed) != all ? fmt::format("{} of {}", allowed, all)
                                                                            : fmt::format("{}", all));
  check_hash_rate(findings);
  check_hash_kernels(findings);
  check_descriptors(findings);
  check_clock(findings);
}

void check_network(Examination& findings) {
  std::vector<std::string> proxies;
  for (const char* name :
       {"http_proxy", "https_proxy", "HTTPS_PROXY", "ftp_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}) {
    if (const auto value = findings.environment.get(name)) {
      proxies.push_back(fmt::format("{}={}", name, without_userinfo(*value)));
    }
  }
  findings.ok("proxies", proxies.empty() ? "none set" : fmt::format("{}", fmt::join(proxies, " ")));
  if (findings.environment.get("HTTP_PROXY") && !findings.environment.get("http_proxy")) {
    findings.warn("proxies", "HTTP_PROXY is set, but only http_proxy counts", "export http_proxy=\"$HTTP_PROXY\"");
  }
  const std::string& ca_file = findings.settings.fetchers.ca_file;
  if (!ca_file.empty() && !try_stat(ca_file)) {
    findings.fail("certificates", fmt::format("the file of authorities {} is not there", ca_file),
                  verb_text("config") + " tells what names it", FailureKind::usage);
  } else if (const auto systems = system_ca_file(); ca_file.empty() && systems.empty()) {
    findings.warn("certificates", "no bundle of authorities where distributions have it: https may fail",
                  "install ca-certificates, or name a PEM file by `ca_file` of the configuration or SSL_CERT_FILE");
  } else {
    findings.ok("certificates", ca_file.empty() ? fmt::format("the system's ({})", systems.native()) : ca_file);
  }
  check_fetchers(findings);
  if (findings.settings.offline) {
    findings.warn("offline", "no connection will be opened", verb_text("config") + " tells what asks for it");
  }
}

}  // namespace sabath
