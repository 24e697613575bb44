// Replaces two functions of libdispatch, so that idle processes do not wake each second.
//
// Swift's tasks run on libdispatch's threads. Once a task has run, libdispatch checks each second
// whether threads of its pools are blocked, and then adds threads. Releases link libdispatch
// statically, so that the functions below replace its own, and it counts no threads to check. No
// task of this program blocks while it waits for another one, so a pool needs no more threads than
// processors. A libdispatch without these functions ignores them.

/// Replaces libdispatch's function for a new thread of a pool.
@_cdecl("_dispatch_workq_worker_register")
func poolThreadBegins(_ pool: UnsafeRawPointer?) {}

/// Replaces libdispatch's function for a thread of a pool that ends.
@_cdecl("_dispatch_workq_worker_unregister")
func poolThreadEnds(_ pool: UnsafeRawPointer?) {}
