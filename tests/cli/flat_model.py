"""Writes small .tflite models: a flatbuffer of the tables that a test needs.

A table is a dict from field id to value. Values: int (4 bytes), Byte, str, bytes, a list of int (32 bits), of str-free
dicts (tables), or a dict. Field ids are those of frontends/tflite/schema.fbs.
"""

import struct


class Byte(int):
    """An int of one byte: an enumeration or bool."""


class _Writer:
    def __init__(self):
        self.data = bytearray()

    def align(self, size, ahead=0):
        self.data += b"\0" * (-(len(self.data) + ahead) % size)

    def put(self, value):
        """Appends a string, vector or table; gives its place. Offsets in flatbuffers point forward, so children follow."""
        if isinstance(value, dict):
            return self.put_table(value)
        if isinstance(value, str):
            value = value.encode()
            self.align(4)
            at = len(self.data)
            self.data += struct.pack("<I", len(value)) + value + b"\0"
            return at
        self.align(16, ahead=4)
        at = len(self.data)
        self.data += struct.pack("<I", len(value))
        if isinstance(value, bytes):
            self.data += value
        elif not value or isinstance(value[0], int):
            self.data += struct.pack(f"<{len(value)}i", *value)
        else:
            slots = len(self.data)
            self.data += bytes(4 * len(value))
            for k, child in enumerate(value):
                self.point(slots + 4 * k, child)
        return at

    def put_table(self, fields):
        count = max(fields, default=-1) + 1
        self.align(4)
        vtable = len(self.data)
        vtable_bytes = 4 + 2 * count
        padded = vtable_bytes + -vtable_bytes % 4
        order = sorted(fields)
        offsets = [0] * count
        for k, field in enumerate(order):
            offsets[field] = 4 + 4 * k
        self.data += struct.pack(f"<HH{count}H", vtable_bytes, 4 + 4 * len(order), *offsets)
        self.align(4)
        table = vtable + padded
        self.data += struct.pack("<i", padded) + bytes(4 * len(order))
        for k, field in enumerate(order):
            at, value = table + 4 + 4 * k, fields[field]
            if isinstance(value, int):
                self.data[at:at + 4] = struct.pack("<i", int(value))
            else:
                self.point(at, value)
        return table

    def point(self, at, child):
        target = self.put(child)
        self.data[at:at + 4] = struct.pack("<I", target - at)


def write(model):
    writer = _Writer()
    writer.data += struct.pack("<I", 0) + b"TFL3"
    root = writer.put_table(model)
    writer.data[0:4] = struct.pack("<I", root)
    return bytes(writer.data)


def tensor(name, shape, signature=None, type_code=0):
    fields = {0: shape, 1: Byte(type_code), 3: name}
    if signature is not None:
        fields[7] = signature
    return fields


def elementwise(functions, shape, signature=None):
    """Models of one operator on x: `functions` maps signature names to builtin codes, or names of custom operators."""
    codes, subgraphs, signatures = [], [], []
    for k, (name, code) in enumerate(functions.items()):
        codes.append({0: Byte(32), 1: code} if isinstance(code, str) else {0: Byte(code), 3: code})
        subgraphs.append({
            0: [tensor("x", shape, signature), tensor("y", shape, signature)],
            1: [0],
            2: [1],
            3: [{0: k, 1: [0], 2: [1]}],
        })
        signatures.append({0: [{0: "in", 1: 0}], 1: [{0: "out", 1: 1}], 2: name, 4: k})
    return write({0: 3, 1: codes, 2: subgraphs, 4: [{}], 7: signatures})


def chain(codes, shape, first="x"):
    """A model of one-operand operators after each other, all of one shape: x (or `first`), t1, ..., y."""
    names = [first] + [f"t{k + 1}" for k in range(len(codes) - 1)] + ["y"]
    subgraph = {
        0: [tensor(name, shape) for name in names],
        1: [0],
        2: [len(codes)],
        3: [{0: k, 1: [k], 2: [k + 1]} for k in range(len(codes))],
    }
    return write({0: 3, 1: [{0: Byte(code), 3: code} for code in codes], 2: [subgraph], 4: [{}]})


def head(picture, shape, code=59):
    """Takes a picture, which nothing reads, and y = -x of `shape`."""
    subgraph = {
        0: [tensor("picture", picture), tensor("x", shape), tensor("y", shape)],
        1: [0, 1],
        2: [2],
        3: [{0: 0, 1: [1], 2: [2]}],
    }
    return write({0: 3, 1: [{0: Byte(code), 3: code}], 2: [subgraph], 4: [{}]})


def cast(type_code, shape):
    """x of this TensorType as floats y."""
    subgraph = {
        0: [tensor("x", shape, type_code=type_code), tensor("y", shape)],
        1: [0],
        2: [1],
        3: [{0: 0, 1: [0], 2: [1]}],
    }
    return write({0: 3, 1: [{0: Byte(53), 3: 53}], 2: [subgraph], 4: [{}]})


def place_of(content, *path):
    """Where the numbers of a vector begin: `path` has the ids of fields from the root on, and indices where one is a vector
    of tables. (2, 0, 2) of a model: the outputs of its first subgraph."""
    at = struct.unpack_from("<I", content, 0)[0]
    for depth, step in enumerate(path):
        if depth % 2 == 0:
            slots = at - struct.unpack_from("<i", content, at)[0]
            at += struct.unpack_from("<H", content, slots + 4 + 2 * step)[0]
            at += struct.unpack_from("<I", content, at)[0] + 4
        else:
            at += 4 * step
            at += struct.unpack_from("<I", content, at)[0]
    return at
