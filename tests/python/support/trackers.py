"""Files of trackers, written from their formats' documents: TensorBoard's event files; MLflow's database by SQLite itself."""

import sqlite3
import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def event(time, step, tag, value):
    """A record of an event file with one simple_value."""
    summary = field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
    data = b"\x09" + struct.pack("<d", time) + b"\x10" + varint(step) + field(5, summary)
    head = struct.pack("<Q", len(data))
    return head + masked(head) + data + masked(data)


def mlflow_database(path, runs, rows):
    """`runs`: [(id, name)]; `rows`: [(run, key, value, milliseconds, step, is_nan)]. The connection is open."""
    database = sqlite3.connect(path)
    database.execute("create table runs (run_uuid varchar(32) not null, name varchar(250), status varchar(9), "
                     "start_time bigint, end_time bigint, lifecycle_stage varchar(20), constraint run_pk primary key (run_uuid))")  # fmt: skip
    database.execute("create table metrics (key varchar(250) not null, value float not null, timestamp bigint not null, "
                     "run_uuid varchar(32) not null, step bigint default '0' not null, is_nan boolean not null, "
                     "constraint metric_pk primary key (key, timestamp, step, run_uuid, value, is_nan), check (is_nan in (0, 1)))")  # fmt: skip
    database.execute("create table params (key varchar(250) not null, value varchar(8000) not null, run_uuid varchar(32))")
    database.executemany("insert into runs values (?,?,'FINISHED',1000,2000,'active')", runs)
    add_rows(database, rows)
    return database


def add_rows(database, rows):
    database.executemany(
        "insert into metrics (run_uuid, key, value, timestamp, step, is_nan) values (?,?,?,?,?,?)", rows)  # fmt: skip
    database.commit()
