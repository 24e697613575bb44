/// The recent processor usage of a thread.
package struct ThreadLoad {
    /// The smoothed fraction of time in which the thread used a processor, from 0 to 1.
    package private(set) var share = 0.0
    /// The thread's processor time at the last measurement, in seconds.
    private var busy = 0.0
    /// The monotonic time of the last measurement, in seconds.
    private var lastLook = 0.0

    /// Measures the calling thread; called about every 100 ms.
    package mutating func measure(now: Double) {
        let used = threadSeconds()
        let elapsed = now - lastLook
        if lastLook > 0, elapsed > 0 { share = 0.5 * share + 0.5 * (used - busy) / elapsed }
        (busy, lastLook) = (used, now)
    }
}
