// Package processmanagers is the vocabulary of reactions over time: what goes into a process and what comes out. A
// process waits for events of several aggregates, remembers what it needs in a state, and wants things done: commands,
// jobs (outside calls), timers. Each process is a package of pure functions in processmanagers/<area>/<process>;
// package processrunner drives them.
//
// # Words
//
//   - [Process] is one kind of reaction: its name, the events it takes ([Handled], made by [On]), Decide and Evolve.
//   - An instance is one run of it, named by a key: a payment, a session, a router. It has a state of its own, whose
//     zero value is a new instance.
//   - [Input] is what happened to an instance: an event, a [Timeout] that came due, or the [Refusal] of a command that
//     it had wanted.
//   - [Output] is what it wants done: commands, jobs, and timers to arm or disarm ([Timer]).
//
// # How an input is taken
//
// The runner finds the instance by the key, calls Decide with the state before the input, then Evolve for the state
// after it, and writes state and output in one transaction. Decide and Evolve are pure: no clock, no gateway, no query.
// All that they know comes from the events, and now is given. So a process can be tested without any engine (package
// processtest), and its state can be derived from the log again at any time.
//
// # Rules for writing one
//
//   - Name is durable: it keys the checkpoint, and command ids derive from it. Never rename a process.
//   - Every wait has a timer. A timeout is an input like an event: decide what it means.
//   - A refusal is an input too: a command that is refused for good is told once, with its failure code.
//   - An error of Decide or Evolve stops the whole process, visibly. Return one only for what must not happen.
//   - Commands and states are stored as rows, so they hold no personal text.
//   - Ended frees the row and the timers of an instance that needs nothing more.
//
// # Read on
//
// Guarantees at crashes and races: package processrunner, docs/rules/engine.md#process-runner and ADR 0004. How to add
// a process: docs/development.md.
package processmanagers
