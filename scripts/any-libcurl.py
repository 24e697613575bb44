#!/usr/bin/env python3
"""Lets programs that were linked on Debian run with any distribution's libcurl, in place.

    scripts/any-libcurl.py PROGRAM…

Debian's libcurl gives its symbols a version, `CURL_OPENSSL_4`; so do Arch's and Nix's, but Fedora's, Gentoo's and
Homebrew's do not. A program that asks for the version runs there, too, but each start prints "no version
information available". This takes that question out of the program, and changes nothing else: the dynamic
linker then takes each symbol of libcurl.so.4, with a version or without one.
"""

import struct
import sys

LIBRARY = b"libcurl.so.4"
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 0, 5, 0x6FFFFFFE, 0x6FFFFFFF
SHT_GNU_VERNEED, SHT_GNU_VERSYM = 0x6FFFFFFE, 0x6FFFFFFF
# What a symbol without a version has in its place.
GLOBAL = 1


class Program:
    """An ELF file for x86-64, which is changed in memory."""

    def __init__(self, path: str):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError("it is no ELF file of 64 bits, little-endian")
        offset, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        self.segments = [struct.unpack_from("<IIQQQQ", self.bytes, offset + size * i) for i in range(count)]
        # From each tag to where its value stands in the file.
        self.tags = {}
        for kind, _, start, _, _, _ in self.segments:
            if kind == PT_DYNAMIC:
                while (tag := struct.unpack_from("<q", self.bytes, start)[0]) != DT_NULL:
                    self.tags[tag] = start + 8
                    start += 16

    def value(self, tag: int) -> int:
        return struct.unpack_from("<Q", self.bytes, self.tags[tag])[0]

    def place(self, address: int) -> int:
        """Where in the file stands what is loaded to this address."""
        for kind, _, offset, start, _, size in self.segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError(f"nothing is loaded to address {address:#x}")

    def section(self, wanted: int) -> tuple[int, range]:
        """Where the header of the section of this kind stands in the file, and where its content."""
        offset, = struct.unpack_from("<Q", self.bytes, 40)
        size, count = struct.unpack_from("<HH", self.bytes, 58)
        for header in range(offset, offset + size * count, size):
            _, kind, _, _, start, length = struct.unpack_from("<IIQQQQ", self.bytes, header)
            if kind == wanted:
                return header, range(start, start + length)
        raise ValueError(f"it has no section of the kind {wanted:#x}")

    def forget(self, library: bytes) -> bool:
        """Asks for no version of the library any more; says whether the program did."""
        names, where = self.place(self.value(DT_STRTAB)), self.place(self.value(DT_VERNEED))
        count, before = self.value(DT_VERNEEDNUM), None
        for _ in range(count):
            _, wanted, file, first, further = struct.unpack_from("<HHIII", self.bytes, where)
            start = names + file
            if self.bytes[start:self.bytes.index(0, start)] == library:
                break
            before, where = where, where + further
        else:
            return False
        numbers, entry = set(), where + first
        for _ in range(wanted):
            number, _, following = struct.unpack_from("<HII", self.bytes, entry + 6)
            numbers.add(number)
            entry += following
        for offset in self.section(SHT_GNU_VERSYM)[1][::2]:
            number, = struct.unpack_from("<H", self.bytes, offset)
            if number & 0x7FFF in numbers:
                struct.pack_into("<H", self.bytes, offset, GLOBAL)
        if further:
            # The one after takes its place; what that says is relative to where it stands.
            version, wanted, file, first, next_one = struct.unpack_from("<HHIII", self.bytes, where + further)
            struct.pack_into(
                "<HHIII", self.bytes, where, version, wanted, file, first + further,
                next_one + further if next_one else 0)
        elif before is not None:
            struct.pack_into("<I", self.bytes, before + 12, 0)
        else:
            raise ValueError("it asks for versions of libcurl alone")
        struct.pack_into("<Q", self.bytes, self.tags[DT_VERNEEDNUM], count - 1)
        # The section says it once more, for tools.
        struct.pack_into("<I", self.bytes, self.section(SHT_GNU_VERNEED)[0] + 44, count - 1)
        return True


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 64
    for path in sys.argv[1:]:
        try:
            program = Program(path)
            if program.forget(LIBRARY):
                # In place: its mode stays.
                with open(path, "r+b") as file:
                    file.write(program.bytes)
        except (OSError, ValueError, KeyError, struct.error) as error:
            print(f"error: {path} stays as it is: {error}", file=sys.stderr)
            return 65
    return 0


if __name__ == "__main__":
    sys.exit(main())
