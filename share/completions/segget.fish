function __segget_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __segget_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __segget_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __segget_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __segget_parse_tokens -S
    set -l unparsed_tokens (__segget_tokens -pc)
    # `segget OPTION` is short for `segget get OPTION`.
    if not string match -qr '^(get|probe|verify|repair|bench|add|list|show|start|pause|resume|cancel|retry|remove|clear|move|rename|set|tag|settings|run|serve|help)$' -- "$unparsed_tokens[2]"
        if set -q unparsed_tokens[2]; or string match -q -- '-*' (commandline -ct)
            set unparsed_tokens $unparsed_tokens[1] get $unparsed_tokens[2..]
        end
    end
    switch $unparsed_tokens[1]
    case 'segget'
        __segget_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'get'
            __segget_parse_subcommand -r 1 'o/output=' 'd/directory=' 'x/connections=' 'checksum=' 'overwrite' 'no-resume' 'resume-unverified' 'adopt=' 'continue-from=' 'refresh-url=' 'wait-for-network' 'file-allocation=' 'no-remote-time' 'xattr' 'keep-manifest' 'N/timestamping' 'remote-name' 'auto-rename' 'i/input-file=+' 'j/jobs=' 'fail-fast' 'mirror=+' 'window=' 'limit-rate=' 'max-size=' 'max-time=' 'min-rate=' 'min-rate-time=' 'H/header=+' 'ca-certificate=' 'connect-timeout=' 'stall-timeout=' 'retries=' 'u/user=' 'password-fd=' 'auth=' 'netrc' 'netrc-file=' 'bearer-fd=' 'cookie=' 'b/cookie-text=' 'no-cookies' 'A/user-agent=' 'referer=' 'header-cross-origin' 'proxy=' 'no-proxy=' '4/ipv4' '6/ipv6' 'interface=' 'resolve=+' 'insecure' 'allow-downgrade' 'pinned-public-key=' 'client-certificate=' 'client-key=' 'client-key-password-fd=' 'tls-min=' 'dry-run' 'on-complete=' 'on-error=' 'config=' 'no-config' 'q/quiet' 'v/verbose' 'progress=' 'json' 'version' 'h/help'
        case 'probe'
            __segget_parse_subcommand -r 2 'H/header=+' 'ca-certificate=' 'connect-timeout=' 'stall-timeout=' 'retries=' 'config=' 'no-config' 'u/user=' 'password-fd=' 'auth=' 'netrc' 'netrc-file=' 'bearer-fd=' 'cookie=' 'b/cookie-text=' 'no-cookies' 'A/user-agent=' 'referer=' 'header-cross-origin' 'proxy=' 'no-proxy=' '4/ipv4' '6/ipv6' 'interface=' 'resolve=+' 'insecure' 'allow-downgrade' 'pinned-public-key=' 'client-certificate=' 'client-key=' 'client-key-password-fd=' 'tls-min=' 'json' 'version' 'h/help'
        case 'verify'
            __segget_parse_subcommand 1 'checksum=' 'sums=' 'q/quiet' 'json' 'version' 'h/help'
        case 'repair'
            __segget_parse_subcommand 2 'x/connections=' 'checksum=' 'file-allocation=' 'no-remote-time' 'xattr' 'limit-rate=' 'max-size=' 'max-time=' 'min-rate=' 'min-rate-time=' 'H/header=+' 'ca-certificate=' 'connect-timeout=' 'stall-timeout=' 'retries=' 'u/user=' 'password-fd=' 'auth=' 'netrc' 'netrc-file=' 'bearer-fd=' 'cookie=' 'b/cookie-text=' 'no-cookies' 'A/user-agent=' 'referer=' 'header-cross-origin' 'proxy=' 'no-proxy=' '4/ipv4' '6/ipv6' 'interface=' 'resolve=+' 'insecure' 'allow-downgrade' 'pinned-public-key=' 'client-certificate=' 'client-key=' 'client-key-password-fd=' 'tls-min=' 'config=' 'no-config' 'q/quiet' 'v/verbose' 'progress=' 'json' 'version' 'h/help'
        case 'bench'
            __segget_parse_subcommand -r 2 'x/connections=' 'rounds=' 'max-time=' 'max-bytes=' 'warm-up=' 'disk=' 'against=' 'json' 'csv' 'report=' 'overwrite' 'q/quiet' 'H/header=+' 'ca-certificate=' 'connect-timeout=' 'stall-timeout=' 'retries=' 'u/user=' 'password-fd=' 'auth=' 'netrc' 'netrc-file=' 'bearer-fd=' 'cookie=' 'b/cookie-text=' 'no-cookies' 'A/user-agent=' 'referer=' 'header-cross-origin' 'proxy=' 'no-proxy=' '4/ipv4' '6/ipv6' 'interface=' 'resolve=+' 'insecure' 'allow-downgrade' 'pinned-public-key=' 'client-certificate=' 'client-key=' 'client-key-password-fd=' 'tls-min=' 'config=' 'no-config' 'version' 'h/help'
        case 'add'
            __segget_parse_subcommand -r 1 'd/directory=' 'name=' 'o/output=' 'i/input-file=+' 'paused' 'first' 'at=' 'tag=+' 'again' 'id=' 'no-store-secrets' 'recover=' 'x/connections=' 'checksum=' 'overwrite' 'resume-unverified' 'adopt=' 'continue-from=' 'refresh-url=' 'wait-for-network' 'file-allocation=' 'no-remote-time' 'xattr' 'keep-manifest' 'N/timestamping' 'remote-name' 'auto-rename' 'mirror=+' 'limit-rate=' 'max-size=' 'max-time=' 'min-rate=' 'min-rate-time=' 'H/header=+' 'ca-certificate=' 'connect-timeout=' 'stall-timeout=' 'retries=' 'u/user=' 'password-fd=' 'auth=' 'netrc' 'netrc-file=' 'bearer-fd=' 'cookie=' 'b/cookie-text=' 'no-cookies' 'A/user-agent=' 'referer=' 'header-cross-origin' 'proxy=' 'no-proxy=' '4/ipv4' '6/ipv6' 'interface=' 'resolve=+' 'insecure' 'allow-downgrade' 'pinned-public-key=' 'client-certificate=' 'client-key=' 'client-key-password-fd=' 'tls-min=' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'list'
            __segget_parse_subcommand 0 'json' 'mark-seen' 'state=+' 'tag=+' 'text=' 'unseen' 'watch' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'show'
            __segget_parse_subcommand 1 'json' 'mark-seen' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'start'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'pause'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'resume'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'cancel'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'retry'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'remove'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'files' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'clear'
            __segget_parse_subcommand 0 'state=+' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'move'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'first' 'last' 'at=' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'rename'
            __segget_parse_subcommand 2 'd/directory=' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'set'
            __segget_parse_subcommand -r 1 'tag=+' 'all' 'url=+' 'x/connections=' 'limit-rate=' 'H/header=+' 'u/user=' 'retries=' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'tag'
            __segget_parse_subcommand -r 2 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'settings'
            __segget_parse_subcommand 0 'max-running=' 'limit-rate=' 'limit-schedule=' 'json' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'run'
            __segget_parse_subcommand 0 'keep-running' 'q/quiet' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'serve'
            __segget_parse_subcommand 0 'nice=' 'detach' 'pid-file=' 'log-file=' 'queue=' 'config=' 'no-config' 'version' 'h/help'
        case 'help'
            __segget_parse_subcommand -r 1 'version'
        end
    end
end

function __segget_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __segget_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __segget_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __segget_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__segget_tokens -p)
    if test -z "$(__segget_tokens -t)"
        set -l index (count (__segget_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'segget' -f
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'get' -d 'Download files.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'probe' -d 'Show what the server offers, and how segget would fetch it.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'verify' -d 'Check a finished or partial file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'repair' -d 'Fetch again what is damaged of a file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'bench' -d 'Measure the rate over several numbers of connections.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'add' -d 'Put files into the queue.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'list' -d 'List the tasks of the queue.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'show' -d 'Show all that is known of a task.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'start' -d 'Start tasks at once, before all others.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'pause' -d 'Pause tasks; what has arrived is kept.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'resume' -d 'Let tasks go on that are held or have failed.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'cancel' -d 'Give tasks up, and remove what has arrived.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'retry' -d 'Try tasks again without waiting any longer.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'remove' -d 'Take tasks out of the queue.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'clear' -d 'Take tasks that have ended out of the list.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'move' -d 'Move tasks to another place in the queue.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'rename' -d 'Give the file of a task another name or place.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'set' -d 'Change how tasks are fetched.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'tag' -d 'Put tags on tasks, or take them off.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'settings' -d 'Show or change what holds for the whole queue.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'run' -d 'Work the queue in the foreground.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'serve' -d 'Work the queue as a service, in the background.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" o output' -l 'output' -s 'o' -d 'Save as this file; `-` writes to standard output, in order.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" d directory' -l 'directory' -s 'd' -d 'Save in this folder, under the name that the server or the URL suggests; it is made if it is missing. (default: the current folder)' -rfa '(__segget_complete_directories)'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" connections x' -s 'x' -l 'connections' -d 'Connections for each file, 1 to 64, `auto` or `auto:N`; curl\'s `-x` is `--proxy`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" checksum' -l 'checksum' -d 'The digest that the file must have.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" overwrite' -l 'overwrite' -d 'Replace an existing file, once the new one is complete and verified.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" no-resume' -l 'no-resume' -d 'Start over instead of resuming an earlier run.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" resume-unverified' -l 'resume-unverified' -d 'Resume also where only a sample proves that the remote file is still the same.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" adopt' -l 'adopt' -d 'Go on with what curl, wget, aria2 or a browser has begun.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" continue-from' -l 'continue-from' -d 'Go on with this part under a new URL.' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'part\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" refresh-url' -l 'refresh-url' -d 'Ask this command for a new URL when the link has expired (401, 403, 404, 410).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" wait-for-network' -l 'wait-for-network' -d 'When the network is lost, wait until it is back, however long that takes.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" file-allocation' -l 'file-allocation' -d 'Reserve the space first (falloc; auto does, but not in memory), only set the length (trunc), or let the file grow (none).' -rfka 'auto falloc trunc none'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" no-remote-time' -l 'no-remote-time' -d 'Leave the finished file the time of writing, not the server\'s `Last-Modified`.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" xattr' -l 'xattr' -d 'Write origin, version and digests into the file\'s extended attributes.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" keep-manifest' -l 'keep-manifest' -d 'Keep the manifest `NAME.segget` beside the finished file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" N timestamping' -s 'N' -l 'timestamping' -d 'Fetch only if the remote file is newer than the existing one, or has another size.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" remote-name' -l 'remote-name' -d 'Name the file by the URL as given, whatever the server suggests and wherever it redirects.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" auto-rename' -l 'auto-rename' -d 'Where the name is taken, use the next free one: `big.1.iso`, `big.2.iso`.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get"' -l 'input-file' -s 'i' -d 'Download the files of this list too; `-` is standard input; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" j jobs' -s 'j' -l 'jobs' -d 'Files at a time, 1 to 64 (default: 4, and up to 64 while they are small).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" fail-fast' -l 'fail-fast' -d 'Stop all files when one has failed; what arrived of them is kept.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get"' -l 'mirror' -d 'Another URL of the same file; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" window' -l 'window' -d 'Most bytes to fetch ahead of the reader.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" limit-rate' -l 'limit-rate' -d 'Highest rate of everything together, in bytes per second.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" max-size' -l 'max-size' -d 'Largest file to fetch; a larger one is refused.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" max-time' -l 'max-time' -d 'Longest time for each file, from its start, in seconds; then it is stopped in order.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" min-rate' -l 'min-rate' -d 'Least rate, in units as for `--limit-rate`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" min-rate-time' -l 'min-rate-time' -d 'How long a download may be slower than `--min-rate`, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get"' -s 'H' -l 'header' -d 'Send this header too; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" ca-certificate' -l 'ca-certificate' -d 'PEM file with the certificates to trust, in place of the system\'s.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" connect-timeout' -l 'connect-timeout' -d 'Longest time to connect, TLS handshake included, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" stall-timeout' -l 'stall-timeout' -d 'Longest time without a byte on a connection, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" retries' -l 'retries' -d 'Further attempts without progress before giving up (default: 10).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" u user' -l 'user' -s 'u' -d 'User and password for the server; without `:PASS` the password is asked for.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" password-fd' -l 'password-fd' -d 'Read the password for `--user` from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" auth' -l 'auth' -d 'How credentials are shown: basic, digest, or auto, which is digest where only that is asked for.' -rfka 'auto basic digest'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" netrc' -l 'netrc' -d 'Look credentials up in ~/.netrc, by host.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" netrc-file' -l 'netrc-file' -d 'Look credentials up in this file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" bearer-fd' -l 'bearer-fd' -d 'Send the token that this descriptor gives, as `Authorization: Bearer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" cookie' -l 'cookie' -d 'Send the cookies of this file, in Netscape\'s format, to their hosts.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" b cookie-text' -s 'b' -l 'cookie-text' -d 'Send these cookies.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" no-cookies' -l 'no-cookies' -d 'Forget the cookies that servers set.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" A user-agent' -s 'A' -l 'user-agent' -d 'Call this program so; empty for nothing.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" referer' -l 'referer' -d 'Send this as `Referer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" header-cross-origin' -l 'header-cross-origin' -d 'Send headers, credentials, cookies and referer to other origins too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" proxy' -l 'proxy' -d 'Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" no-proxy' -l 'no-proxy' -d 'Reach these hosts without a proxy, separated by commas; `*` is all.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" interface' -l 'interface' -d 'Have connections go out from this interface or address.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get"' -l 'resolve' -d 'Use these addresses for this host and port; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" insecure' -l 'insecure' -d 'Believe every certificate. Nobody knows then who answers, or who listens.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" allow-downgrade' -l 'allow-downgrade' -d 'Follow redirects from https to http too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" pinned-public-key' -l 'pinned-public-key' -d 'Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" client-certificate' -l 'client-certificate' -d 'Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" client-key' -l 'client-key' -d 'PEM file with its key, unless it is in the same file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" client-key-password-fd' -l 'client-key-password-fd' -d 'Read the password of the client\'s key from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" tls-min' -l 'tls-min' -d 'Lowest version of TLS to accept: 1.2 or 1.3.' -rfka '1.2 1.3'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" dry-run' -l 'dry-run' -d 'Show what would be done, and neither fetch nor write anything.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" on-complete' -l 'on-complete' -d 'Run this command when a file is complete.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" on-error' -l 'on-error' -d 'Run this command when a file has failed, in the same way.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" q quiet' -l 'quiet' -s 'q' -d 'Print errors only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" v verbose' -l 'verbose' -s 'v' -d 'Print retries, refused replies and the like too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" progress' -l 'progress' -d 'Show progress as a bar, as plain lines, or not at all.' -rfka 'auto bar plain none'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" json' -l 'json' -d 'Write one JSON object an event to standard output (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget get" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe"' -s 'H' -l 'header' -d 'Send this header too; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" ca-certificate' -l 'ca-certificate' -d 'PEM file with the certificates to trust, in place of the system\'s.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" connect-timeout' -l 'connect-timeout' -d 'Longest time to connect, TLS handshake included, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" stall-timeout' -l 'stall-timeout' -d 'Longest time without a byte on a connection, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" retries' -l 'retries' -d 'Further attempts without progress before giving up (default: 10).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" u user' -l 'user' -s 'u' -d 'User and password for the server; without `:PASS` the password is asked for.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" password-fd' -l 'password-fd' -d 'Read the password for `--user` from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" auth' -l 'auth' -d 'How credentials are shown: basic, digest, or auto, which is digest where only that is asked for.' -rfka 'auto basic digest'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" netrc' -l 'netrc' -d 'Look credentials up in ~/.netrc, by host.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" netrc-file' -l 'netrc-file' -d 'Look credentials up in this file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" bearer-fd' -l 'bearer-fd' -d 'Send the token that this descriptor gives, as `Authorization: Bearer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" cookie' -l 'cookie' -d 'Send the cookies of this file, in Netscape\'s format, to their hosts.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" b cookie-text' -s 'b' -l 'cookie-text' -d 'Send these cookies.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" no-cookies' -l 'no-cookies' -d 'Forget the cookies that servers set.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" A user-agent' -s 'A' -l 'user-agent' -d 'Call this program so; empty for nothing.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" referer' -l 'referer' -d 'Send this as `Referer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" header-cross-origin' -l 'header-cross-origin' -d 'Send headers, credentials, cookies and referer to other origins too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" proxy' -l 'proxy' -d 'Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" no-proxy' -l 'no-proxy' -d 'Reach these hosts without a proxy, separated by commas; `*` is all.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" interface' -l 'interface' -d 'Have connections go out from this interface or address.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe"' -l 'resolve' -d 'Use these addresses for this host and port; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" insecure' -l 'insecure' -d 'Believe every certificate. Nobody knows then who answers, or who listens.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" allow-downgrade' -l 'allow-downgrade' -d 'Follow redirects from https to http too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" pinned-public-key' -l 'pinned-public-key' -d 'Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" client-certificate' -l 'client-certificate' -d 'Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" client-key' -l 'client-key' -d 'PEM file with its key, unless it is in the same file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" client-key-password-fd' -l 'client-key-password-fd' -d 'Read the password of the client\'s key from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" tls-min' -l 'tls-min' -d 'Lowest version of TLS to accept: 1.2 or 1.3.' -rfka '1.2 1.3'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" json' -l 'json' -d 'Write the report as one JSON object (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget probe" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget verify" checksum' -l 'checksum' -d 'The digest that the file must have.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget verify" sums' -l 'sums' -d 'File of checksums with a line for it, such as `SHA256SUMS`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget verify" q quiet' -l 'quiet' -s 'q' -d 'Print errors only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget verify" json' -l 'json' -d 'Write the result as one JSON object to standard output (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget verify" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget verify" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" connections x' -s 'x' -l 'connections' -d 'Connections, 1 to 64, `auto`, or `auto:N` for at most N.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" checksum' -l 'checksum' -d 'The digest that the repaired file must have, as for `get`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" file-allocation' -l 'file-allocation' -d 'Reserve the space first (falloc; auto does, but not in memory), only set the length (trunc), or let the file grow (none).' -rfka 'auto falloc trunc none'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" no-remote-time' -l 'no-remote-time' -d 'Leave the finished file the time of writing, not the server\'s `Last-Modified`.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" xattr' -l 'xattr' -d 'Write origin, version and digests into the file\'s extended attributes.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" limit-rate' -l 'limit-rate' -d 'Highest rate of everything together, in bytes per second.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" max-size' -l 'max-size' -d 'Largest file to fetch; a larger one is refused.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" max-time' -l 'max-time' -d 'Longest time for each file, from its start, in seconds; then it is stopped in order.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" min-rate' -l 'min-rate' -d 'Least rate, in units as for `--limit-rate`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" min-rate-time' -l 'min-rate-time' -d 'How long a download may be slower than `--min-rate`, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair"' -s 'H' -l 'header' -d 'Send this header too; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" ca-certificate' -l 'ca-certificate' -d 'PEM file with the certificates to trust, in place of the system\'s.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" connect-timeout' -l 'connect-timeout' -d 'Longest time to connect, TLS handshake included, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" stall-timeout' -l 'stall-timeout' -d 'Longest time without a byte on a connection, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" retries' -l 'retries' -d 'Further attempts without progress before giving up (default: 10).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" u user' -l 'user' -s 'u' -d 'User and password for the server; without `:PASS` the password is asked for.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" password-fd' -l 'password-fd' -d 'Read the password for `--user` from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" auth' -l 'auth' -d 'How credentials are shown: basic, digest, or auto, which is digest where only that is asked for.' -rfka 'auto basic digest'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" netrc' -l 'netrc' -d 'Look credentials up in ~/.netrc, by host.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" netrc-file' -l 'netrc-file' -d 'Look credentials up in this file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" bearer-fd' -l 'bearer-fd' -d 'Send the token that this descriptor gives, as `Authorization: Bearer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" cookie' -l 'cookie' -d 'Send the cookies of this file, in Netscape\'s format, to their hosts.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" b cookie-text' -s 'b' -l 'cookie-text' -d 'Send these cookies.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" no-cookies' -l 'no-cookies' -d 'Forget the cookies that servers set.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" A user-agent' -s 'A' -l 'user-agent' -d 'Call this program so; empty for nothing.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" referer' -l 'referer' -d 'Send this as `Referer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" header-cross-origin' -l 'header-cross-origin' -d 'Send headers, credentials, cookies and referer to other origins too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" proxy' -l 'proxy' -d 'Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" no-proxy' -l 'no-proxy' -d 'Reach these hosts without a proxy, separated by commas; `*` is all.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" interface' -l 'interface' -d 'Have connections go out from this interface or address.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair"' -l 'resolve' -d 'Use these addresses for this host and port; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" insecure' -l 'insecure' -d 'Believe every certificate. Nobody knows then who answers, or who listens.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" allow-downgrade' -l 'allow-downgrade' -d 'Follow redirects from https to http too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" pinned-public-key' -l 'pinned-public-key' -d 'Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" client-certificate' -l 'client-certificate' -d 'Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" client-key' -l 'client-key' -d 'PEM file with its key, unless it is in the same file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" client-key-password-fd' -l 'client-key-password-fd' -d 'Read the password of the client\'s key from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" tls-min' -l 'tls-min' -d 'Lowest version of TLS to accept: 1.2 or 1.3.' -rfka '1.2 1.3'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" q quiet' -l 'quiet' -s 'q' -d 'Print errors only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" v verbose' -l 'verbose' -s 'v' -d 'Print retries, refused replies and the like too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" progress' -l 'progress' -d 'Show progress as a bar, as plain lines, or not at all.' -rfka 'auto bar plain none'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" json' -l 'json' -d 'Write one JSON object an event to standard output (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget repair" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" connections x' -s 'x' -l 'connections' -d 'Numbers of connections to compare, 1 to 64; `auto` is segget\'s own choice.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" rounds' -l 'rounds' -d 'How often each of them is measured, 1 to 100.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" max-time' -l 'max-time' -d 'Longest time of all measurements together, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" max-bytes' -l 'max-bytes' -d 'Most bytes of all measurements together, such as `500M` or `4G`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" warm-up' -l 'warm-up' -d 'Seconds from the first byte on that do not count, at most a third of a measurement.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" disk' -l 'disk' -d 'Write to files in this folder, and remove them, in place of /dev/null.' -rfa '(__segget_complete_directories)'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" against' -l 'against' -d 'Measure these too, as far as they are installed: aria2c, axel, curl, wget2.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" json' -l 'json' -d 'Write one JSON object an event to standard output (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" csv' -l 'csv' -d 'Write the measurements to standard output as comma-separated values.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" report' -l 'report' -d 'Write a report with plots too: one HTML file that needs nothing else.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" overwrite' -l 'overwrite' -d 'Replace an existing report.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" q quiet' -l 'quiet' -s 'q' -d 'Print errors and the result only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench"' -s 'H' -l 'header' -d 'Send this header too; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" ca-certificate' -l 'ca-certificate' -d 'PEM file with the certificates to trust, in place of the system\'s.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" connect-timeout' -l 'connect-timeout' -d 'Longest time to connect, TLS handshake included, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" stall-timeout' -l 'stall-timeout' -d 'Longest time without a byte on a connection, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" retries' -l 'retries' -d 'Further attempts without progress before giving up (default: 10).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" u user' -l 'user' -s 'u' -d 'User and password for the server; without `:PASS` the password is asked for.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" password-fd' -l 'password-fd' -d 'Read the password for `--user` from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" auth' -l 'auth' -d 'How credentials are shown: basic, digest, or auto, which is digest where only that is asked for.' -rfka 'auto basic digest'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" netrc' -l 'netrc' -d 'Look credentials up in ~/.netrc, by host.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" netrc-file' -l 'netrc-file' -d 'Look credentials up in this file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" bearer-fd' -l 'bearer-fd' -d 'Send the token that this descriptor gives, as `Authorization: Bearer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" cookie' -l 'cookie' -d 'Send the cookies of this file, in Netscape\'s format, to their hosts.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" b cookie-text' -s 'b' -l 'cookie-text' -d 'Send these cookies.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" no-cookies' -l 'no-cookies' -d 'Forget the cookies that servers set.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" A user-agent' -s 'A' -l 'user-agent' -d 'Call this program so; empty for nothing.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" referer' -l 'referer' -d 'Send this as `Referer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" header-cross-origin' -l 'header-cross-origin' -d 'Send headers, credentials, cookies and referer to other origins too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" proxy' -l 'proxy' -d 'Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" no-proxy' -l 'no-proxy' -d 'Reach these hosts without a proxy, separated by commas; `*` is all.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" interface' -l 'interface' -d 'Have connections go out from this interface or address.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench"' -l 'resolve' -d 'Use these addresses for this host and port; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" insecure' -l 'insecure' -d 'Believe every certificate. Nobody knows then who answers, or who listens.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" allow-downgrade' -l 'allow-downgrade' -d 'Follow redirects from https to http too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" pinned-public-key' -l 'pinned-public-key' -d 'Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" client-certificate' -l 'client-certificate' -d 'Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" client-key' -l 'client-key' -d 'PEM file with its key, unless it is in the same file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" client-key-password-fd' -l 'client-key-password-fd' -d 'Read the password of the client\'s key from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" tls-min' -l 'tls-min' -d 'Lowest version of TLS to accept: 1.2 or 1.3.' -rfka '1.2 1.3'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget bench" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" d directory' -l 'directory' -s 'd' -d 'Save in this folder; it is made if it is missing. (default: the current folder)' -rfa '(__segget_complete_directories)'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" name' -l 'name' -d 'Save under this name. (default: the server\'s, or the URL\'s)' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" o output' -l 'output' -s 'o' -d 'Save as this file: folder and name in one.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add"' -l 'input-file' -s 'i' -d 'Add the files of this list too, in the form of `segget get`; repeatable.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" paused' -l 'paused' -d 'Add held: `segget start` or `segget resume` begins.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" first' -l 'first' -d 'Put before all others.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" at' -l 'at' -d 'Put at this place in the order, from 1.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add"' -l 'tag' -d 'Give the tasks this tag; repeatable.' -rfka '(__segget_custom_completion ---completion add -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" again' -l 'again' -d 'Make another task of a URL that the queue has already.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" id' -l 'id' -d 'The id of the task: 16 hexadecimal digits.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" no-store-secrets' -l 'no-store-secrets' -d 'Write passwords, headers and the queries of URLs nowhere.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" recover' -l 'recover' -d 'Make held tasks of the parts in this folder that no task has.' -rfa '(__segget_complete_directories)'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" connections x' -s 'x' -l 'connections' -d 'Connections for each file, 1 to 64, `auto` or `auto:N`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" checksum' -l 'checksum' -d 'The digest that the file must have.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" overwrite' -l 'overwrite' -d 'Replace an existing file, once the new one is complete and verified.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" resume-unverified' -l 'resume-unverified' -d 'Resume also where only a sample proves that the remote file is still the same.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" adopt' -l 'adopt' -d 'Go on with what curl, wget, aria2 or a browser has begun.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" continue-from' -l 'continue-from' -d 'Go on with this part under a new URL.' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'part\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" refresh-url' -l 'refresh-url' -d 'Ask this command for a new URL when the link has expired (401, 403, 404, 410).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" wait-for-network' -l 'wait-for-network' -d 'When the network is lost, wait until it is back, however long that takes.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" file-allocation' -l 'file-allocation' -d 'Reserve the space first (falloc; auto does, but not in memory), only set the length (trunc), or let the file grow (none).' -rfka 'auto falloc trunc none'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" no-remote-time' -l 'no-remote-time' -d 'Leave the finished file the time of writing, not the server\'s `Last-Modified`.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" xattr' -l 'xattr' -d 'Write origin, version and digests into the file\'s extended attributes.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" keep-manifest' -l 'keep-manifest' -d 'Keep the manifest `NAME.segget` beside the finished file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" N timestamping' -s 'N' -l 'timestamping' -d 'Fetch only if the remote file is newer than the existing one, or has another size.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" remote-name' -l 'remote-name' -d 'Name the file by the URL as given, whatever the server suggests and wherever it redirects.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" auto-rename' -l 'auto-rename' -d 'Where the name is taken, use the next free one: `big.1.iso`, `big.2.iso`.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add"' -l 'mirror' -d 'Another URL of the same file; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" limit-rate' -l 'limit-rate' -d 'Highest rate of everything together, in bytes per second.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" max-size' -l 'max-size' -d 'Largest file to fetch; a larger one is refused.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" max-time' -l 'max-time' -d 'Longest time for each file, from its start, in seconds; then it is stopped in order.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" min-rate' -l 'min-rate' -d 'Least rate, in units as for `--limit-rate`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" min-rate-time' -l 'min-rate-time' -d 'How long a download may be slower than `--min-rate`, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add"' -s 'H' -l 'header' -d 'Send this header too; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" ca-certificate' -l 'ca-certificate' -d 'PEM file with the certificates to trust, in place of the system\'s.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" connect-timeout' -l 'connect-timeout' -d 'Longest time to connect, TLS handshake included, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" stall-timeout' -l 'stall-timeout' -d 'Longest time without a byte on a connection, in seconds.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" retries' -l 'retries' -d 'Further attempts without progress before giving up (default: 10).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" u user' -l 'user' -s 'u' -d 'User and password for the server; without `:PASS` the password is asked for.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" password-fd' -l 'password-fd' -d 'Read the password for `--user` from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" auth' -l 'auth' -d 'How credentials are shown: basic, digest, or auto, which is digest where only that is asked for.' -rfka 'auto basic digest'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" netrc' -l 'netrc' -d 'Look credentials up in ~/.netrc, by host.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" netrc-file' -l 'netrc-file' -d 'Look credentials up in this file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" bearer-fd' -l 'bearer-fd' -d 'Send the token that this descriptor gives, as `Authorization: Bearer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" cookie' -l 'cookie' -d 'Send the cookies of this file, in Netscape\'s format, to their hosts.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" b cookie-text' -s 'b' -l 'cookie-text' -d 'Send these cookies.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" no-cookies' -l 'no-cookies' -d 'Forget the cookies that servers set.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" A user-agent' -s 'A' -l 'user-agent' -d 'Call this program so; empty for nothing.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" referer' -l 'referer' -d 'Send this as `Referer`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" header-cross-origin' -l 'header-cross-origin' -d 'Send headers, credentials, cookies and referer to other origins too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" proxy' -l 'proxy' -d 'Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" no-proxy' -l 'no-proxy' -d 'Reach these hosts without a proxy, separated by commas; `*` is all.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 addresses only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" interface' -l 'interface' -d 'Have connections go out from this interface or address.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add"' -l 'resolve' -d 'Use these addresses for this host and port; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" insecure' -l 'insecure' -d 'Believe every certificate. Nobody knows then who answers, or who listens.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" allow-downgrade' -l 'allow-downgrade' -d 'Follow redirects from https to http too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" pinned-public-key' -l 'pinned-public-key' -d 'Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" client-certificate' -l 'client-certificate' -d 'Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" client-key' -l 'client-key' -d 'PEM file with its key, unless it is in the same file.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" client-key-password-fd' -l 'client-key-password-fd' -d 'Read the password of the client\'s key from this descriptor.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" tls-min' -l 'tls-min' -d 'Lowest version of TLS to accept: 1.2 or 1.3.' -rfka '1.2 1.3'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget add" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" json' -l 'json' -d 'Print one JSON array of objects (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" mark-seen' -l 'mark-seen' -d 'With `--json`: the ends that are printed count as seen.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list"' -l 'state' -d 'Only tasks in this state; repeatable.' -rfka 'waiting running verifying retrying waiting_for_network completed failed cancelled held'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list"' -l 'tag' -d 'Only tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion list -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" text' -l 'text' -d 'Only tasks with this text in URL, name or folder.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" unseen' -l 'unseen' -d 'Only tasks that have ended since you last looked.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" watch' -l 'watch' -d 'Show the table again and again, in place, until Ctrl-C.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget show" -eq 1' -fka '(__segget_custom_completion ---completion show -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" json' -l 'json' -d 'Print one JSON object (see docs/json.md).'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" mark-seen' -l 'mark-seen' -d 'With `--json`: its end counts as seen.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget start" -ge 1' -fka '(__segget_custom_completion ---completion start -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion start -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget start" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget pause" -ge 1' -fka '(__segget_custom_completion ---completion pause -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion pause -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget pause" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget resume" -ge 1' -fka '(__segget_custom_completion ---completion resume -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion resume -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget resume" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget cancel" -ge 1' -fka '(__segget_custom_completion ---completion cancel -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion cancel -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget cancel" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget retry" -ge 1' -fka '(__segget_custom_completion ---completion retry -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion retry -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget retry" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget remove" -ge 1' -fka '(__segget_custom_completion ---completion remove -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion remove -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" files' -l 'files' -d 'Remove the finished file, or the part and its manifest, too.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget remove" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget clear"' -l 'state' -d 'Only these: completed, failed or cancelled; repeatable.' -rfka 'completed failed cancelled'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget clear" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget clear" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget clear" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget clear" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget clear" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget move" -ge 1' -fka '(__segget_custom_completion ---completion move -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion move -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" first' -l 'first' -d 'Before all others.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" last' -l 'last' -d 'Behind all others.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" at' -l 'at' -d 'At this place, from 1.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget move" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget rename" -eq 1' -fka '(__segget_custom_completion ---completion rename -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget rename" d directory' -l 'directory' -s 'd' -d 'Move the file to this folder.' -rfa '(__segget_complete_directories)'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget rename" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget rename" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget rename" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget rename" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget rename" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget set" -ge 1' -fka '(__segget_custom_completion ---completion set -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set"' -l 'tag' -d 'All tasks with this tag; repeatable.' -rfka '(__segget_custom_completion ---completion set -- --tag (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" all' -l 'all' -d 'All tasks.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set"' -l 'url' -d 'Fetch from this URL, in place of those that it has; the others are mirrors.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" connections x' -s 'x' -l 'connections' -d 'Connections, 1 to 64, `auto` or `auto:N`.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" limit-rate' -l 'limit-rate' -d 'Highest rate in bytes per second, such as `500K`; 0 for none.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set"' -s 'H' -l 'header' -d 'Send these headers, in place of those that it has; repeatable.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" u user' -s 'u' -l 'user' -d 'User and password.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" retries' -l 'retries' -d 'Further attempts without progress.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget set" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_positional "segget tag" -eq 1' -fka '(__segget_custom_completion ---completion tag -- positional@0 (count (__segget_tokens -pc)) (__segget_tokens -tC))'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget tag" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget tag" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget tag" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget tag" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget tag" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" max-running' -l 'max-running' -d 'Tasks at a time, 1 to 64.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" limit-rate' -l 'limit-rate' -d 'Highest rate of all tasks together, in bytes per second, such as `2M`; 0 for none.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" limit-schedule' -l 'limit-schedule' -d 'The same by the time of day: `08:00-18:00=2M,else=0`; `none` for no schedule.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" json' -l 'json' -d 'Print one JSON object.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget settings" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" keep-running' -l 'keep-running' -d 'Wait for more when nothing is left to do.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" q quiet' -l 'quiet' -s 'q' -d 'Print errors only.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" nice' -l 'nice' -d 'Run at this niceness, from 0 to 19.' -rfka ''
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" detach' -l 'detach' -d 'Go on in the background, once the queue can be reached.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" pid-file' -l 'pid-file' -d 'Write the number of the process here while it runs.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" log-file' -l 'log-file' -d 'Append the log to this file; with `--detach`, what else is said, too.' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" queue' -l 'queue' -d 'The queue\'s file. (default: $XDG_DATA_HOME/segget/queue.sqlite)' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'sqlite\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" config' -l 'config' -d 'Read options from this file. (default: ~/.config/segget/config)' -rF
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" no-config' -l 'no-config' -d 'Read no configuration file.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" version' -l 'version' -d 'Show the version.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget serve" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'segget' -n '__segget_should_offer_completions_for_flags_or_options "segget help" version' -l 'version' -d 'Show the version.'
