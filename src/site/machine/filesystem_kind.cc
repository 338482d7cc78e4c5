#include "machine/filesystem_kind.h"

namespace sabath {

FilesystemKind filesystem_kind(unsigned long type) noexcept {
  switch (type & 0xFFFF'FFFFUL) {  // a signed int on some machines
    case 0x0BD00BD0UL:
      return {"Lustre", true, false, "purged on most systems: a copy that must last belongs elsewhere"};
    case 0x47504653UL:
      return {"GPFS", true, false, ""};
    case 0x00006969UL:
      return {"NFS", true, false, "slow with many small files; a parallel filesystem is better for a large store"};
    case 0x19830326UL:
      return {"BeeGFS", true, false, ""};
    case 0x00C36400UL:
      return {"Ceph", true, false, ""};
    case 0xAAD7AAEAUL:
      return {"PanFS", true, false, ""};
    case 0x20030528UL:
      return {"OrangeFS", true, false, ""};
    case 0xFF534D42UL:
    case 0xFE534D42UL:
      return {"SMB", true, false, "links and names may be changed by the server; prefer another place"};
    case 0x01021997UL:
      return {"9p", true, false, ""};
    case 0x65735546UL:
      return {"FUSE", true, false, "what it can do depends on the program behind it"};
    case 0x01021994UL:
    case 0x858458F6UL:
      return {"tmpfs", false, true, "it counts against the job's memory, and is gone after a reboot"};
    case 0x0000EF53UL:
      return {"ext4", false, false, ""};
    case 0x58465342UL:
      return {"XFS", false, false, ""};
    case 0x9123683EUL:
      return {"Btrfs", false, false, ""};
    case 0x2FC12FC1UL:
      return {"ZFS", false, false, ""};
    case 0x794C7630UL:
      return {"overlay", false, false,
              "a container's own layer is gone with the container: bind a directory for the store"};
    case 0x00004D44UL:
    case 0x2011BAB0UL:
      return {"FAT", false, false, "no links and no modes: views are copies"};
    case 0xCA451A4EUL:
      return {"bcachefs", false, false, ""};
    default:
      return {};
  }
}

}  // namespace sabath
