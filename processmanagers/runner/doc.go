// Package processrunner drives process managers: it gives them the events of the log in order, keeps their states,
// executes their commands until they are accepted or refused, enqueues their jobs and fires their timers. Package
// processmanagers explains the parts of a process.
//
// # Use
//
//	r := processrunner.New(processrunner.Config{Feed: f, DB: db, Clock: clock.System(), Bus: b, Jobs: queue})
//	r.Register(renewal.Process(), receipts.Process())
//	err := r.Start(ctx) // after the feed and the job queue
//	defer r.Stop()      // before them
//
// Start and Stop keep the contract of package internal/loop. [Runner.Status] shows the position of each process and the
// reason for which one stopped, [Runner.Troubles] the instances and commands that have stopped. [Runner.Retry] makes
// them try again. [Runner.Rebuild] derives the states of a process from the log anew. [Runner.WaitFor] waits until a
// process has taken all events up to a position; the commands that follow are executed after that.
//
// # Guarantees
//
//   - Crash: the effects of an input are written in one transaction: the new state, the commands, jobs and timers.
//     After a crash an input was taken wholly or not at all. Commands are rows until they are accepted or refused, so
//     none is lost. An effect is scheduled exactly once. Of many timers that only ask for commands these are executed
//     first; a timer stays due until they were accepted.
//   - Repeat: ids of commands and jobs derive from process, input and ordinal. A command that was executed right before
//     a crash is executed again with the same id, and the bus lets it act once. A job exists once.
//   - Brief instances: the first event of an instance that mostly ends with the next one waits a moment in memory for
//     that one. When both together leave nothing to be done, nothing of them is written.
//   - Order: instances run in parallel; each takes its inputs one after the other, in the order of the log, and its
//     commands are executed in the order in which the process returned them.
//   - Race: one program drives all processes of an installation, by an advisory lock. Another program takes over when
//     the first one ends. Each transaction checks the epoch of the term, so a program that lost the lock writes
//     nothing.
//   - Fairness: organizations have their turns, whatever number of events, timers and commands each has waiting. One
//     that hangs leaves a quarter of the places to the others.
//   - Outage: while the log, the database or the bus is away, inputs and commands wait and are tried again.
//   - Refusal: a command that fails for good becomes an input of the instance. One whose failure may pass is tried
//     again: without end while a part of the installation is away, else 20 times. Then it stops until [Runner.Retry].
//   - Poison: an input for which Decide or Evolve fails or panics stops its instance alone, visibly. Events of the
//     instance are held in order, and its commands go on. An event that cannot be read stops the process, because it
//     may be for any instance.
//   - Lost events: a process whose checkpoint lies beyond the end of the log does nothing at all, visibly, until a
//     person lets it go on.
//   - History: a process that is new in an installation takes the events from before its first start, and their
//     commands and jobs are suppressed. Otherwise customers would receive last year's messages again.
//
// # Limits
//
// An effect outside of the log is a job, never part of a process. A timer fires when the Config's clock has reached its
// time, also when that clock jumps. A rebuild needs all programs that drive processes to be stopped.
//
// # Read on
//
// The rules with their reasons: docs/rules/engine.md#processes-and-jobs. Why processes write their outputs: ADR 0004.
// How one reader of the log serves all processes: ADR 0011.
package processrunner
