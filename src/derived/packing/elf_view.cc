#include "packing/elf_view.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t segments_max = 512, dynamic_max = 8192, needed_max = 1024, word_max = 64 << 10,
                      versions_max = 4096;
constexpr std::uint64_t page_bytes = 4096, address_max = std::uint64_t{1} << 56;
constexpr std::string_view glibc_mark = "GLIBC_";

class ElfReader {
 public:
  explicit ElfReader(const fs::path& file) : file_(file), fd_(open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) {}

  std::optional<ElfView> view() {
    std::array<unsigned char, EI_NIDENT + 4> start{};
    if (!read(start.data(), start.size(), 0) || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
    view_.wide = start[EI_CLASS] == ELFCLASS64;
    view_.big_endian = start[EI_DATA] == ELFDATA2MSB;
    const unsigned low = start[EI_NIDENT + 2], high = start[EI_NIDENT + 3];
    view_.machine = static_cast<std::uint16_t>(view_.big_endian ? low * 256 + high : high * 256 + low);
    const bool native = view_.wide && view_.big_endian == (std::endian::native == std::endian::big);
    if (native && !read_dynamic()) {
      view_.damaged = true;
      view_.needed.clear();
      view_.search.clear();
    }
    return view_;
  }

 private:
  bool read(void* to, std::size_t size, std::uint64_t offset) {
    if (offset > (std::uint64_t{1} << 62)) return false;
    return read_at(fd_.get(), {static_cast<std::byte*>(to), size}, offset, file_) == size;
  }

  std::optional<std::string> word(std::uint64_t offset) {
    std::string text(word_max, '\0');
    const std::size_t got = read_at(fd_.get(), std::as_writable_bytes(std::span(text)), offset, file_);
    const std::size_t end = std::string_view(text).substr(0, got).find('\0');
    if (end == std::string::npos) return std::nullopt;
    text.resize(end);
    return text;
  }

  // The place in the file of what the loader puts at this address.
  [[nodiscard]] std::optional<std::uint64_t> place_of(std::uint64_t address) const {
    for (const Elf64_Phdr& each : segments_)
      if (each.p_type == PT_LOAD && address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz)
        return each.p_offset + (address - each.p_vaddr);
    return std::nullopt;
  }

  // Memory of a segment behind its bytes: of a file of symbols for debuggers, all.
  [[nodiscard]] bool is_zeros(std::uint64_t address) const {
    return std::ranges::any_of(segments_, [&](const Elf64_Phdr& each) {
      return each.p_type == PT_LOAD && address >= each.p_vaddr && address - each.p_vaddr >= each.p_filesz &&
             address - each.p_vaddr < each.p_memsz;
    });
  }

  // Two segments in one page of memory: the later hides a part of the one before.
  [[nodiscard]] bool hides_bytes() const {
    std::uint64_t end = 0;
    for (const Elf64_Phdr& each : segments_) {
      if (each.p_type != PT_LOAD || each.p_memsz == 0) continue;
      if (each.p_vaddr / page_bytes * page_bytes < end || each.p_memsz > address_max || each.p_vaddr > address_max)
        return true;
      end = each.p_vaddr + each.p_memsz;
    }
    return false;
  }

  bool read_dynamic() {
    Elf64_Ehdr header{};
    if (!read(&header, sizeof header, 0)) return false;
    if (header.e_phnum == 0) return true;  // an object file
    if (header.e_phnum > segments_max || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
    segments_.resize(header.e_phnum);
    if (!read(segments_.data(), segments_.size() * sizeof(Elf64_Phdr), header.e_phoff)) return false;
    // As the loader has it: by its address in memory, not by its offset. It takes one of two, so two are
    // refused.
    const Elf64_Phdr* dynamic = nullptr;
    for (const Elf64_Phdr& each : segments_) {
      if (each.p_type != PT_DYNAMIC) continue;
      if (dynamic != nullptr) return false;
      dynamic = &each;
    }
    return dynamic == nullptr || (!hides_bytes() && read_entries(*dynamic));
  }

  bool read_entries(const Elf64_Phdr& segment) {
    const auto place = place_of(segment.p_vaddr);
    if (!place) return is_zeros(segment.p_vaddr);
    std::vector<Elf64_Dyn> entries;
    do {  // the loader stops at the last one, and not at the end of the segment
      Elf64_Dyn entry{};
      if (entries.size() >= dynamic_max || !read(&entry, sizeof entry, *place + entries.size() * sizeof entry))
        return false;
      entries.push_back(entry);
    } while (entries.back().d_tag != DT_NULL);
    std::optional<std::uint64_t> texts;
    for (const Elf64_Dyn& each : entries) {
      if (each.d_tag == DT_NULL) break;
      if (each.d_tag == DT_STRTAB) texts = place_of(each.d_un.d_ptr);
    }
    std::optional<std::string> runpath, rpath;
    for (const Elf64_Dyn& each : entries) {
      if (each.d_tag == DT_NULL) break;
      if (!is_needed(each.d_tag) && each.d_tag != DT_SONAME && each.d_tag != DT_RUNPATH && each.d_tag != DT_RPATH)
        continue;
      const auto text = texts ? word(*texts + each.d_un.d_val) : std::nullopt;
      if (!text || view_.needed.size() >= needed_max) return false;
      if (is_needed(each.d_tag)) view_.needed.push_back(*text);
      if (each.d_tag == DT_SONAME) view_.soname = *text;
      if (each.d_tag == DT_RUNPATH) runpath = text;
      if (each.d_tag == DT_RPATH) rpath = text;
    }
    if (texts) read_versions(entries, *texts);
    view_.is_rpath = !runpath && rpath;
    if (runpath || rpath) split(runpath ? *runpath : *rpath);
    return true;
  }

  // Filters and audits are loaded as well.
  static bool is_needed(Elf64_Sxword tag) {
    return tag == DT_NEEDED || tag == DT_AUXILIARY || tag == DT_FILTER || tag == DT_AUDIT || tag == DT_DEPAUDIT;
  }

  // Which versions of other libraries' symbols it needs: GLIBC_2.34. What is damaged here is the loader's to refuse.
  void read_versions(const std::vector<Elf64_Dyn>& entries, std::uint64_t texts) {
    std::optional<std::uint64_t> at;
    for (const Elf64_Dyn& each : entries) {
      if (each.d_tag == DT_NULL) break;
      if (each.d_tag == DT_VERNEED) at = place_of(each.d_un.d_ptr);
    }
    std::size_t left = versions_max;
    while (at && left-- > 0) {
      Elf64_Verneed library{};
      if (!read(&library, sizeof library, *at)) return;
      std::uint64_t next = *at + library.vn_aux;
      for (unsigned i = 0; i < library.vn_cnt && left-- > 0; ++i) {
        Elf64_Vernaux version{};
        if (!read(&version, sizeof version, next)) return;
        const std::string name = word(texts + version.vna_name).value_or("");
        if (name.starts_with(glibc_mark) && is_newer_glibc(name.substr(glibc_mark.size()), view_.glibc))
          view_.glibc = name.substr(glibc_mark.size());
        if (version.vna_next == 0) break;
        next += version.vna_next;
      }
      if (library.vn_next == 0) return;
      *at += library.vn_next;
    }
  }

  // An empty part means the working directory, so it is kept.
  void split(std::string_view text) {
    for (;;) {
      const std::size_t end = text.find(':');
      view_.search.emplace_back(text.substr(0, end));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  const fs::path& file_;
  const Fd fd_;
  ElfView view_;
  std::vector<Elf64_Phdr> segments_;
};

}  // namespace

std::optional<ElfView> try_view_elf(const fs::path& file) { return ElfReader(file).view(); }

bool is_newer_glibc(std::string_view one, std::string_view other) {
  const auto numbers = [](std::string_view version) {
    const std::size_t dot = std::min(version.find('.'), version.size());
    const auto digits = [](std::string_view text) {
      return try_whole_number(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()))).value_or(0);
    };
    return std::pair(digits(version.substr(0, dot)), digits(version.substr(std::min(dot + 1, version.size()))));
  };
  return numbers(one) > numbers(other);
}

std::string machine_name(const ElfView& view) {
  const std::string bits = view.wide ? "" : ", 32 bits";
  switch (view.machine) {
    case EM_X86_64:
      return "x86_64" + bits;
    case EM_AARCH64:
      return "aarch64" + bits;
    case EM_PPC64:
      return "ppc64" + bits;
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    default:
      return fmt::format("machine {}{}", view.machine, bits);
  }
}

}  // namespace sabath
