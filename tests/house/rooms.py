"""The rooms of the folders of src: which other rooms of its folder each may include. tests/house/check_layers.py."""

ROOMS = {
    "store/disk": set(),
    "store/leases": {"store/disk"},
    "store/hints": {"store/disk", "store/leases"},
    "store/objects": {"store/disk", "store/leases", "store/hints"},
    "store/packs": {"store/disk", "store/hints", "store/objects"},
    "store/partials": {"store/disk", "store/objects", "store/packs"},
    "store": {"store/disk", "store/leases", "store/objects", "store/packs", "store/partials"},
    "store/views": {"store/disk", "store/objects", "store"},
    "store/space": {"store/disk", "store/leases", "store/packs", "store"},
    "store/collect": {"store/disk", "store/leases", "store/objects", "store", "store/views", "store/space"},
    "store/verify": {"store/disk", "store/leases", "store/hints", "store/partials", "store", "store/collect"},
    "fetch/decide": set(),
    "fetch/hosts": {"fetch/decide"},
    "fetch/transfer": {"fetch/decide", "fetch/hosts"},
    "fetch/remote_tar": {"fetch/decide", "fetch/hosts", "fetch/transfer"},
    "fetch/archives": {"fetch/decide", "fetch/hosts", "fetch/transfer", "fetch/remote_tar"},
    "fetch/ranks": {"fetch/decide", "fetch/hosts", "fetch/transfer"},
    "fetch/git": {"fetch/decide", "fetch/hosts", "fetch/transfer", "fetch/ranks"},
    "fetch": {"fetch/decide", "fetch/hosts", "fetch/transfer", "fetch/remote_tar", "fetch/archives", "fetch/ranks",
              "fetch/git"},
    "mpi/plugin": set(),
    "mpi": {"mpi/plugin"},
    "formats": set(),
    "formats/inspect": {"formats"},
    "base/sha256": set(),
    "base": {"base/sha256"},
    "base/machine": {"base"},
    "cli/frame": set(),
    "cli/show": {"cli/frame"},
    "cli": {"cli/frame", "cli/show"},
    "cli/told": {"cli/show", "cli"},
    "cli/commands": {"cli/frame", "cli/show", "cli", "cli/told"},
    "verbs": set(),
    "verbs/assets": {"verbs"},
    "verbs/care": {"verbs", "verbs/assets"},
    "verbs/catalogues": {"verbs"},
    "verbs/manifests": {"verbs", "verbs/assets", "verbs/care"},
    "verbs/runs": {"verbs"},
    "verbs/doctor": {"verbs", "verbs/assets"},
    "verbs/site": {"verbs"},
    "stage/plan": set(),
    "stage/node": {"stage/plan"},
    "stage": {"stage/plan", "stage/node"},
    "stage/simulation": {"stage/plan", "stage/node", "stage"},
}

# The families of the commands, which do not know each other.
ROOMS.update({f"cli/commands/{family}": ROOMS["cli/commands"] for family in ("assets", "care", "catalogues", "manifests", "runs")})

# What these decide rests on what they are given: no file, no thread, no clock.
PURE = {"src/fetch/decide", "src/stage/plan"}
