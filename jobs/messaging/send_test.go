package messagingjobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
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
