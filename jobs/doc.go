// Package jobs is the vocabulary of outside calls. A job is one call of a router, a provider or a mail server: its
// arguments are a [commands.Job], and a [Cause] says why it exists. A worker (jobs/<area>) makes the call and reports
// the outcome as a command; package jobrunner is the queue.
//
// # How a worker uses its cause
//
//	func (w *Workers) RebootDevice(ctx context.Context, args commands.RebootDevice, cause jobs.Cause) error {
//		err := w.call(ctx, args) // through the target's breaker
//		...
//		_, err = w.bus.Execute(ctx, outcome, cause.Meta(outcome.CommandName()))
//		return err
//	}
//
// # Guarantees
//
// A job is delivered at least once: after a crash, or an attempt that failed, the same job comes again with the same
// [Cause].JobID. [Cause.Meta] derives the outcome's command id from it, so the outcome acts once. The call itself may
// be repeated; where a repeat would hurt, the worker records the attempt before it calls, and a successor that finds
// such a record asks instead of calling again: docs/rules/engine.md#doubt.
//
// # Limits
//
// Arguments and causes are rows that are kept for days, so they hold ids only: never phones, codes or texts. A worker
// has no business branch: it loads what the call needs, calls, reports. What follows is decided by the aggregate, or by
// a process that handles the outcome's event.
//
// Read on: docs/rules/engine.md#jobs.
package jobs
