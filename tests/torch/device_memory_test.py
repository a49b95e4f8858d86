# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that two processes share by handles, with a driver that is a table: which places are handed on, and which are refused."""

import base64

from with_torch import modules, torch

allocations = {0x1000: 512, 0x9000: 256}
opened_at = {b"O" * 64: 0x9000}


class Driver:
    @staticmethod
    def cuMemGetAddressRange_v2(base, size, address):
        for start, length in allocations.items():
            if start <= address.value < start + length:
                base._obj.value, size._obj.value = start, length
                return 0
        return 1


class Runtime:
    @staticmethod
    def cudaIpcGetMemHandle(handle, base):
        if base.value == 0x9000:
            return 1  # memory of others cannot be exported again
        modules.ctypes.memmove(handle, b"E" * 64, 64)
        return 0

    @staticmethod
    def cudaIpcOpenMemHandle(pointer, handle, flags):
        if bytes(handle) not in opened_at:
            return 1  # no process opens what it has exported itself
        pointer._obj.value = opened_at[bytes(handle)]
        return 0


class Tensor:
    def __init__(self, address, size):
        self.address, self.size = address, size

    def data_ptr(self):
        return self.address

    def numel(self):
        return self.size


def key(letter):
    return base64.b64encode(letter * 64).decode()


def refused(memory, place, size):
    try:
        memory.view(place, {"bytes": size})
    except modules.Declined:
        return True
    return False


memory = modules.DeviceMemory.__new__(modules.DeviceMemory)
memory.runtime, memory.driver, memory.opened, memory.exported = Runtime, Driver, {}, {}
memory.tensor_at = lambda address, spec: address

own = memory.export(Tensor(0x1040, 16))
assert own == {"handle": key(b"E"), "offset": 0x40}, own
assert memory.view(own, {"bytes": 16}) == 0x1040, "its own memory is found without being opened"
assert memory.view({"handle": key(b"O"), "offset": 8}, {"bytes": 248}) == 0x9008
assert memory.export(Tensor(0x9010, 4)) == {"handle": key(b"O"), "offset": 0x10}, "memory of others keeps its handle"
for handle, whole in ((b"E", 512), (b"O", 256)):
    assert not refused(memory, {"handle": key(handle), "offset": 0}, whole)
    assert refused(memory, {"handle": key(handle), "offset": 0}, whole + 1), "past the end"
    assert refused(memory, {"handle": key(handle), "offset": -1}, 1), "before the beginning"
assert memory.view(memory.export(Tensor(0, 0)), {"bytes": 0}) == 0, "a tensor without elements is nowhere"
