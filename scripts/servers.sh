#!/usr/bin/env bash
# Installs what tests run and Debian has not, or only in old versions, from PyPI: web servers; yt-dlp, which
# calls a downloader; what uses the page in a browser; rumdl, with which `make lint` checks pages. They are those of
# Tests/Servers/requirements.txt, and go into .build/servers.
#
#     scripts/servers.sh
#
# They are there: says nothing, needs no network and no rights. It takes python3-venv
# (scripts/packages.sh lint).
set -euo pipefail
cd "$(dirname "$0")/.."

list=Tests/Servers/requirements.txt
folder=.build/servers

mkdir -p .build
exec 9>.build/servers.lock
flock 9
# The list is copied last. A Python that is gone, or a folder that was moved, is found out, too.
if cmp -s "$list" "$folder/installed.txt" &&
    [ "$("$folder/bin/python" -c 'import sys, os; print(os.path.realpath(sys.prefix))' 2>/dev/null)" = \
        "$(realpath "$folder")" ]; then
    exit 0
fi
echo "installing: what $list names"
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --no-deps -r "$list"
cp "$list" "$folder/installed.txt"
