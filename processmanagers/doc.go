// Package processmanagers is the vocabulary of reactions over time: the inputs and outputs of a process. A process
// waits for events of several aggregates, remembers in a state what it needs, and asks for commands, jobs (outside
// calls) and timers. Each process is a package of pure functions in processmanagers/<area>/<process>; package
// processrunner drives them.
//
// # Words
//
//   - [Process] is one kind of reaction: its name, the events it takes ([Handled], made by [On]), Decide and Evolve.
//   - An instance is one run of a process, named by a key: a payment, a session, a router. Each instance has its own
//     state; the zero value is the state of a new instance.
//   - [Input] is an event of an instance, a [Timeout] that came due, or the [Refusal] of a command that the instance
//     asked for.
//   - [Output] has the commands and jobs to execute, and the timers to arm or disarm ([Timer]).
//
// # How an input is taken
//
// The runner finds the instance by the key, calls Decide with the state before the input, then Evolve for the state
// after it, and writes state and output in one transaction. Decide and Evolve are pure: no clock, no gateway, no query.
// All that they know comes from the events, and now is an argument. So a process can be tested without any engine
// (package processtest), and its state can be derived from the log again at any time.
//
// # Rules for writing one
//
//   - Name never changes: it keys the checkpoint, and ids of commands derive from it.
//   - Every wait has a timer. A timeout is an input like an event: decide what it means.
//   - A refusal is an input too: a command that can never succeed comes back once, with its failure code.
//   - An error of Decide, or a panic, stops the instance, visibly. Return one only for a state that must not happen.
//   - Commands and states are stored as rows, so they hold no personal text.
//   - Ended frees the row and the timers of an instance that waits for nothing more. List an event that may come after
//     the end by [Follow], or it begins a new instance that nothing ends.
//
// # Read on
//
// Guarantees at crashes and races: package processrunner, docs/rules/engine.md#process-runner and ADR 0004. How to add
// a process: docs/development.md.
package processmanagers
