#!/usr/bin/env bash
# The rules of this repository that no compiler checks; part of `make lint`.
set -euo pipefail
cd "$(dirname "$0")/.."

failures=0
fail() {
    echo "error: $1" >&2
    failures=$((failures + 1))
}

# What is built, or resolved anew on each machine, is not kept.
while IFS= read -r path; do
    fail "$path is tracked by git, and should not be"
done < <(git ls-files -- '.build*' Package.resolved '*.part' '*.segget')

# Rules have no clock, no file and no socket to import, and wait for nothing; SwiftPM refuses imports of what is above.
imports='^ *(@[^ ]+ )*((public|package|internal) )?import '
git grep -nE "$imports(Glibc|Foundation|CLinux|CCurl|Synchronization)$" -- Sources/SegmenterRules &&
    fail "these rules import more than \`log2\` and \`Data\`"
git grep -nwE 'async|await|Task' -- Sources/SegmenterRules Sources/SeggetQueue/Rules \
    Sources/Segmenter/Download/{Attempts,DownloadMachine,LossCheck,NetworkLoss,Plan}.swift |
    grep -vE ':[0-9]+: *//' && fail "these rules wait"

# libcurl is for transfers, URLs and dates.
git grep -nE "${imports}CCurl$" -- Sources ':!Sources/SegmenterTransport' ':!Sources/SegmenterURLs' &&
    fail "these files import libcurl"

# Full Foundation slows every start, and so is only for what \`segget\` is not linked with.
git grep -nE "${imports}Foundation$" -- Sources ':!Sources/SeggetQueue' ':!Sources/SeggetService' \
    ':!Sources/segget-manager' && fail "these files import all of Foundation"

# The guide's table of exit codes says what the program says.
expected=$(awk '
    /case [a-zA-Z]+ = [0-9]+$/ { code[$2] = $4; order[++count] = $2 }
    /case \.[a-zA-Z]+: "/ {
        name = $2; gsub(/[.:]/, "", name)
        text = $0; sub(/^[^"]*"/, "", text); sub(/"$/, "", text)
        meaning[name] = text
    }
    END { for (i = 1; i <= count; i++) print "| " code[order[i]] " | " meaning[order[i]] " |" }
' Sources/SeggetReports/Words/ExitStatus.swift)
[ "$expected" = "$(grep -E '^\| [0-9]+ \| [^|]+ \|$' docs/guide/exit-codes.md)" ] ||
    fail "the exit codes in docs/guide/exit-codes.md are not those of ExitStatus.swift; they should be:"$'\n'"$expected"

# The least libcurl that the README claims is the one that CCurl refuses to do without.
least=$(grep -oE 'needs libcurl [0-9.]+' Sources/CCurl/shim.h)
grep -qF "${least/libcurl /libcurl (} or later)" README.md ||
    fail "README.md claims another libcurl than Sources/CCurl/shim.h, which $least"

# Every test that docs/reliability.md names, as Suite.function, is one that exists.
while IFS=. read -r suite function; do
    files=$(git grep -lE "(struct|class|enum|extension) $suite\b" -- Tests || true)
    [ -n "$files" ] && grep -qE "func $function\b" $files ||
        fail "docs/reliability.md names $suite.$function, which no file in Tests has"
done < <(grep '^|' docs/reliability.md | grep -oE '`[A-Z][A-Za-z0-9]+Tests\.[a-zA-Z0-9]+`' | tr -d '\`' | sort -u)

# In the pages for readers, links lead somewhere, and lines fit; the rules are in .rumdl.toml.
.build/servers/bin/rumdl check --no-cache --quiet . >&2 || fail "these pages are to be mended"

# The README is short.
[ "$(wc -l <README.md)" -le 220 ] || fail "README.md has more than 220 lines"

# Every page that code, help or scripts name is there.
while IFS=: read -r path line page; do
    [ -e "$page" ] || fail "$path, line $line, names $page, which is not there"
done < <(git grep --untracked -noE 'docs/[a-z/-]+\.(md|svg)' -- Sources Tests Fuzz scripts share 'bench/*.py' Makefile \
    Package.swift .ci)

# What docs/design/ and the glossary call by the name of a type, in backticks, is in the code.
while IFS= read -r name; do
    fail "docs/design, design.md or glossary.md names \`$name\`, which is not in the code"
done < <(comm -13 \
    <({ git grep --untracked -hoE '\w+' -- 'Sources/*.swift' 'Tests/*.swift' 'Fuzz/*.swift'
        git ls-files -co --exclude-standard -- Sources | tr '/.+' '\n'; } | sort -u) \
    <(git grep --untracked -hoE '`[A-Z][a-z]+[A-Z]\w+`' -- docs/design docs/design.md docs/glossary.md | tr -d '`' | sort -u))

# Comments and pages use plain words.
scripts/words.py || fail "these words are to be replaced"

# What mutants take out is there.
python3 scripts/mutants.py --list >/dev/null || fail "these mutants are to follow the code"

for script in scripts/*.sh .ci/run; do
    bash -n "$script" || fail "$script is not valid bash"
done
for script in scripts/*.py; do
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$script" ||
        fail "$script is not valid Python"
done

[ "$failures" -eq 0 ]
