#include "packing/elf_view.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t segments_max = 512, dynamic_max = 8192, needed_max = 1024, word_max = 64 << 10;

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

  bool read_dynamic() {
    Elf64_Ehdr header{};
    if (!read(&header, sizeof header, 0)) return false;
    if (header.e_phnum == 0) return true;  // an object file
    if (header.e_phnum > segments_max || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
    segments_.resize(header.e_phnum);
    if (!read(segments_.data(), segments_.size() * sizeof(Elf64_Phdr), header.e_phoff)) return false;
    for (const Elf64_Phdr& each : segments_)
      if (each.p_type == PT_DYNAMIC) return read_entries(each);
    return true;
  }

  bool read_entries(const Elf64_Phdr& segment) {
    if (segment.p_filesz / sizeof(Elf64_Dyn) > dynamic_max) return false;
    std::vector<Elf64_Dyn> entries(segment.p_filesz / sizeof(Elf64_Dyn));
    if (!entries.empty() && !read(entries.data(), entries.size() * sizeof(Elf64_Dyn), segment.p_offset)) return false;
    std::optional<std::uint64_t> texts;
    for (const Elf64_Dyn& each : entries) {
      if (each.d_tag == DT_NULL) break;
      if (each.d_tag == DT_STRTAB) texts = place_of(each.d_un.d_ptr);
    }
    std::optional<std::string> runpath, rpath;
    for (const Elf64_Dyn& each : entries) {
      if (each.d_tag == DT_NULL) break;
      if (each.d_tag != DT_NEEDED && each.d_tag != DT_SONAME && each.d_tag != DT_RUNPATH && each.d_tag != DT_RPATH)
        continue;
      const auto text = texts ? word(*texts + each.d_un.d_val) : std::nullopt;
      if (!text || view_.needed.size() >= needed_max) return false;
      if (each.d_tag == DT_NEEDED) view_.needed.push_back(*text);
      if (each.d_tag == DT_SONAME) view_.soname = *text;
      if (each.d_tag == DT_RUNPATH) runpath = text;
      if (each.d_tag == DT_RPATH) rpath = text;
    }
    view_.is_rpath = !runpath && rpath;
    if (runpath || rpath) split(runpath ? *runpath : *rpath);
    return true;
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
