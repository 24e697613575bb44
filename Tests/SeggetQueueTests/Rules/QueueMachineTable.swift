/// The outcome of each stimulus for task 1, by situation; task 9 waits for the slot or has it.
///
/// An outcome lists the user's wish, the state, the download, the chore, whether the task restarts
/// in its slot, whether it has the first claim to the next one, and then the actions. `=` is no
/// change. `MachineSituation.whyNot` explains why other combinations are impossible.
let machineTable = """
    # run waiting none -
    start: run running on -, stop 9, begin 1
    pause: paused waiting none -
    resume retry restart due: =
    cancel: run cancelled none discard, chore 1
    remove: paused waiting none remove, chore 1
    rename: run waiting none move, chore 1

    # run waiting stopping -
    start: run running stopping - goes on, stop 9
    pause: paused waiting stopping -
    resume retry restart lost back verifying again progressed due: =
    cancel: run cancelled stopping discard
    remove: paused waiting stopping remove
    rename: run waiting stopping move
    completed: run completed none -
    stopped fails retries: run waiting none -

    # run waiting none move
    start: run running none move goes on, stop 9
    pause: paused waiting none move
    resume retry restart due: =
    choreDone: run waiting none -

    # run waiting stopping move
    start: run running stopping move goes on, stop 9
    pause: paused waiting stopping move
    resume retry restart lost back verifying again progressed due: =
    completed: run completed none move, chore 1
    stopped fails retries: run waiting none move, chore 1

    # run waiting none discard
    start: run running none discard goes on, stop 9
    pause: paused waiting none discard
    resume retry restart due: =
    choreDone: run waiting none -

    # run waiting stopping discard
    start: run running stopping discard goes on, stop 9
    pause: paused waiting stopping discard
    resume retry restart lost back verifying again progressed due: =
    completed: run completed none -
    stopped fails retries: run waiting none discard, chore 1

    # run running on -
    start resume retry back again progressed due: =
    pause: paused waiting stopping -, stop 1, begin 9
    cancel: run cancelled stopping discard, stop 1, begin 9
    remove: paused waiting stopping remove, stop 1, begin 9
    rename: run running stopping move goes on, stop 1
    restart: run running stopping - goes on, stop 1
    lost: run waiting_for_network on -, begin 9
    verifying: run verifying on -
    completed: run completed none -, begin 9
    stopped: run running on -, begin 1
    fails: run failed none -, begin 9
    retries: run retrying none -, begin 9

    # run running stopping -
    start resume retry restart lost back verifying again progressed due: =
    pause: paused waiting stopping -, begin 9
    cancel: run cancelled stopping discard, begin 9
    remove: paused waiting stopping remove, begin 9
    rename: run running stopping move goes on
    completed: run completed none -, begin 9
    stopped fails retries: run running on -, begin 1

    # run running stopping move
    start resume retry restart lost back verifying again progressed due: =
    pause: paused waiting stopping move, begin 9
    completed: run completed none move, chore 1, begin 9
    stopped fails retries: run running none move goes on, chore 1

    # run running none move
    start resume retry restart due: =
    pause: paused waiting none move, begin 9
    choreDone: run running on -, begin 1

    # run running stopping discard
    start resume retry restart lost back verifying again progressed due: =
    pause: paused waiting stopping discard
    completed: run completed none -
    stopped fails retries: run running none discard goes on, chore 1

    # run running none discard
    start resume retry restart due: =
    pause: paused waiting none discard
    choreDone: run running on -, begin 1

    # run verifying on -
    start resume retry back verifying progressed due: =
    pause: paused waiting stopping -, stop 1, begin 9
    cancel: run cancelled stopping discard, stop 1, begin 9
    remove: paused waiting stopping remove, stop 1, begin 9
    rename: run running stopping move goes on, stop 1
    restart: run running stopping - goes on, stop 1
    lost: run waiting_for_network on -, begin 9
    again: run running on -
    completed: run completed none -, begin 9
    stopped: run running on -, begin 1
    fails: run failed none -, begin 9
    retries: run retrying none -, begin 9

    # run retrying none -
    start: run running on -, stop 9, begin 1
    pause: paused waiting none -
    resume restart: =
    retry due: run waiting none -
    cancel: run cancelled none discard, chore 1
    remove: paused waiting none remove, chore 1
    rename: run retrying none move, chore 1

    # run retrying none move
    start: run running none move goes on, stop 9
    pause: paused waiting none move
    resume restart: =
    retry due: run waiting none move
    choreDone: run retrying none -

    # run waiting_for_network on -
    start resume retry lost due: =
    pause: paused waiting stopping -, stop 1
    cancel: run cancelled stopping discard, stop 1
    remove: paused waiting stopping remove, stop 1
    rename: run waiting_for_network stopping move, stop 1
    restart: run waiting_for_network stopping -, stop 1
    back: run waiting stopping - claims, stop 1
    completed: run completed none -
    stopped: run waiting none -
    fails: run failed none -
    retries: run retrying none -

    # run waiting_for_network stopping -
    start: run running stopping - goes on, stop 9
    pause: paused waiting stopping -
    resume restart lost due: =
    retry: run waiting stopping -
    cancel: run cancelled stopping discard
    remove: paused waiting stopping remove
    rename: run waiting_for_network stopping move
    back: run waiting stopping - claims, stop 3
    completed: run completed none -, stop 3
    stopped fails retries: run waiting_for_network none -

    # run waiting_for_network none -
    start: run running on -, stop 9, begin 1
    pause: paused waiting none -
    resume restart due: =
    retry: run waiting none -
    cancel: run cancelled none discard, chore 1
    remove: paused waiting none remove, chore 1
    rename: run waiting_for_network none move, chore 1

    # run waiting_for_network stopping move
    start: run running stopping move goes on, stop 9
    pause: paused waiting stopping move
    resume restart lost due: =
    retry: run waiting stopping move
    back: run waiting stopping move claims, stop 3
    completed: run completed none move, stop 3, chore 1
    stopped fails retries: run waiting_for_network none move, chore 1

    # run waiting_for_network none move
    start: run running none move goes on, stop 9
    pause: paused waiting none move
    resume restart due: =
    retry: run waiting none move
    choreDone: run waiting_for_network none -

    # run completed none -
    start pause resume retry cancel restart due: missing
    remove: run completed none remove, chore 1
    rename: run completed none move, chore 1

    # run completed none move
    start pause resume retry restart due: =
    choreDone: run completed none -

    # run completed none remove
    start pause resume retry restart due: =
    choreDone: missing

    # run failed none -
    start pause resume restart due: missing
    retry: run waiting none -
    cancel: run cancelled none discard, chore 1
    remove: run failed none remove, chore 1
    rename: run failed none move, chore 1

    # run failed none move
    start pause resume restart due: =
    retry: run waiting none move
    choreDone: run failed none -

    # run failed none remove
    start pause resume retry restart due: =
    choreDone: missing

    # run cancelled stopping discard
    start pause resume restart lost back verifying again progressed due: =
    retry: run waiting stopping discard
    completed: run completed none -
    stopped fails retries: run cancelled none discard, chore 1

    # run cancelled none discard
    start pause resume restart due: =
    retry: run waiting none discard
    choreDone: run cancelled none -

    # run cancelled none -
    start pause resume cancel restart due: missing
    retry: run waiting none -
    remove: run cancelled none remove, chore 1

    # run cancelled none remove
    start pause resume retry restart due: =
    choreDone: missing

    # paused waiting none -
    start: run running on -, stop 9, begin 1
    pause retry restart due: =
    resume: run waiting none -
    cancel: run cancelled none discard, chore 1
    remove: paused waiting none remove, chore 1
    rename: paused waiting none move, chore 1

    # paused waiting stopping -
    start: run running stopping - goes on, stop 9
    pause retry restart lost back verifying again progressed due: =
    resume: run waiting stopping -
    cancel: run cancelled stopping discard
    remove: paused waiting stopping remove
    rename: paused waiting stopping move
    completed: run completed none -
    stopped fails retries: paused waiting none -

    # paused waiting none move
    start: run running none move goes on, stop 9
    pause retry restart due: =
    resume: run waiting none move
    choreDone: paused waiting none -

    # paused waiting stopping move
    start: run running stopping move goes on, stop 9
    pause retry restart lost back verifying again progressed due: =
    resume: run waiting stopping move
    completed: run completed none move, chore 1
    stopped fails retries: paused waiting none move, chore 1

    # paused waiting none remove
    start pause resume retry restart due: =
    choreDone: missing

    # paused waiting stopping remove
    start pause resume retry restart lost back verifying again progressed due: =
    completed: run completed none remove, chore 1
    stopped fails retries: paused waiting none remove, chore 1

    # paused waiting none discard
    start: run running none discard goes on, stop 9
    pause retry restart due: =
    resume: run waiting none discard
    choreDone: paused waiting none -

    # paused waiting stopping discard
    start: run running stopping discard goes on, stop 9
    pause retry restart lost back verifying again progressed due: =
    resume: run waiting stopping discard
    completed: run completed none -
    stopped fails retries: paused waiting none discard, chore 1
    """
