#!/usr/bin/env python3
"""Checks who knows whom: a module imports only those below it, and a room (a folder of Sources/MODULE)
names only types of the rooms below it.

    scripts/rooms.py           says what breaks a rule; exit code 1 if anything does
    scripts/rooms.py --graph   says which room names which, and by how many types

Swift has no boundaries within a module, so the names of types are looked up in the code, without comments.
Between modules the compiler checks them: a rule about a whole folder of Segmenter is a module, if it can be.
The map, with the reasons, is in docs/design.md.
"""

import collections
import functools
import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "Sources"

# Which modules a module may import, beside what all may.
IMPORTS = {
    "Assembler": {"CDeflate", "CLinux", "CZlib", "Crypto"},
    "SegmenterURLs": {"CCurl", "CLinux"},
    "SegmenterValues": {"Assembler", "SegmenterURLs"},
    "SegmenterRules": {"RawStructuredFieldValues", "SegmenterValues"},
    "SegmenterTransport": {"CCurl", "CLinux", "SegmenterRules"},
    "Segmenter": {"Assembler", "SegmenterRules", "SegmenterTransport", "SegmenterValues"},
    "SeggetFormats": {"Assembler", "CLinux", "CZlib", "Segmenter"},
    "SeggetReports": {"Assembler", "SeggetFormats", "Segmenter", "SegmenterRules"},
    "SeggetAria2": {
        "Assembler", "CLinux", "SeggetFormats", "SeggetReports", "Segmenter"},
    "SeggetCommand": {
        "ArgumentParser", "Assembler", "CLinux", "CVersion", "SeggetAria2", "SeggetFormats", "SeggetReports",
        "Segmenter", "SegmenterRules", "SegmenterTransport"},
    # Full Foundation, which costs every start-up, is for those that `segget` is not linked with.
    "SeggetQueue": {
        "Assembler", "CLinux", "Foundation", "GRDB", "SeggetFormats", "SeggetReports", "Segmenter",
        "SegmenterRules"},
    "SeggetService": {
        "Assembler", "CLinux", "CPage", "Crypto", "Foundation", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket",
        "SeggetAria2", "SeggetFormats", "SeggetQueue", "SeggetReports", "Segmenter"},
    "segget": {"SeggetCommand"},
    "segget-manager": {
        "ArgumentParser", "Assembler", "CLinux", "Foundation", "SeggetAria2", "SeggetCommand", "SeggetFormats",
        "SeggetQueue", "SeggetReports", "SeggetService", "Segmenter"},
}
SYSTEM = {"FoundationEssentials", "Glibc", "Synchronization"}

# Which rooms a room may know beside itself.
KNOWS = {
    # Without cycles: each room stands above those that it knows.
    "Assembler": {
        "Ranges": set(),
        "Digests": set(),
        "Threads": set(),
        # What all of the rooms below fail with: it stands outside, and knows values only.
        "AssemblyError.swift": {"Digests", "Ranges"},
        "Files": {"AssemblyError.swift", "Digests", "Ranges", "Threads"},
        "Manifest": {"AssemblyError.swift", "Digests", "Files", "Ranges"},
        # Above all that brings bytes somewhere. Its writer knows the ring that a stream goes through,
        # because a protocol in between would cost the hot path a call for each buffer.
        "Output": {"AssemblyError.swift", "Digests", "Files", "Ranges"},
        "Part": {"AssemblyError.swift", "Digests", "Files", "Manifest", "Ranges", "Threads"},
        "Finished": {"AssemblyError.swift", "Digests", "Files", "Manifest", "Part", "Ranges"},
        "Publish": {
            "AssemblyError.swift", "Digests", "Files", "Finished", "Manifest", "Output", "Part"},
        "Assembly": {
            "AssemblyError.swift", "Digests", "Files", "Finished", "Manifest", "Output", "Part",
            "Publish", "Ranges", "Threads"},
        "Stream": {"AssemblyError.swift", "Digests", "Manifest", "Output", "Ranges", "Threads"},
        # Both begin from what a download wants of its file, which is `Assembly.Request`.
        "SmallFile": {
            "Assembly", "AssemblyError.swift", "Digests", "Files", "Finished", "Manifest", "Output",
            "Ranges", "Threads"},
        "Repair": {
            "Assembly", "AssemblyError.swift", "Digests", "Files", "Finished", "Manifest", "Part",
            "Ranges"},
        "Adoption": {
            "Assembly", "AssemblyError.swift", "Digests", "Files", "Manifest", "Part", "Ranges"},
    },
    "SegmenterRules": {
        "HTTP": set(),
        "RateLimit": set(),
        "Schedule": {"HTTP"},
        "Mirrors": {"HTTP"},
        "Naming": {"HTTP"},
        # What happens to one file, with the decisions of the others.
        "Fetch": {"HTTP", "Mirrors", "Schedule"},
    },
    "SegmenterTransport": {
        # What the kernel says of the network, to whoever waits for it.
        "Network": set(),
        # What is remembered of servers, by deciders of Schedule.
        "Servers": set(),
        # libcurl: it has clients, and knows none of them.
        "Transfer": {"Servers"},
        # Requests without a file.
        "Exchange": {"Servers", "Transfer"},
    },
    "Segmenter": {
        "Probe": set(),
        "Fetch": {"Probe"},
        "Download": {"API", "Fetch", "Probe"},
        "Batch": {"API", "Download", "Probe"},
        # Values of lists and previews, and the doors that know all.
        "API": {"Batch", "Download", "Probe"},
    },
}

KNOWS["SeggetQueue"] = {
    "Model": set(),
    # Pure: time is an argument.
    "Rules": {"Model"},
    "Store": {"Model"},
    "Worker": {"Model", "Rules", "Store"},
}
KNOWS["SeggetService"] = {
    "Remote": set(), "Socket": set(), "Page": set(), "API": {"Page", "Remote"}, "RPC": {"API", "Remote"},
    "HTTP": {"API", "Page", "RPC", "Remote", "Socket"}, "Access": {"HTTP"},
}

# The doors: nobody inside opens them.
DOORS = {"Segmenter": {"Download", "DownloadBatch", "DownloadSession"}}

# Rooms whose decisions are values: time is an argument there, and the world is somebody else's.
PURE = {
    "Assembler": {"Digests", "Ranges"},
    "SegmenterRules": {"Fetch", "HTTP", "Mirrors", "Naming", "RateLimit", "Schedule"},
    "SeggetQueue": {"Rules"},
}
# What decides or reads in a room that also does what was decided; these wait for nothing either.
PURE_FILES = {
    "Assembler": {
        "Adoption/Aria2ControlFile.swift", "Files/FileTarget.swift",
        "Finished/FinishedDecision.swift", "Manifest/Manifest.swift",
        "Manifest/Manifest.swift", "Manifest/Mirroring.swift", "Manifest/PartNames.swift",
        "Manifest/RemoteIdentity.swift", "Manifest/ResumeDecision.swift",
        "Part/PartWatch.swift",
        "Publish/Publishing+StartUp.swift", "Repair/RepairDecision.swift"},
    "Segmenter": {
        "Download/Attempts.swift", "Download/DownloadMachine.swift", "Download/LossCheck.swift",
        "Download/NetworkLoss.swift",
        "Download/Plan.swift", "Download/Plan.swift", "Download/Plan.swift"},
}
WORLD = re.compile(
    r"\b(?:monotonicSeconds|bootSeconds|threadSeconds|clock_gettime|gettimeofday|time|stat|fstat|lstat|socket|open|openat"
    r"|read|write|pread|pwrite|fopen|sleep|usleep)\("
    r"|\bsecondsSince1970\(\)"
    r"|\b(?:ContinuousClock|SuspendingClock|Task|TaskGroup|Thread|OwnedThread|Monitor|Mutex|FileManager)\b"
    r"|\b(?:Folder|PartialFile|Journal|JournalRewrite|StandingFile)\b")
WAITING = re.compile(r"\b(async|await)\b")

# What of Assembler pure rooms above it may name: its values.
VALUE_ROOMS = {"Digests", "Ranges"}
VALUE_TYPES = {
    "AssemblyError", "FinishedDecision", "FinishedDoubt", "FinishedFacts", "Manifest",
    "OutputWindow", "PartNames", "RemoteIdentity", "StartOverReason", "TimestampDecision"}

# What a room never sees of one that it knows: (module, room): types.
UNSEEN = {
    # How many requests a server serves is for those who make them.
    ("SegmenterTransport", "Transfer"): {"ServerBook", "ServerUser"},
}

# Modules whose rooms may know each other: they are there to be found in.
OPEN = {"SeggetAria2", "SeggetCommand", "SeggetReports"}

# What still breaks a rule, and is to be mended: (module, room, type).
PENDING = set()

IMPORT = re.compile(
    r"^(?:@\w+ )*(?:(?:public|package|internal|fileprivate|private) )?import (?:\w+ )?(\w+)",
    re.MULTILINE)
DECLARATION = re.compile(
    r"^(?:public |package |final |indirect )*(?:struct|class|enum|protocol|actor|typealias) (\w+)",
    re.MULTILINE)


@functools.cache
def code(path: pathlib.Path) -> str:
    """The file without comments and texts."""
    text = re.sub(r'"""(.*?)"""', '""', path.read_text(), flags=re.DOTALL)
    return "\n".join(
        re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0]) for line in text.splitlines())


def strangers(module: str) -> list[str]:
    """What a module imports, and may not."""
    found = []
    for path in sorted((SOURCES / module).rglob("*.swift")):
        where = path.relative_to(SOURCES)
        for name in IMPORT.findall(path.read_text()):
            if name not in IMPORTS[module] | SYSTEM:
                found.append(f"Sources/{where} imports {name}, which {module} may not know")
    return found


def homes_in(module: str) -> dict[str, str]:
    """In which room of a module its types are declared."""
    root = SOURCES / module
    return {
        match[1]: path.relative_to(root).parts[0] for path in sorted(root.rglob("*.swift"))
        for match in DECLARATION.finditer(code(path))}


def unnamed(module: str) -> list[str]:
    """Folders of which no file, or more than one, begins with what they do, and what they do not know."""
    found = []
    root = SOURCES / module
    for room in sorted({path.parent for path in root.rglob("*.swift")} - {root}):
        if room.parent != root:
            continue
        heads = [
            text for text in (path.read_text().split("\n\n")[0] for path in room.glob("*.swift"))
            if text.startswith(f"// {room.name}: ")]
        if len(heads) != 1:
            found.append(
                f"Sources/{module}/{room.name}: one file has to begin with \"// {room.name}: …\", "
                "what the folder does, and what it does not know")
    return found


def problems(module: str, graph: dict, excused: set) -> list[str]:
    root = SOURCES / module
    texts = {path: code(path) for path in sorted(root.rglob("*.swift"))}
    room_of = {path: path.relative_to(root).parts[0] for path in texts}
    homes = homes_in(module)
    below = homes_in("Assembler") if module.startswith("Segmenter") else {}
    rules, found = KNOWS[module], []
    for path, text in texts.items():
        room = room_of[path]
        where = path.relative_to(SOURCES.parent)
        if room not in rules:
            found.append(f"{where} is in no room that scripts/rooms.py knows")
            continue
        is_pure = room in PURE.get(module, ()) or str(path.relative_to(root)) in PURE_FILES.get(module, ())
        for name in sorted(set(re.findall(r"(?<!\.)\b[A-Z]\w+", text))):
            home = homes.get(name, room)
            if is_pure and name in below and name not in VALUE_TYPES and below[name] not in VALUE_ROOMS:
                found.append(f"{where} names {name} of Assembler, and is to be pure")
            if name in UNSEEN.get((module, room), ()):
                found.append(f"{where} names {name}, which {room}/ never sees")
            if home == room:
                continue
            graph[module, room, home].add(name)
            if home in rules[room] and name not in DOORS.get(module, ()):
                continue
            if (module, room, name) in PENDING:
                excused.add((module, room, name))
            else:
                found.append(f"{where} names {name} of {home}/, which {room}/ does not know")
        for match in WORLD.finditer(text) if is_pure else ():
            found.append(f"{where} says {match[0]}, and is to be pure")
        for match in WAITING.finditer(text) if is_pure else ():
            found.append(f"{where} says {match[0]}, and is to be pure")
    missing = PURE_FILES.get(module, set()) - {str(path.relative_to(root)) for path in texts}
    found += [f"scripts/rooms.py: {name} of {module} is gone" for name in sorted(missing)]
    return found


def main() -> int:
    graph: dict = collections.defaultdict(set)
    excused: set = set()
    modules = {path.name for path in SOURCES.iterdir() if any(path.rglob("*.swift"))}
    found = [
        f"Sources/{module} is no module that scripts/rooms.py knows"
        for module in sorted(modules - IMPORTS.keys())]
    found += [problem for module in IMPORTS for problem in strangers(module)]
    found += [problem for module in sorted({*KNOWS, *OPEN}) for problem in unnamed(module)]
    found += [problem for module in KNOWS for problem in problems(module, graph, excused)]
    found += [f"scripts/rooms.py excuses {entry}, which is mended" for entry in PENDING - excused]
    if "--graph" in sys.argv:
        for (module, room, home), names in sorted(graph.items()):
            print(f"{module}: {room} names {len(names)} of {home}: {', '.join(sorted(names))}")
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
