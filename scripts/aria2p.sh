#!/usr/bin/env bash
# Runs aria2p's own tests, those that need neither BitTorrent nor Metalink, with segget in aria2c's place:
# `scripts/aria2p.sh [SEGGET]`. An expected failure counts as one: the tests call `pytest.xfail` where something failed.
# They do so, too, where a server that was just started does not answer at once, "a sporadic error": what has failed is
# tried once more, by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
segget=$(realpath "${1:-.build/release/segget}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
pip=("$folder/venv/bin/pip" -q --disable-pip-version-check)
"${pip[@]}" download --no-binary :all: --no-deps aria2p==0.12.3 -d "$folder"
tar -xf "$folder"/aria2p-*.tar.gz -C "$folder"
"${pip[@]}" install "$folder"/aria2p-*/ pytest pytest-xdist fastapi uvicorn psutil responses griffe \
    mkdocstrings asciimatics pyperclip websocket-client
mkdir "$folder/path"
printf '#!/bin/sh\nexec -a "%s/aria2c" "%s" "$@"\n' "$folder/path" "$segget" >"$folder/path/aria2c"
sed -i '1s,sh$,bash,' "$folder/path/aria2c"
chmod +x "$folder/path/aria2c"
cd "$folder"/aria2p-*/
without="magnet torrent metalink test_add_uri_method test_add_downloads horizontal_scrolling select_sort"
without+=" test_mouse_event follow_focused"
run() {
    PATH="$folder/path:$PATH" timeout 600 "$folder/venv/bin/python" -m pytest -q -rfExX "$@" | tee "$folder/log"
}
run -n 4 -k "not ${without// / and not }" tests
mapfile -t failed < <(sed -nE 's/^(XFAIL|XPASS) (tests[^ ]+).*/\2/p' "$folder/log")
[ ${#failed[@]} -gt 0 ] || exit 0
run -n 0 "${failed[@]}"
! grep -qE '^(XFAIL|XPASS)|xfailed' "$folder/log"
