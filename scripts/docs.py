#!/usr/bin/env python3
"""Writes share/ and docs/options.md: the man pages and the shells' completions, from what the program says of itself.

    scripts/docs.py SEGGET            writes them
    scripts/docs.py SEGGET --check    fails when they are not what would be written

SEGGET is a built binary, with segget-manager beside it. The options, their texts and the exit codes come
from them; the rest of the man pages is in this file. `make docs` and `make check-docs` call it.
"""
import difflib
import json
import pathlib
import re
import subprocess
import sys
import textwrap

SHARE = pathlib.Path(__file__).resolve().parent.parent / "share"
# When the page was last looked through as a whole; a page must have a date.
DATE = "2025-07-01"

INTRO = """\
.B segget
downloads a file in segments over several connections into
.IR NAME .part.
The manifest
.IR NAME .segget
beside it records the received bytes, with a CRC-32 for each extent, and the version of the file that
they belong to. When the file is complete and verified, segget renames the part to
.IR NAME .
.PP
If segget is interrupted, the same command resumes: it downloads only what is missing or damaged.
segget checks each reply before it writes its first byte, so the file is one version of the server's
file, byte for byte, or there is none.
.PP
.B segget
.I URL
is short for
.B segget get
.IR URL .
Give options before or after the URL;
.B \\-\\-
ends the options.
"""

QUEUE_INTRO = """\
The queue is a list of downloads, called tasks, on the disk.
.B segget add
adds tasks, and
.B segget run
downloads them as
.B segget get
does. The other commands show and change tasks, whether a worker runs or not.
.PP
These commands are in a separate program,
.BR segget\\-manager ,
which segget starts. Options may be given before the command. For
.B add
and
.BR run ,
the configuration file and the environment apply as in
.BR segget (1);
the other commands read only
.B json
and
.B queue
from them.
"""

NAMES = """\
Without
.B \\-\\-output
segget uses the name that the server suggests
.RB ( Content\\-Disposition ,
RFC 6266), or else the last component of the URL's path, decoded. It makes one safe component of it:
it removes separators, control characters, marks that change the direction of writing, leading dots and
dashes, and trailing dots and spaces. It normalizes the name to Unicode's form C, and shortens it before
the extension, so that the suffixes of the part and the manifest fit. URLs may have characters beyond
ASCII in the path and in the host.
"""

ENVIRONMENT = """\
Each option has an environment variable:
.B SEGGET_
and the option's name in capitals, with underscores.
.B SEGGET_CONNECTIONS=16
is the same as
.BR "\\-\\-connections 16" .
The value of a flag is
.B true
or
.BR false .
A repeatable option takes one value a line. segget ignores empty variables, and other variables that
begin with
.BR SEGGET_ .
.PP
The command line overrides the environment, the environment overrides the configuration file, and the
file overrides the defaults. Values of repeatable options add up; those of the file come first. An option
also overrides options of a lower level that contradict it:
.B \\-\\-output
overrides a
.B directory
of the configuration file.
.B \\-\\-quiet=false
undoes a flag that is set elsewhere.
.TP
.B XDG_CONFIG_HOME
The folder that has the folder
.B segget
with the configuration file.
.TP
.B NO_COLOR
If set and not empty, messages have no colours.
.TP
.BR LC_ALL ", " LC_CTYPE ", " LANG
Decide whether segget prints characters beyond ASCII.
.TP
.B SEGGET_TASK_*
segget sets these for the commands of
.B \\-\\-on\\-complete
and
.BR \\-\\-on\\-error :
.B EVENT
.RB ( complete
or
.BR error ),
.B STATUS
(the exit code for this file),
.B URL
(without credentials and query),
.BR PATH ;
for a complete file
.BR SIZE ,
.B CRC32
and
.B CHECKSUM
(what was verified); for one that failed
.BR KIND ,
.B MESSAGE
and
.B KEPT
(bytes). The commands get no other variable that begins with
.BR SEGGET_ .
"""

FILES = """\
.TP
.I ~/.config/segget/config
The configuration file, in
.B $XDG_CONFIG_HOME
if that is set. A line is
.IR "name = value" ,
with the long name of an option and no dashes, or the name of a flag alone or with
.B true
or
.BR false .
.B #
begins a comment, at the start of a line or after a space. A value in double quotes keeps spaces and
.BR # ;
in it,
.B \\e\\(dq
and
.B \\e\\e
stand for a quote and a backslash. Without quotes,
.B ~/
at the start of a value is the home folder. An unknown name is an error; segget ignores options that the
command does not have. Use mode 600 if the file has secrets.
.TP
.I NAME.part
The received bytes, until the file is complete.
.TP
.I NAME.segget
The manifest: which bytes of the part have been received, and of which version. segget removes it when the
file is complete.
"""

SIGNALS = """\
.TP
.BR SIGINT ", " SIGTERM ", " SIGHUP
segget records the received bytes and ends; the same command resumes. A second signal ends the process at
once, as does SIGKILL; then the manifest has the bytes received until a tenth of a second before. segget
ignores SIGHUP if it was ignored at the start, as nohup(1) does.
"""

EXAMPLES = """\
.EX
segget https://example.com/big.iso
segget https://example.com/big.iso \\-o disk.iso \\-x 16 \\-\\-checksum sha\\-256:0332b5fc...
segget \\-\\-dry\\-run https://example.com/big.iso
segget \\-\\-auto\\-rename https://example.com/big.iso
segget \\-\\-on\\-complete \\(aqnotify\\-send "segget is done"\\(aq https://example.com/big.iso
segget probe https://example.com/big.iso
.EE
.PP
A configuration file:
.PP
.EX
# ~/.config/segget/config
connections = 16
directory = ~/Downloads
header = "Accept\\-Language: en"
auto\\-rename
.EE
"""


def run(binary, *arguments):
    # Neither the user's configuration nor the width of the terminal may show.
    environment = {"PATH": "/usr/bin:/bin", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        [binary, *arguments], check=True, capture_output=True, text=True, env=environment,
        stdin=subprocess.DEVNULL)
    return result.stdout


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = text.replace("~", "\\(ti").replace("^", "\\(ha").replace('"', "\\(dq")
    return text.replace("…", "...")


def prose(text):
    """Text with `code` in bold, as lines that no macro can begin."""
    text = re.sub(r"`([^`]*)`", "\x01\\1\x02", " ".join(text.split()))
    text = escape(text).replace("\x01", "\\fB").replace("\x02", "\\fR")
    # A line for each sentence, as man pages want it.
    lines = re.sub(r"([.;:?]) (?=[A-Z\\])", "\\1\n", text).split("\n")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in lines)


def term(argument):
    names = []
    for name in sorted(argument.get("names", []), key=lambda name: name["kind"] != "short"):
        dashes = "-" if name["kind"] == "short" else "--"
        names.append("\\fB" + escape(dashes + name["name"]) + "\\fR")
    text = ", ".join(names)
    if argument["kind"] == "option":
        text += " \\fI" + escape(argument["valueName"]) + "\\fR"
    return text


def option(argument):
    text = prose(argument.get("abstract", ""))
    values = argument.get("allValues") or argument.get("allValueStrings")
    facts = []
    if values and argument["kind"] == "option":
        facts.append("one of " + ", ".join(f"`{value}`" for value in values))
    if argument.get("defaultValue") and argument["kind"] == "option":
        facts.append(f"`{argument['defaultValue']}` by default")
    if argument["isRepeating"] and "repeat" not in argument.get("abstract", ""):
        facts.append("may be repeated")
    if facts:
        fact = "; ".join(facts)
        text += "\n" + prose(fact[0].upper() + fact[1:] + ".")
    if argument.get("discussion"):
        text += "\n" + prose(argument["discussion"])
    return f".TP\n{term(argument)}\n{text}\n"


def shown(command):
    arguments = [a for a in command.get("arguments", []) if a["shouldDisplay"]]
    return [a for a in arguments if a["kind"] != "positional"], [
        a for a in arguments if a["kind"] == "positional"]


def synopsis(command, is_default):
    _, positionals = shown(command)
    name = escape(command["commandName"])
    line = f".B segget \\fR[\\fB{name}\\fR]" if is_default else f".B segget {name}"
    for argument in positionals:
        name = "\\fI" + escape(argument["valueName"]) + "\\fR"
        name += "..." if argument["isRepeating"] else ""
        line += f" [{name}]" if argument["isOptional"] else f" {name}"
    return line + " \\fR[\\fIoptions\\fR]"


def groups(arguments):
    result = {}
    for argument in arguments:
        result.setdefault(argument.get("sectionTitle", ""), []).append(argument)
    return result


def commands_of(dump):
    return [c for c in dump["subcommands"] if c["shouldDisplay"] and c["commandName"] != "help"]


def queue_commands(binary, dump):
    """The names of the commands about the queue, which have a page of their own."""
    # Where there are none, there is no such topic.
    if "\nQUEUE:\n" not in run(binary, "help"):
        return set()
    names = {row.split()[0] for row in run(binary, "help", "queue").splitlines()[1:]}
    return names & {command["commandName"] for command in commands_of(dump)}


def sections(commands, default, told):
    """A section for each command. `told` has the groups of options that were described before, by title:
    where they are, in words, and what is in them."""
    page = []
    for command in commands:
        name = command["commandName"]
        page += [f".SH {'OPTIONS' if name == default else 'SEGGET ' + name.upper()}"]
        page += [prose(command.get("abstract", ""))]
        if name != default and command.get("discussion"):
            page += [prose(command["discussion"])]
        options, positionals = shown(command)
        for argument in positionals:
            name_ = "\\fI" + escape(argument["valueName"]) + "\\fR"
            page += [f".TP\n{name_}\n{prose(argument.get('abstract', ''))}"]
        same = {}
        for title, arguments in groups(options).items():
            where, others = told.get(title, ("", None))
            if title and others == arguments:
                same.setdefault(where, []).append(title)
                continue
            told.setdefault(title, (f"`segget {name}`", arguments))
            page += [f".SS {escape(title)}"] if title else []
            page += [option(argument).rstrip() for argument in arguments]
        for where, titles in same.items():
            page += [".PP", prose(
                "The options under " + " and ".join(f"`{title}`" for title in titles)
                + f" are those of {where}.")]
    return page


def queue_man(binary):
    """The page about the queue; `None` where there are no commands about it."""
    dump = json.loads(run(binary, "--experimental-dump-help"))["command"]
    version = run(binary, "--version").split()[1]
    names = queue_commands(binary, dump)
    if not names:
        return None
    default = dump["defaultSubcommand"]
    first = next(c for c in commands_of(dump) if c["commandName"] == default)
    told = {
        title: (f"`segget {default}`, in segget(1)", arguments)
        for title, arguments in groups(shown(first)[0]).items()}
    commands = [c for c in commands_of(dump) if c["commandName"] in names]
    page = [
        f'.TH SEGGET\\-QUEUE 1 "{DATE}" "segget {version}" "User Commands"', ".SH NAME",
        "segget\\-queue \\- keep a queue of downloads", ".SH SYNOPSIS"]
    for index, command in enumerate(commands):
        page += ([".br"] if index else []) + [synopsis(command, False)]
    page += [".SH DESCRIPTION", QUEUE_INTRO.rstrip(), *sections(commands, default, told)]
    page += [
        ".SH EXIT STATUS", "Those of", ".BR segget (1).", ".SH SEE ALSO", ".BR segget (1)"]
    return fold("\n".join(page)) + "\n"


def man(binary):
    dump = json.loads(run(binary, "--experimental-dump-help"))["command"]
    version = run(binary, "--version").split()[1]
    queued = queue_commands(binary, dump)
    commands = [c for c in commands_of(dump) if c["commandName"] not in queued]
    default = dump["defaultSubcommand"]
    page = [
        f'.TH SEGGET 1 "{DATE}" "segget {version}" "User Commands"', ".SH NAME",
        "segget \\- download files over HTTP(S) in segments; resumable and verified",
        ".SH SYNOPSIS"]
    for index, command in enumerate(commands):
        page += ([".br"] if index else []) + [synopsis(command, command["commandName"] == default)]
    page += [".br", ".B segget help \\fR[\\fIcommand\\fR] [\\fItopic\\fR]"]
    page += [".SH DESCRIPTION", INTRO.rstrip()]
    if queued:
        page += [".PP", "The commands about the queue are in", ".BR segget\\-queue (1)."]
    page += [".SS Names", NAMES.rstrip(), *sections(commands, default, {})]
    page += [".SH EXIT STATUS"]
    for line in run(binary, "help", "exit-codes").splitlines()[1:]:
        code, meaning = line.split(maxsplit=1)
        page += [f".TP\n.B {code}\n{prose(meaning[0].upper() + meaning[1:] + '.')}"]
    page += [
        ".SH ENVIRONMENT", ENVIRONMENT.rstrip(), ".SH FILES", FILES.rstrip(), ".SH SIGNALS",
        SIGNALS.rstrip(), ".SH EXAMPLES", EXAMPLES.rstrip(), ".SH SEE ALSO",
        *([".BR segget\\-queue (1),"] if queued else []),
        ".BR curl (1),", ".BR wget (1),", ".BR aria2c (1)"]
    return fold("\n".join(page)) + "\n"


def fold(page):
    """Breaks long lines of text; never so that one begins with a macro's dot."""
    lines, is_example = [], False
    for line in page.split("\n"):
        is_example = {".EX": True, ".EE": False}.get(line, is_example)
        if len(line) <= 80 or line.startswith(".") or is_example:
            lines.append(line)
            continue
        parts = textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)
        lines += ["\\&" + part if part.startswith(".") else part for part in parts]
    return "\n".join(lines)


# The parser's scripts do not know that `segget OPTION` is short for `segget get OPTION`: in each, the
# default command is put in where no command was typed. An anchor stands before or behind a piece.
SHORT = {
    "bash": [("complete -o filenames -F _segget segget", """\
# `segget OPTION` is short for `segget DEFAULT OPTION`.
_segget_short() {
    case "${COMP_WORDS[1]}" in
    COMMANDS) ;;
    *)
        if [[ "${COMP_CWORD}" -gt 1 || "${COMP_WORDS[1]}" = -* ]]; then
            COMP_WORDS=("${COMP_WORDS[0]}" DEFAULT "${COMP_WORDS[@]:1}")
            COMP_CWORD="$((COMP_CWORD + 1))"
        fi
        ;;
    esac
    _segget "${@}"
}

complete -o filenames -F _segget_short segget"""), ("""_segget_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __segget_offer_flags_options -1
""", """\
_segget_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __segget_offer_flags_options -1
    COMPREPLY+=($(compgen -W 'TOPICS' -- "${cur}"))
""")],
    "zsh": [("        '*:subcommands:'\n", "        '*:subcommands:(TOPICS)'\n"), ("""    local -r command_name="${words[1]}"
""", """\
    # `segget OPTION` is short for `segget DEFAULT OPTION`.
    if [[ "${words[2]}" != (COMMANDS) && ( "${CURRENT}" -gt 2 || "${words[2]}" = -* ) ]]; then
        words=("${words[1]}" DEFAULT "${(@)words[2,-1]}")
        ((CURRENT++))
    fi

    local -r command_name="${words[1]}"
""")],
    "fish": [("""    set -l unparsed_tokens (__segget_tokens -pc)
""", """\
    set -l unparsed_tokens (__segget_tokens -pc)
    # `segget OPTION` is short for `segget DEFAULT OPTION`.
    if not string match -qr '^(COMMANDS)$' -- "$unparsed_tokens[2]"
        if set -q unparsed_tokens[2]; or string match -q -- '-*' (commandline -ct)
            set unparsed_tokens $unparsed_tokens[1] DEFAULT $unparsed_tokens[2..]
        end
    end
"""), ("""\
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget help" version'\
""", """\
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget help" -eq 1' -fa 'TOPICS'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget help" version'\
""")],
}


def topics(dump):
    """What `segget help` takes: the commands, the groups of options of the default one, and two more."""
    names = [command["commandName"] for command in dump["subcommands"]]
    names.remove("help")
    default = next(c for c in dump["subcommands"] if c["commandName"] == dump["defaultSubcommand"])
    for argument in default["arguments"]:
        title = (argument.get("sectionTitle") or "options").lower().replace(" ", "-")
        if argument["shouldDisplay"] and title not in names:
            names.append(title)
    return names + ["queue", "exit-codes"]


def completion(binary, shell):
    # They are read by a shell, and never run as programs.
    text = run(binary, "--generate-completion-script", shell).removeprefix("#!/bin/bash\n\n")
    dump = json.loads(run(binary, "--experimental-dump-help"))["command"]
    commands = "|".join(command["commandName"] for command in dump["subcommands"])
    for anchor, piece in SHORT[shell]:
        if text.count(anchor) != 1:
            sys.exit(f"error: the parser's script for {shell} is another: correct SHORT in {__file__}")
        piece = (
            piece.replace("DEFAULT", dump["defaultSubcommand"]).replace("COMMANDS", commands)
            .replace("TOPICS", " ".join(topics(dump)))
        )
        text = text.replace(anchor, piece)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"


OPTIONS = """\
# The options of a download

`make docs` writes this page from the catalogue in `Sources/SeggetFormats/Options`.

- **key**: in the `options` of the [API](api.md). A dot leads into an object: `access.proxy` is
  `{"access": {"proxy": …}}`.
- **command line**: in the configuration file without the dashes, in the environment as `SEGGET_NAME`.
- **list**: in the lists of `--input-file`, and for `segget set --option NAME=VALUE`.
- **aria2**: for `segget-aria2c`; aria2's RPC takes them where TCP says yes, and `allow-overwrite` and
  `conditional-get` for new tasks.
- **TCP**: whether clients of the API over TCP may set it.
- **change**: when a changed value takes effect on a task: at once, when the task starts next, or not at all.

The command line, lists, `segget set` and the API refuse a value out of range with the same words:
"NAME takes …".

| key | command line | list | aria2 | takes | TCP | change | what it does |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def options_page(binary):
    """docs/options.md."""
    manager = pathlib.Path(binary).with_name("segget-manager")
    return OPTIONS + subprocess.run(
        [manager, "options"], check=True, capture_output=True, text=True).stdout


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    # A relative path would be looked for in PATH.
    binary = str(pathlib.Path(arguments[0]).resolve())
    # Without it the program would say less of itself.
    if not pathlib.Path(binary).with_name("segget-manager").exists():
        sys.exit(f"error: there is no segget-manager beside {binary}\nhint: build it too")
    queue_page = queue_man(binary)
    files = {
        SHARE.parent / "docs/options.md": options_page(binary),
        SHARE / "man/segget.1": man(binary),
        SHARE / "completions/segget.bash": completion(binary, "bash"),
        SHARE / "completions/_segget": completion(binary, "zsh"),
        SHARE / "completions/segget.fish": completion(binary, "fish"),
    }
    if queue_page:
        files[SHARE / "man/segget-queue.1"] = queue_page
    stale = False
    for path, text in files.items():
        old = path.read_text() if path.exists() else ""
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif old != text:
            stale = True
            name = str(path.relative_to(SHARE.parent))
            lines = difflib.unified_diff(
                old.splitlines(), text.splitlines(), name, "as it should be", lineterm="", n=0)
            print("\n".join(list(lines)[:40]))
    if stale:
        sys.exit("error: share/ or docs/options.md is not current\nhint: run `make docs` and commit the result")


main()
