// libdispatch, whose threads run Swift's tasks, looks each second whether threads of its pools are blocked, and adds
// others then: once a task has run, such a process wakes for ever. The two functions by which its threads are counted
// are these here where libdispatch is linked statically, as in releases; then nobody looks. No task of this program
// waits for another one by blocking, so a pool needs no more threads than there are processors. A libdispatch without
// these functions takes no notice.

/// Stands in for libdispatch's: a thread of a pool begins.
@_cdecl("_dispatch_workq_worker_register")
func poolThreadBegins(_ pool: UnsafeRawPointer?) {}

/// Stands in for libdispatch's: a thread of a pool ends.
@_cdecl("_dispatch_workq_worker_unregister")
func poolThreadEnds(_ pool: UnsafeRawPointer?) {}
