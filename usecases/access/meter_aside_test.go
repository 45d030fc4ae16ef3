package accesscases_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// failures is a log that tells of each count that failed.
type failures chan struct{}

// Write tells of one line.
func (f failures) Write(text []byte) (int, error) {
	if strings.Contains(string(text), "usage not counted") {
		f <- struct{}{}
	}
	return len(text), nil
}

// unreadable ends the stream of the line's usage with an event that nobody can read.
func (l *line) unreadable() {
	l.t.Helper()
	at := l.clock.Now()
	if _, err := l.Store.Append(l.t.Context(), "usage-"+l.subscription.String(), eventstore.NoStream, []eventstore.New{{
		Event: events.CapReached{
			UsageSubject: events.UsageSubject{
				SubscriptionID: l.subscription, OrgID: l.org, SubscriberID: l.subscriber,
			},
			CapPeriod: events.CapPeriod{
				Period: "month", Starts: calendar.Date{Year: 2026, Month: 13, Day: 1}, ResetsAt: at.AddDate(0, 1, 0),
			},
			CapCount: events.CapCount{Allowed: 1, Used: 1, Then: events.CapStop}, At: at,
		},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.As[id.Any](l.subscription),
			OrgID: l.org, Actor: events.Actor{Kind: events.ActorOperator}, At: at,
		},
	}}); err != nil {
		l.t.Fatal(err)
	}
}

// soundLine is a line of another organization, with a cap that is soon reached.
func (l *line) soundLine() *line {
	l.t.Helper()
	sound := *l
	sound.org, sound.subscriber, sound.router = id.New[id.Organization](), id.New[id.Subscriber](), id.New[id.Device]()
	sound.Run(l.t, coretest.Operator(id.Organization{}), coretest.NewOrganization(sound.org, "beta"))
	sound.Run(l.t, coretest.Operator(sound.org), coretest.NewSubscriber(sound.subscriber, sound.org, 1))
	sound.subscription = sound.subscribe(events.Cap{Bytes: 1000, Period: "day", Then: events.CapStop})
	return &sound
}

// TestMeter_AStreamThatCannotBeReadHoldsUpNoOther: until the meter has come to the event in the log, it tries again
// after pauses that grow, and meanwhile the caps of all others are recorded at once.
func TestMeter_AStreamThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	faulty := newLine(t)
	sound := faulty.soundLine()
	log := make(failures, 100)
	m, filled := faulty.meterWith(slog.New(slog.NewTextHandler(log, nil)))
	running := make(failures, 100)
	started, behind := faulty.meterWith(slog.New(slog.NewTextHandler(running, nil)))
	filled.Stop()
	behind.Stop()
	faulty.unreadable()
	m.Take(faulty.uses("1", time.Minute, 2000))
	faulty.counts(m)
	m.Take(sound.uses("1", time.Minute, 2000))
	sound.counts(m)
	if s, _ := sound.recorded(); !s.Reached {
		t.Errorf("the cap of another organization is not recorded: %+v", s)
	}
	tried := func(after time.Duration, want int) {
		t.Helper()
		faulty.clock.Advance(after)
		m.Take(faulty.uses("1", time.Minute, 2000))
		faulty.counts(m)
		if len(log) != want {
			t.Errorf("tried %d times, want %d", len(log), want)
		}
	}
	tried(0, 1)
	tried(time.Second, 2)
	tried(time.Second, 2)
	tried(time.Second, 3)
	coretest.Start(t, "meter", started)
	<-running
	faulty.clock.Advance(time.Second)
	<-running // by itself
}

// TestMeter_LeavesTheOrganizationOfAnEventThatCannotBeRead: nothing of it is tried any more, and the caps of all others
// are recorded.
func TestMeter_LeavesTheOrganizationOfAnEventThatCannotBeRead(t *testing.T) {
	t.Parallel()
	faulty := newLine(t)
	sound := faulty.soundLine()
	log := make(failures, 100)
	m, filled := faulty.meterWith(slog.New(slog.NewTextHandler(log, nil)))
	faulty.unreadable()
	head, err := faulty.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for err = filled.WaitFor(t.Context(), head); errors.Is(err, runner.ErrBehind); { // a slow machine
		err = filled.WaitFor(t.Context(), head)
	}
	if err != nil || len(filled.Left()) != 1 {
		t.Fatalf("left %v, %v", filled.Left(), err)
	}
	m.Take(faulty.uses("1", time.Minute, 2000))
	m.Take(sound.uses("1", time.Minute, 2000))
	faulty.counts(m)
	if s, _ := sound.recorded(); !s.Reached || len(log) != 0 {
		t.Errorf("recorded %+v, tried %d times", s, len(log))
	}
}
