#!/usr/bin/env python3
"""Takes checks out of the code, one at a time, and expects a test to go red for each.

    scripts/mutants.py            all of them; takes an hour or more
    scripts/mutants.py -k WORD    those whose name has WORD in it
    scripts/mutants.py --list     their names, and where they are; 1 if one could not be tried

Each is an object in a list in Tests/Mutants/*.json: `name`, `file`, `find` (a text that is in the file
exactly once), `replace`, and `test` (what `swift test --filter` takes). The file must be as git knows
it, and is so again afterwards. Exit code 1: a mutant survived, or could not be tried.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SWIFT = os.environ.get("SWIFT", "swift")


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test(words: str) -> subprocess.CompletedProcess:
    """Runs the built tests with these names; what never ends is red too."""
    return run(
        "timeout", "-k", "10", "300", "env", "-u", "SEGGET_BINARY", SWIFT, "test", "--skip-build",
        "--no-parallel", "--filter", words)


def obstacle(mutant: dict) -> str | None:
    """Why it cannot be tried, if so."""
    path = ROOT / mutant["file"]
    if not path.exists():
        return f"there is no {mutant['file']}"
    count = path.read_text().count(mutant["find"])
    return None if count == 1 else f"its text is {count} times in {mutant['file']}, not once"


def attempt(mutant: dict) -> str:
    """`killed`, or what went wrong."""
    path = ROOT / mutant["file"]
    original = path.read_text()
    if problem := obstacle(mutant):
        return problem
    if run("git", "diff", "--quiet", "--", mutant["file"]).returncode != 0:
        return f"{mutant['file']} has changes that are not committed"
    try:
        path.write_text(original.replace(mutant["find"], mutant["replace"]))
        build = run(SWIFT, "build", "--build-tests")
        if build.returncode != 0:
            return "it does not compile:\n" + build.stdout[-2000:]
        return "SURVIVED" if test(mutant["test"]).returncode == 0 else "killed"
    finally:
        path.write_text(original)


def main() -> int:
    parser = argparse.ArgumentParser(description="Takes checks out, and expects red tests.")
    parser.add_argument("-k", default="", metavar="WORD", help="only those with this in their name")
    parser.add_argument("--list", action="store_true", help="only list them")
    options = parser.parse_args()
    mutants = [
        mutant
        for path in sorted((ROOT / "Tests/Mutants").glob("*.json"))
        for mutant in json.loads(path.read_text())
        if options.k in mutant["name"]
    ]
    if options.list:
        for mutant in mutants:
            print(f"{mutant['name']}: {mutant['file']}: {mutant['test']}")
        stale = [f"{mutant['name']}: {problem}" for mutant in mutants if (problem := obstacle(mutant))]
        print("\n".join(stale), end="\n" if stale else "", file=sys.stderr)
        return 1 if stale else 0
    # Red without a mutant proves nothing.
    run(SWIFT, "build", "--build-tests")
    failures = 0
    for words in sorted({mutant["test"] for mutant in mutants}):
        control = test(words)
        if control.returncode != 0 or "Test run with 0 tests" in control.stdout:
            failures += 1
            print(f"{words}: red, or no test, as the code is\n{control.stdout[-1000:]}", flush=True)
    if failures:
        return 1
    for mutant in mutants:
        started = time.monotonic()
        outcome = attempt(mutant)
        failures += outcome != "killed"
        print(f"{mutant['name']}: {outcome} ({time.monotonic() - started:.0f} s)", flush=True)
    run(SWIFT, "build", "--build-tests")
    print(f"{len(mutants) - failures} of {len(mutants)} killed")
    return 1 if failures or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
