"""A reader of TFRecord files and of tf.train.Example, written from their descriptions: it checks every masked CRC-32C."""

import gzip
import pathlib
import struct

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    data = pathlib.Path(path).read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    while data:
        (length,), (crc,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        assert masked_crc(data[:8]) == crc, "the CRC of a length"
        record, data = data[12 : 12 + length], data[12 + length :]
        assert len(record) == length and masked_crc(record) == struct.unpack("<I", data[:4])[0], "the CRC of a record"
        data = data[4:]
        yield record


def fields(message):
    """(number, value) of each field: an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        assert key & 7 in (0, 2), key
        value = varint()
        if key & 7 == 2:
            assert at + value <= len(message)
            value, at = message[at : at + value], at + value
        yield key >> 3, value


def example(record):
    """{name: bytes, or a tuple of floats} of a tf.train.Example, in its order."""
    result = {}
    for _, features in fields(record):
        for _, entry in fields(features):
            entry = dict(fields(entry))
            ((kind, values),) = fields(entry[2])
            ((_, value),) = fields(values)
            result[entry[1].decode()] = value if kind == 1 else struct.unpack(f"<{len(value) // 4}f", value)
    return result
