"""Reads TFRecord of tf.Example, by the published formats and with no code of
Shoal's: framing with its checksums, and protobuf's wire format."""

import struct


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def payloads(data):
    """The records of a file's bytes; every checksum has to hold."""
    at = 0
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked_crc(data[at:at + 8]), f"length at {at}"
        payload = data[at + 12:at + 12 + length]
        assert len(payload) == length, f"cut at {at}"
        crc, = struct.unpack_from("<I", data, at + 12 + length)
        assert crc == masked_crc(payload), f"payload at {at}"
        yield payload
        at += 16 + length


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _fields(data):
    """(number, bytes) of a message that has none but delimited fields."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        assert tag & 7 == 2, f"wire type {tag & 7}"
        size, at = _varint(data, at)
        assert at + size <= len(data)
        yield tag >> 3, data[at:at + size]
        at += size


def example(payload):
    """{name: [numbers]} of a tf.Example whose lists are packed."""
    result = {}
    for number, features in _fields(payload):
        assert number == 1
        for number, entry in _fields(features):
            assert number == 1
            entry = dict(_fields(entry))
            (kind, numbers), = _fields(entry[2])
            (one, packed), = _fields(numbers)
            assert one == 1
            if kind == 2:
                values = list(struct.unpack(f"<{len(packed) // 4}f", packed))
            else:
                assert kind == 3
                values, at = [], 0
                while at < len(packed):
                    value, at = _varint(packed, at)
                    values.append(value)
            result[entry[1].decode()] = values
    return result


def float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def rows_of_libsvm(text):
    """[(label, ids, values as float32)]"""
    rows = []
    for line in text.splitlines():
        label, *features = line.split()
        pairs = [feature.split(":") for feature in features]
        rows.append((float(label), [int(i) for i, _ in pairs],
                     [float32(float(v)) for _, v in pairs]))
    return rows


def rows_of_tfrecord(data):
    rows = []
    for payload in payloads(data):
        features = example(payload)
        label, = features["label"]
        rows.append((label, features["ids"], features["values"]))
    return rows
