package messagingjobs_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/messaging"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// TestWorkers_GoOnUntilTheLogIsBack: an hour is longer than the usual attempts of a job. The message goes, and what is
// kept of a forgotten person is deleted.
func TestWorkers_GoOnUntilTheLogIsBack(t *testing.T) {
	t.Parallel()
	c, away := clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)), errors.New("the log does not answer")
	sends, forgets := 0, 0
	sent, forgotten := make(chan id.Any, 1), make(chan id.Subscriber, 1)
	db := pgtest.New(t)
	queue := jobrunner.New(jobrunner.Config{DB: db, Clock: c, Logger: storetest.Quiet()})
	messagingjobs.Workers{
		Send: func(_ context.Context, _ commands.SendMessage, cause jobs.Cause) (time.Time, error) {
			if sends++; sends <= 15 {
				return time.Time{}, away
			}
			sent <- cause.JobID
			return time.Time{}, nil
		},
		Forget: func(_ context.Context, who id.Subscriber) error {
			if forgets++; forgets <= 15 {
				return away
			}
			forgotten <- who
			return nil
		},
		Locks: db, Clock: c, Queue: queue,
	}.Register()
	coretest.Start(t, "queue", queue)
	message, who := id.New[id.Any](), id.New[id.Subscriber]()
	for which, job := range map[id.Any]commands.Job{
		message: commands.SendMessage{}, id.New[id.Any](): commands.ForgetMessages{SubscriberID: who},
	} {
		if err := queue.Insert(t.Context(), job, which, jobs.Cause{}, 0); err != nil {
			t.Fatal(err)
		}
	}
	late, pass := time.NewTimer(time.Minute), time.NewTicker(20*time.Millisecond)
	defer late.Stop()
	defer pass.Stop()
	for sent, forgotten := sent, forgotten; sent != nil || forgotten != nil; {
		select {
		case <-pass.C:
			c.Advance(time.Minute)
		case got := <-sent:
			if sent = nil; got != message {
				t.Error("an attempt has another id, so the message counts as another job's")
			}
		case got := <-forgotten:
			if forgotten = nil; got != who {
				t.Errorf("deleted %s", got)
			}
		case <-late.C:
			t.Fatalf("the message is sent: %v; what is kept is deleted: %v", sent == nil, forgotten == nil)
		}
	}
}

// TestSend_ACutAndItsEndGoOneAfterTheOther: the news of a cut is slow on its way, and that of its end does not overtake
// it. Those of another customer, and reminders, do not wait.
func TestSend_ACutAndItsEndGoOneAfterTheOther(t *testing.T) {
	t.Parallel()
	db, slow := pgtest.New(t), make(chan struct{})
	began, ended := make(chan commands.SendMessage, 8), make(chan commands.SendMessage, 8)
	queue := jobrunner.New(jobrunner.Config{DB: db, Logger: storetest.Quiet()})
	messagingjobs.Workers{
		Send: func(_ context.Context, args commands.SendMessage, _ jobs.Cause) (time.Time, error) {
			began <- args
			if args.Template == events.NoticeGarden {
				<-slow
			}
			ended <- args
			return time.Time{}, nil
		},
		Forget: func(context.Context, id.Subscriber) error { return nil },
		Locks:  db, Clock: clock.System(), Queue: queue,
	}.Register()
	coretest.Start(t, "queue", queue)
	one, other := id.New[id.Subscriber](), id.New[id.Subscriber]()
	insert := func(who id.Subscriber, about events.MessageTemplate) {
		t.Helper()
		job := commands.SendMessage{SubscriberID: who, Template: about}
		if err := queue.Insert(t.Context(), job, id.New[id.Any](), jobs.Cause{}, 0); err != nil {
			t.Fatal(err)
		}
	}
	insert(one, events.NoticeGarden)
	<-began
	insert(one, events.NoticeRestored)
	insert(one, events.ReminderDue)
	insert(other, events.NoticeRestored)
	for range 2 {
		if got := <-ended; got.SubscriberID == one && got.Template == events.NoticeRestored {
			t.Fatal("the end of the cut is told while the cut is being told")
		}
	}
	close(slow)
	for _, want := range []events.MessageTemplate{events.NoticeGarden, events.NoticeRestored} {
		if got := <-ended; got.Template != want {
			t.Errorf("told %s, want %s", got.Template, want)
		}
	}
}

// dueRun is a run of reminders that are due, beside which a receipt has to go.
type dueRun struct {
	db      *postgres.DB
	queue   *jobrunner.Runner
	org     id.Organization
	goes    atomic.Bool                 // messages go; else each is held for an hour
	waits   chan struct{}               // no attempt ends before it is closed
	started chan events.MessageTemplate // in the order in which attempts began
}

// newDueRun makes a queue with four places, of which one organization has three.
func newDueRun(t *testing.T) *dueRun {
	t.Helper()
	r := &dueRun{
		db: pgtest.New(t), org: id.New[id.Organization](), waits: make(chan struct{}),
		started: make(chan events.MessageTemplate, 5_000),
	}
	r.queue = jobrunner.New(jobrunner.Config{DB: r.db, Workers: 4, Logger: storetest.Quiet()})
	messagingjobs.Workers{Send: r.send, Locks: r.db, Clock: clock.System(), Queue: r.queue}.Register()
	coretest.Start(t, "queue", r.queue)
	return r
}

// send notes a message and holds it for an hour, or lets it go.
func (r *dueRun) send(ctx context.Context, args commands.SendMessage, _ jobs.Cause) (again time.Time, err error) {
	r.started <- args.Template
	select {
	case <-r.waits:
	case <-ctx.Done():
	}
	if !r.goes.Load() {
		again = clock.System().Now().Add(time.Hour)
	}
	return again, nil
}

// put enqueues so many messages, each to another customer.
func (r *dueRun) put(t *testing.T, n int, about events.MessageTemplate) {
	t.Helper()
	list := map[string]commands.Job{}
	for i := range n {
		list[strconv.Itoa(i)] = commands.SendMessage{
			OrgID: r.org, SubscriberID: id.New[id.Subscriber](), Template: about,
		}
	}
	if err := r.queue.Follow(t.Context(), jobs.Cause{JobID: id.New[id.Any](), OrgID: r.org}, list); err != nil {
		t.Fatal(err)
	}
}

// begun waits for the next attempts, and gives their templates.
func (r *dueRun) begun(n int) (list []events.MessageTemplate) {
	for range n {
		list = append(list, <-r.started)
	}
	return list
}

// held waits until so many messages are.
func (r *dueRun) held(t *testing.T, n int) {
	t.Helper()
	for held := 0; held < n; {
		if err := r.db.Owner.QueryRow(t.Context(), `select count(*) from `+r.db.Namespace.Schema("river")+
			`.river_job where state = 'scheduled'`).Scan(&held); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSend_WhoPaysDoesNotWaitForTheRun: a receipt, and what else has just happened to a customer, goes before the
// thousand reminders of the organization that are due.
func TestSend_WhoPaysDoesNotWaitForTheRun(t *testing.T) {
	t.Parallel()
	r := newDueRun(t)
	r.goes.Store(true)
	r.put(t, 1000, events.ReminderDue)
	r.begun(3) // the share of the organization
	soon := []events.MessageTemplate{
		events.NoticeReceipt, events.NoticeSupport, events.NoticeRestored, events.NoticeOutage, events.NoticeCapStopped,
	}
	for _, about := range soon {
		r.put(t, 1, about)
	}
	close(r.waits)
	next := r.begun(len(soon) + 3) // those that were taken together may begin in any order
	for _, about := range soon {
		if !slices.Contains(next, about) {
			t.Errorf("%s is not among the next: %v", about, next)
		}
	}
}

// TestSend_AfterTheReleaseTheReceiptGoesBeforeTheRun: it was held after the reminders.
func TestSend_AfterTheReleaseTheReceiptGoesBeforeTheRun(t *testing.T) {
	t.Parallel()
	const many = 200
	r := newDueRun(t)
	close(r.waits)
	r.put(t, many, events.ReminderDue)
	r.begun(many)
	r.put(t, 1, events.NoticeReceipt)
	r.begun(1)
	r.held(t, many+1)
	r.goes.Store(true)
	wake := commands.WakeMessages{OrgID: r.org}
	if err := r.queue.Insert(t.Context(), wake, id.New[id.Any](), jobs.Cause{OrgID: r.org}, 0); err != nil {
		t.Fatal(err)
	}
	if next := r.begun(3); !slices.Contains(next, events.NoticeReceipt) { // those that are taken together
		t.Errorf("after the release %v go first", next)
	}
}
