#!/usr/bin/env python3
"""Finds the idioms that docs/style.md replaces, in comments and pages.

    scripts/words.py          the checked paths; prints each idiom with its place, exit code 1 if there is one
    scripts/words.py PATH...  the same for other files or folders

Comments of .swift, .c, .h, .js, .py and .sh files, and all lines of .md files outside code.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKED = """
    docs README.md CONTRIBUTING.md
    Sources/Assembler Sources/SeggetAria2 Sources/SeggetFormats Sources/SeggetReports Sources/SeggetCommand
    Sources/SeggetService Sources/segget-manager Sources/Segmenter Sources/SegmenterRules
    Sources/SegmenterTransport Sources/SegmenterURLs Sources/SegmenterValues
""".split()
# The page that shows what not to write.
SPARED = {"docs/style.md"}
BANNED = re.compile(
    r"\b(whoever|is told|are told|tells of|told of|says of itself|goes on|go on with|gone on with|brings?|brought"
    r"|stands (?:in|at|there|for)|stand there|lets go|let go of|has come|have come|takes? the place of"
    r"|took the place|under way|for ever|nobody|somebody else's|is sought|in its turn|and the like|has an end"
    r"|is said|are said|it says so|says so|now and then|all the same|is worked|works the queue)\b", re.IGNORECASE)
OPENING = re.compile(r"^(What|Who|Whoever|Where nobody|Of that|Of those|Those that|By that|So that)\b(?!.*\?)")
COMMENT = re.compile(r"^\s*(?:///?|\*|#(?!!|include|if|endif|else|define|available|expect|require)|//)\s*(.*)")
SUFFIXES = {".swift", ".c", ".h", ".js", ".py", ".sh", ".md"}


def texts(path: pathlib.Path):
    """The comments of a file, or the prose of a page, with line numbers."""
    is_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if path.suffix == ".md":
            if line.lstrip().startswith("```"):
                is_code = not is_code
            elif not is_code:
                yield number, re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", "", line)
        elif match := COMMENT.match(line):
            yield number, match[1]


def main() -> int:
    found = 0
    for name in sys.argv[1:] or CHECKED:
        path = ROOT / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix not in SUFFIXES or not file.is_file() or str(file.relative_to(ROOT)) in SPARED:
                continue
            for number, text in texts(file):
                # Pages may ask questions and have tables of them.
                opening = OPENING.match(text) if file.suffix != ".md" else None
                for match in ([opening] if opening else []) + list(BANNED.finditer(text)):
                    print(f"{file.relative_to(ROOT)}:{number}: “{match[0]}”: docs/style.md has a plainer word")
                    found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
