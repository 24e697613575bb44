#!/usr/bin/env python3
"""Checks the pages for readers: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

    scripts/pages.py    says what is wrong; exit code 1 if anything is

- A relative link leads to a file that is there, and its anchor to a heading of that file.
- In docs/ no line has more than 110 columns, outside tables and code. reliability.md is all table.
- README.md has at most 220 lines.
- A page of docs/ that code, help or scripts name is there.
- What docs/design/ and the glossary call by the name of a type, in backticks, is in Sources or Tests.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, README_LINES = 110, 220
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
NAME = re.compile(r"`([A-Z][a-z]+[A-Z]\w+)`")
# Names in backticks that are words of others, or of what is still planned.
FOREIGN = {"AddEncoding", "SeggetQueue"}


def pages() -> list[pathlib.Path]:
    """The pages that git knows, or would."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.md"], cwd=ROOT,
        capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def prose(text: str) -> list[tuple[int, str]]:
    """The lines outside code, with their numbers."""
    lines, is_code = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("    "):
            lines.append((number, line))
    return lines


def anchors(page: pathlib.Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for _, line in prose(page.read_text()):
        if match := re.match(r"#+ (.*)", line):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
            base = re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-")
            name, count = base, 0
            while name in found:
                count += 1
                name = f"{base}-{count}"
            found.add(name)
    return found


def broken_links(page: pathlib.Path) -> list[str]:
    """What the links of a page do not lead to."""
    problems = []
    for number, line in prose(page.read_text()):
        for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            link = match[1] or match[2]
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                problems.append(f"line {number} links to `{link}`, which is not there")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                problems.append(f"line {number} links to `{link}`, which is no heading there")
    return problems


def named_in_code() -> list[str]:
    """Pages that are named elsewhere, and are not there."""
    done = subprocess.run(
        ["git", "grep", "-noE", r"docs/[a-z/-]+\.(md|svg)", "--", "Sources", "Tests", "Fuzz", "scripts",
         "share", "bench/*.py", "Makefile", "Package.swift", ".ci"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    rows = [line.split(":", 2) for line in done.stdout.splitlines()]
    return [f"{path}, line {line}, names {page}, which is not there"
            for path, line, page in rows if not (ROOT / page).exists()]


def main() -> int:
    problems = named_in_code()
    code = "\n".join(
        path.read_text() for folder in ("Sources", "Tests", "Fuzz")
        for path in (ROOT / folder).rglob("*.swift") if ".build" not in path.parts)
    words = set(re.findall(r"\w+", code))
    for path in (ROOT / "Sources").rglob("*"):
        words |= {path.stem, *path.stem.split("+")}
    for page in pages():
        name, text = page.relative_to(ROOT), page.read_text()
        found = broken_links(page)
        if name.parts[0] == "docs" and name.name != "reliability.md":
            found += [
                f"line {number} has {len(line)} columns; {COLUMNS} is the limit"
                for number, line in prose(text) if len(line) > COLUMNS and not line.startswith("|")]
        if name.parts[:2] == ("docs", "design") or name.name in ("design.md", "glossary.md"):
            found += [
                f"names `{word}`, which is not in the code"
                for word in sorted(set(NAME.findall(text))) if word not in words | FOREIGN]
        if str(name) == "README.md" and text.count("\n") > README_LINES:
            found.append(f"has {text.count(chr(10))} lines; {README_LINES} is the limit")
        problems += [f"{name}: {problem}" for problem in found]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
