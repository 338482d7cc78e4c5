// Any bytes are refused as an array's header, or give a size that does not overflow, and a header of the same meaning.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "expected.h"
#include "formats/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  expect_damage_or([&] {
    const sabath::Npy array = sabath::parse_npy_header(bytes, "fuzz.npy");
    check(array.data_offset <= size);
    std::uint64_t elements = 1;
    bool empty = false;
    for (const std::uint64_t extent : array.shape) empty |= extent == 0;
    for (const std::uint64_t extent : array.shape) check(empty || !__builtin_mul_overflow(elements, extent, &elements));
    check(array.elements == (empty ? 0 : elements) && array.data_bytes == array.elements * array.element_bytes);
    if (array.objects || array.fortran_order || array.descr.find_first_of("[('\\") != std::string::npos) return;
    const sabath::Npy again = sabath::parse_npy_header(sabath::npy_header(array.descr, array.shape), "again.npy");
    check(again.shape == array.shape && again.descr == array.descr && again.data_bytes == array.data_bytes);
    check(again.data_offset % 64 == 0);
    if (size % 8 == 0) static_cast<void>(sabath::as_floats(array.descr, bytes.substr(0, array.element_bytes), "fuzz"));
  });
  return 0;
}
