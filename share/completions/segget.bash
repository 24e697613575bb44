__segget_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__segget_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__segget_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__segget_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_segget() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __segget_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    get|plan|probe|verify|repair|status|fleet|bench|add|attach|list|show|start|pause|resume|cancel|retry|remove|clear|move|rename|set|tag|settings|run|serve|open|help)
        # Offer subcommand argument completions
        "_segget_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'get plan probe verify repair status fleet bench add attach list show start pause resume cancel retry remove clear move rename set tag settings run serve open help' -- "${cur}"))
        ;;
    esac
}

_segget_get() {
    repeating_flags=()
    non_repeating_flags=(--overwrite --no-resume --resume-unverified --single-request --wait-for-network --no-remote-time --xattr --refuse-html --keep-manifest -N --timestamping --skip-existing -c --continue --remote-name --auto-rename --fail-fast --recheck --delete-extra --force --trust-cache --print-path --enqueue --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --negotiate --dry-run --no-config --quiet -q --verbose -v --json --version -h --help)
    repeating_options=(--input-file -i --include --exclude --mirror -H --header --resolve)
    non_repeating_options=(-o --output --name -d --directory -x --connections --checksum --adopt --continue-from --refresh-url --file-allocation -j --jobs --plan --hf-token-file --queue --window --limit-rate --max-size --max-time --min-rate --min-rate-time --max-requests --ca-certificate --connect-timeout --stall-timeout --retries --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min --cookie-jar --on-complete --on-error --config --progress)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-o'|'--output'|'--name')
        __segget_add_completions -f
        return
        ;;
    '-d'|'--directory')
        __segget_add_completions -d
        return
        ;;
    '-x'|'--connections')
        return
        ;;
    '--checksum')
        return
        ;;
    '--adopt')
        __segget_add_completions -f
        return
        ;;
    '--continue-from')
        __segget_add_completions -o plusdirs -fX '!*.@(part)'
        return
        ;;
    '--refresh-url')
        return
        ;;
    '--file-allocation')
        __segget_add_completions -W 'auto'$'\n''falloc'$'\n''trunc'$'\n''none'
        return
        ;;
    '--input-file'|'-i')
        return
        ;;
    '-j'|'--jobs')
        return
        ;;
    '--plan')
        return
        ;;
    '--include')
        return
        ;;
    '--exclude')
        return
        ;;
    '--hf-token-file')
        return
        ;;
    '--mirror')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--window')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--max-size')
        return
        ;;
    '--max-time')
        return
        ;;
    '--min-rate')
        return
        ;;
    '--min-rate-time')
        return
        ;;
    '--max-requests')
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--cookie-jar')
        __segget_add_completions -f
        return
        ;;
    '--on-complete')
        return
        ;;
    '--on-error')
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    '--progress')
        __segget_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''none'
        return
        ;;
    esac
}

_segget_plan() {
    repeating_flags=()
    non_repeating_flags=(--no-probe --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --negotiate --no-config --version -h --help)
    repeating_options=(--input-file -i --include --exclude -H --header --resolve)
    non_repeating_options=(--output -o --hf-token-file --max-requests --ca-certificate --connect-timeout --stall-timeout --retries --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--input-file'|'-i')
        return
        ;;
    '--include')
        return
        ;;
    '--exclude')
        return
        ;;
    '--output'|'-o')
        return
        ;;
    '--hf-token-file')
        return
        ;;
    '--max-requests')
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_probe() {
    repeating_flags=()
    non_repeating_flags=(--no-config --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --negotiate --json --version -h --help)
    repeating_options=(-H --header --resolve)
    non_repeating_options=(--ca-certificate --connect-timeout --stall-timeout --retries --config --hf-token-file --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    '--hf-token-file')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    esac
}

_segget_verify() {
    repeating_flags=()
    non_repeating_flags=(--quiet -q --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--checksum --sums)
    __segget_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--checksum')
        return
        ;;
    '--sums')
        return
        ;;
    esac
}

_segget_repair() {
    repeating_flags=()
    non_repeating_flags=(--no-remote-time --xattr --refuse-html --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --negotiate --no-config --quiet -q --verbose -v --json --version -h --help)
    repeating_options=(-H --header --resolve)
    non_repeating_options=(-x --connections --checksum --file-allocation --limit-rate --max-size --max-time --min-rate --min-rate-time --max-requests --ca-certificate --connect-timeout --stall-timeout --retries --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min --config --progress)
    __segget_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-x'|'--connections')
        return
        ;;
    '--checksum')
        return
        ;;
    '--file-allocation')
        __segget_add_completions -W 'auto'$'\n''falloc'$'\n''trunc'$'\n''none'
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--max-size')
        return
        ;;
    '--max-time')
        return
        ;;
    '--min-rate')
        return
        ;;
    '--min-rate-time')
        return
        ;;
    '--max-requests')
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    '--progress')
        __segget_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''none'
        return
        ;;
    esac
}

_segget_status() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--directory -d)
    __segget_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--directory'|'-d')
        return
        ;;
    esac
}

_segget_fleet() {
    repeating_flags=()
    non_repeating_flags=(--shared --allow-unpinned --requeue --watch --slurm --kubernetes --parallel --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --no-config --quiet -q --verbose -v --json --version -h --help)
    repeating_options=(-H --header --resolve)
    non_repeating_options=(--shards --host-connections --host-requests --index --of --limit-rate -d --directory --at-once --slurm-licenses --hf-token-file --ca-certificate --connect-timeout --stall-timeout --retries --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min --config --progress)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--shards')
        return
        ;;
    '--host-connections')
        return
        ;;
    '--host-requests')
        return
        ;;
    '--index')
        return
        ;;
    '--of')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '-d'|'--directory')
        __segget_add_completions -d
        return
        ;;
    '--at-once')
        return
        ;;
    '--slurm-licenses')
        return
        ;;
    '--hf-token-file')
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    '--progress')
        __segget_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''none'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __segget_add_completions -W 'create'$'\n''work'$'\n''finish'$'\n''status'$'\n''submit'
        return
        ;;
    esac
}

_segget_bench() {
    repeating_flags=()
    non_repeating_flags=(--json --csv --overwrite --quiet -q --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --no-config --version -h --help)
    repeating_options=(-H --header --resolve)
    non_repeating_options=(-x --connections --rounds --max-time --max-bytes --warm-up --disk --against --report --ca-certificate --connect-timeout --stall-timeout --retries --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-x'|'--connections')
        return
        ;;
    '--rounds')
        return
        ;;
    '--max-time')
        return
        ;;
    '--max-bytes')
        return
        ;;
    '--warm-up')
        return
        ;;
    '--disk')
        __segget_add_completions -d
        return
        ;;
    '--against')
        return
        ;;
    '--report')
        __segget_add_completions -f
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_add() {
    repeating_flags=()
    non_repeating_flags=(--paused --first --again --no-store-secrets --overwrite --resume-unverified --single-request --attach --quiet -q --verbose -v --json --wait-for-network --no-remote-time --xattr --refuse-html --keep-manifest -N --timestamping --skip-existing -c --continue --remote-name --auto-rename --netrc --no-cookies --header-cross-origin -4 --ipv4 -6 --ipv6 --insecure --allow-downgrade --no-config --version -h --help)
    repeating_options=(--input-file -i --tag --mirror -H --header --resolve --include --exclude)
    non_repeating_options=(-o --output --name -d --directory --plan --at --id --recover -x --connections --checksum --progress --adopt --continue-from --refresh-url --file-allocation --limit-rate --max-size --max-time --min-rate --min-rate-time --ca-certificate --connect-timeout --stall-timeout --retries --user -u --password-fd --auth --netrc-file --bearer-fd --cookie -b --cookie-text -A --user-agent --referer --proxy --no-proxy --interface --max-redirs --pinned-public-key --client-certificate --client-key --client-key-password-fd --tls-min --hf-token-file --queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-o'|'--output'|'--name')
        __segget_add_completions -f
        return
        ;;
    '-d'|'--directory')
        __segget_add_completions -d
        return
        ;;
    '--input-file'|'-i')
        __segget_add_completions -f
        return
        ;;
    '--plan')
        __segget_add_completions -f
        return
        ;;
    '--at')
        return
        ;;
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion add -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--id')
        return
        ;;
    '--recover')
        __segget_add_completions -d
        return
        ;;
    '-x'|'--connections')
        return
        ;;
    '--checksum')
        return
        ;;
    '--progress')
        __segget_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''none'
        return
        ;;
    '--adopt')
        __segget_add_completions -f
        return
        ;;
    '--continue-from')
        __segget_add_completions -o plusdirs -fX '!*.@(part)'
        return
        ;;
    '--refresh-url')
        return
        ;;
    '--file-allocation')
        __segget_add_completions -W 'auto'$'\n''falloc'$'\n''trunc'$'\n''none'
        return
        ;;
    '--mirror')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--max-size')
        return
        ;;
    '--max-time')
        return
        ;;
    '--min-rate')
        return
        ;;
    '--min-rate-time')
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--ca-certificate')
        __segget_add_completions -f
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--retries')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--password-fd')
        return
        ;;
    '--auth')
        __segget_add_completions -W 'auto'$'\n''basic'$'\n''digest'
        return
        ;;
    '--netrc-file')
        return
        ;;
    '--bearer-fd')
        return
        ;;
    '--cookie')
        return
        ;;
    '-b'|'--cookie-text')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--referer')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--max-redirs')
        return
        ;;
    '--pinned-public-key')
        return
        ;;
    '--client-certificate')
        return
        ;;
    '--client-key')
        return
        ;;
    '--client-key-password-fd')
        return
        ;;
    '--tls-min')
        __segget_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--include')
        return
        ;;
    '--exclude')
        return
        ;;
    '--hf-token-file')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_attach() {
    repeating_flags=()
    non_repeating_flags=(--quiet -q --verbose -v --json --no-config --version -h --help)
    repeating_options=()
    non_repeating_options=(--progress --queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--progress')
        __segget_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''none'
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion attach -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_list() {
    repeating_flags=()
    non_repeating_flags=(--json --links --mark-seen --unseen --watch --no-config --version -h --help)
    repeating_options=(--state --tag)
    non_repeating_options=(--text --queue --config)
    __segget_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--state')
        __segget_add_completions -W 'waiting'$'\n''running'$'\n''retrying'$'\n''waiting_for_network'$'\n''verifying'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion list -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--text')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_show() {
    repeating_flags=()
    non_repeating_flags=(--json --link --files --mark-seen --watch --no-config --version -h --help)
    repeating_options=(--file-state)
    non_repeating_options=(--offset --limit --queue --config)
    __segget_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--file-state')
        __segget_add_completions -W 'complete'$'\n''active'$'\n''failed'$'\n''missing'
        return
        ;;
    '--offset')
        return
        ;;
    '--limit')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __segget_add_completions -W "$(__segget_custom_complete ---completion show -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_start() {
    repeating_flags=()
    non_repeating_flags=(--all --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion start -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion start -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_pause() {
    repeating_flags=()
    non_repeating_flags=(--all --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion pause -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion pause -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_resume() {
    repeating_flags=()
    non_repeating_flags=(--all --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion resume -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion resume -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_cancel() {
    repeating_flags=()
    non_repeating_flags=(--all --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion cancel -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion cancel -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_retry() {
    repeating_flags=()
    non_repeating_flags=(--all --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion retry -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion retry -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_remove() {
    repeating_flags=()
    non_repeating_flags=(--all --files --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion remove -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion remove -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_clear() {
    repeating_flags=()
    non_repeating_flags=(--no-config --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--state')
        __segget_add_completions -W 'completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_move() {
    repeating_flags=()
    non_repeating_flags=(--all --first --last --no-config --version -h --help)
    repeating_options=(--tag)
    non_repeating_options=(--at --queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion move -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--at')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion move -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_rename() {
    repeating_flags=()
    non_repeating_flags=(--no-config --version -h --help)
    repeating_options=()
    non_repeating_options=(--directory -d --queue --config)
    __segget_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--directory'|'-d')
        __segget_add_completions -d
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __segget_add_completions -W "$(__segget_custom_complete ---completion rename -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_set() {
    repeating_flags=()
    non_repeating_flags=(--all --no-config --version -h --help)
    repeating_options=(--tag --url -H --header --option)
    non_repeating_options=(-x --connections --limit-rate -u --user --retries --queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--tag')
        __segget_add_completions -W "$(__segget_custom_complete ---completion set -- --tag "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    '--url')
        return
        ;;
    '-x'|'--connections')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '--retries')
        return
        ;;
    '--option')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __segget_add_completions -W "$(__segget_custom_complete ---completion set -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_tag() {
    repeating_flags=()
    non_repeating_flags=(--no-config --version -h --help)
    repeating_options=()
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __segget_add_completions -W "$(__segget_custom_complete ---completion tag -- positional@0 "${COMP_CWORD}" "$(__segget_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_segget_settings() {
    repeating_flags=()
    non_repeating_flags=(--json --no-config --version -h --help)
    repeating_options=(--rule)
    non_repeating_options=(--max-running --limit-rate --max-requests --limit-schedule --metered --queue --config)
    __segget_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--max-running')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--max-requests')
        return
        ;;
    '--limit-schedule')
        return
        ;;
    '--rule')
        return
        ;;
    '--metered')
        __segget_add_completions -W 'auto'$'\n''yes'$'\n''no'
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_run() {
    repeating_flags=()
    non_repeating_flags=(--keep-running --quiet -q --no-inhibit --no-config --version -h --help)
    repeating_options=()
    non_repeating_options=(--on-complete --on-error --on-idle --queue --config)
    __segget_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--on-complete')
        return
        ;;
    '--on-error')
        return
        ;;
    '--on-idle')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_serve() {
    repeating_flags=()
    non_repeating_flags=(--detach --no-inhibit --show-secret --ping --rpc-no-secret --no-config --version -h --help)
    repeating_options=(--rpc-allow-origin --allow-host --allow-dir)
    non_repeating_options=(--nice --io-priority --pid-file --log-file --on-complete --on-error --on-idle --rpc --web --ui --directory -d --deny-private --queue --config)
    __segget_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--nice')
        return
        ;;
    '--io-priority')
        __segget_add_completions -W 'normal'$'\n''idle'
        return
        ;;
    '--pid-file')
        __segget_add_completions -f
        return
        ;;
    '--log-file')
        __segget_add_completions -f
        return
        ;;
    '--on-complete')
        return
        ;;
    '--on-error')
        return
        ;;
    '--on-idle')
        return
        ;;
    '--rpc')
        return
        ;;
    '--web')
        return
        ;;
    '--ui')
        __segget_add_completions -d
        return
        ;;
    '--rpc-allow-origin')
        return
        ;;
    '--allow-host')
        return
        ;;
    '--directory'|'-d')
        __segget_add_completions -d
        return
        ;;
    '--allow-dir')
        __segget_add_completions -d
        return
        ;;
    '--deny-private')
        return
        ;;
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_open() {
    repeating_flags=()
    non_repeating_flags=(--no-browser --no-config --version -h --help)
    repeating_options=()
    non_repeating_options=(--queue --config)
    __segget_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--queue')
        __segget_add_completions -o plusdirs -fX '!*.@(sqlite)'
        return
        ;;
    '--config')
        __segget_add_completions -f
        return
        ;;
    esac
}

_segget_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __segget_offer_flags_options -1
    COMPREPLY+=($(compgen -W 'get plan probe verify repair status fleet bench add attach list show start pause resume cancel retry remove clear move rename set tag settings run serve open options resuming files existing-files names several-files data-sets hugging-face-hub mirrors enqueue standard-output limits network access proxies-and-addresses tls scripts configuration display queue exit-codes' -- "${cur}"))
}

# `segget OPTION` is short for `segget get OPTION`.
_segget_short() {
    case "${COMP_WORDS[1]}" in
    get|plan|probe|verify|repair|status|fleet|bench|add|attach|list|show|start|pause|resume|cancel|retry|remove|clear|move|rename|set|tag|settings|run|serve|open|options|help) ;;
    *)
        if [[ "${COMP_CWORD}" -gt 1 || "${COMP_WORDS[1]}" = -* ]]; then
            COMP_WORDS=("${COMP_WORDS[0]}" get "${COMP_WORDS[@]:1}")
            COMP_CWORD="$((COMP_CWORD + 1))"
        fi
        ;;
    esac
    _segget "${@}"
}

complete -o filenames -F _segget_short segget
