// Package messagingjobs has the jobs about messages to customers.
package messagingjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// queue keeps a run of many messages from delaying other work.
const queue = "messages"

// attempts lets a job be tried for months, at the pace of its back-off, because its process asks for it only once: the
// log may be away for a night. A message whose moment is over ends by itself.
const attempts = 30_000

// Workers do the jobs of the area. Every field is required. Safe for concurrent use.
type Workers struct {
	// Send makes one attempt. again is set when the message has to wait until then.
	Send func(ctx context.Context, args commands.SendMessage, cause jobs.Cause) (again time.Time, err error)
	// Run lists the messages about one part of the invoices of a billing run, and the job of the next part, nil when
	// there is none. again is set when that has to wait until then.
	Run func(ctx context.Context, args commands.TellRun) (
		list []commands.SendMessage, next *commands.TellRun, again time.Time, err error)
	// Report records what the provider reports about a message; found is false when there is no such message yet.
	Report func(ctx context.Context, args commands.TakeMessageReport, cause jobs.Cause) (found bool, err error)
	// Forget removes what is kept of a customer's messages.
	Forget func(ctx context.Context, subscriber id.Subscriber) error
	Locks  *postgres.DB
	Clock  clock.Clock
	Queue  *jobrunner.Runner
}

// lockRetry is the wait of a job while another one sends to the same customer.
const lockRetry = 250 * time.Millisecond

// Register makes the queue know the workers.
func (w Workers) Register() {
	jobrunner.AddWorker(w.Queue, w.send, jobrunner.Options{Queue: queue, MaxAttempts: attempts})
	jobrunner.AddWorker(w.Queue, w.wake, jobrunner.Options{MaxAttempts: attempts})
	jobrunner.AddWorker(w.Queue, w.run, jobrunner.Options{MaxAttempts: attempts})
	jobrunner.AddWorker(w.Queue, w.report, jobrunner.Options{Queue: queue, MaxAttempts: attempts})
	jobrunner.AddWorker(w.Queue, w.forget, jobrunner.Options{MaxAttempts: attempts})
}

// send makes one attempt, or waits for the hours in which messages go. Messages about the access and the debts of a
// customer go one after the other: what one says is looked at when no other one is on its way, so the last one that
// goes is true, and a debt is told once.
func (w Workers) send(ctx context.Context, args commands.SendMessage, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	if turn := args.Template.Turn(); turn != "" {
		lock, got, err := w.Locks.TryLock(ctx, "messages of "+turn+" "+args.SubscriberID.String())
		switch {
		case err != nil:
			return err
		case !got:
			return jobrunner.Snooze(lockRetry)
		}
		defer lock.Unlock()
	}
	again, err := w.Send(ctx, args, cause)
	if err == nil && !again.IsZero() {
		return jobrunner.Snooze(again.Sub(w.Clock.Now()))
	}
	return err
}

// wake has the messages of an organization look again whether they go. Those that wait for their hours, too, wait
// again.
func (w Workers) wake(ctx context.Context, args commands.WakeMessages, _ jobs.Cause) error {
	return jobrunner.Wake[commands.SendMessage](ctx, w.Queue, args.OrgID)
}

// run enqueues the messages about a part of the invoices of a billing run, and the next part. A repeat enqueues none
// twice.
func (w Workers) run(ctx context.Context, args commands.TellRun, cause jobs.Cause) error {
	list, next, again, err := w.Run(ctx, args)
	switch {
	case err != nil:
		return err
	case !again.IsZero():
		return jobrunner.Snooze(again.Sub(w.Clock.Now()))
	}
	follow := map[string]commands.Job{}
	for _, message := range list {
		follow[message.InvoiceID.String()] = message
	}
	if next != nil {
		follow["the next part"] = *next
	}
	cause.OrgID = args.OrgID
	return w.Queue.Follow(ctx, cause, follow)
}

// forget removes what is kept of a customer's messages.
func (w Workers) forget(ctx context.Context, args commands.ForgetMessages, _ jobs.Cause) error {
	return w.Forget(ctx, args.SubscriberID)
}

// A report can come before the record of its message: it waits for that reportWait each time, and reportKept in all.
const (
	reportWait = 15 * time.Second
	reportKept = time.Hour
)

// report records one report. One about a message that is not ours ends without a trace.
func (w Workers) report(ctx context.Context, args commands.TakeMessageReport, cause jobs.Cause) error {
	found, err := w.Report(ctx, args, cause)
	if err == nil && !found && w.Clock.Now().Before(args.At.Add(reportKept)) {
		return jobrunner.Snooze(reportWait)
	}
	return err
}
