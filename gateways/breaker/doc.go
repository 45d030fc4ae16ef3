// Package breaker guards the calls of every outside system. After repeated failures of one target its calls
// stop for a cool-down, so that a dead router or provider costs nothing, and is shown as unreachable until a probe
// succeeds.
//
// # Use
//
//	guard := breaker.New(breaker.Config{Clock: clock.System(), OnChange: announce}) // one for the program
//	err := guard.Do(ctx, "device", deviceID, func(ctx context.Context) error { ... })
//
// A target is a kind ("device", "provider") and a name; its breaker is made at the first call. There is nothing to
// start or stop. [Set.Ready] returns the refusal that Do would return, for work that should be refused before anything
// is recorded. [Set.States] lists all targets, [Set.Forget] drops one that no longer exists.
//
// # Phases
//
//	closed ──5 failures in a row──► open ──30 s──► half open ──the probe succeeds──► closed
//	                                 ▲                 │
//	                                 └──the probe fails: the cool-down doubles, 10 min at most
//
// A call under [Insist], of a person who wants to know, is a probe at any time, and its failure leaves the cool-down as
// it is.
//
// # What counts
//
// Every error of a call is a failure of its target (a transport error, a time-out, a 5xx, a panic), with three
// exceptions. The system's own answer, such as a 4xx or a body in its error form, proves that it works: the caller
// marks that error with [Answered], and it counts as a success. A call that its caller cancelled does not count. A call
// that ended in the caller's own queue, before anything was sent, says nothing about the target: the caller marks that
// error with [Unsent], and it does not count either.
//
// # Guarantees
//
//   - While a breaker is open, Do does not run the call. It returns at once with a failure of kind Unavailable, whose
//     RetryAfter is the time to the next probe.
//   - Race: of many callers after a cool-down one is the probe, the others are refused. The result of a call that began
//     in an earlier phase changes nothing.
//   - Changes of phase reach Config.OnChange in their order.
//   - Crash: the state is in memory. A program that starts has all breakers closed.
//
// # Limits
//
// Each program has its own breakers; replicas do not share them. Do does not repeat a call and sets no deadline: both
// are the caller's. A breaker that is recovering takes one call at a time.
//
// # Why it is our own
//
// The library sony/gobreaker reads the machine's time and cannot be given a clock, its cool-down has one length and
// cannot double, and it does not give the time of opening or the last error, which GET /platform/breakers shows.
//
// Read on: docs/rules/engine.md#breaker.
package breaker
