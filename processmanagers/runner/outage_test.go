package processrunner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// away is the answer of an office whose log is away.
func away(deliver) error { return failure.NewUnavailable("away", "", 0, nil) }

// insert inserts rows into one of the engine's tables.
func (b *bench) insert(t *testing.T, rest string) {
	t.Helper()
	_, err := b.db.Owner.Exec(t.Context(), `insert into `+b.db.Namespace.Schema("processes")+`.`+rest)
	if err != nil {
		t.Fatal(err)
	}
}

// count returns the number that a query on the engine's own tables gives.
func (b *bench) count(t testing.TB, sql string, args ...any) (n int) {
	t.Helper()
	sql = strings.ReplaceAll(sql, "{schema}", b.db.Namespace.Schema("processes"))
	if err := b.db.Owner.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPoison_CommandsOfAStoppedInstanceGoOnAfterARestart: a credit that waits for the log must not wait for a person,
// because a later event of the receipt is poison.
func TestPoison_CommandsOfAStoppedInstanceGoOnAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(away)
	first := b.start(t, "courier")
	taken(t, first, "courier", b.happen("p1", "deliver", "bad"))
	if n := b.rows(t, "commands"); n != 2 {
		t.Fatal(n)
	}
	first.Stop()
	b.office.setAnswer(nil)
	second := b.start(t, "courier")
	b.office.until(t, "both commands are executed", func() bool { return len(b.office.acts) == 2 })
	stopped(t, second, 1) // the instance
}

// TestPoison_ARefusalThatAStoppedInstanceCannotTakeWaitsForItsRetry: the command is held and not asked for again and
// again, and the instance hears of the refusal once it goes on.
func TestPoison_ARefusalThatAStoppedInstanceCannotTakeWaitsForItsRetry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(away)
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p1", "deliver", "bad"))
	stopped(t, r, 1)
	b.office.setAnswer(func(d deliver) error {
		if d.No == "p1" {
			return failure.NewConflict("nobody_home", "")
		}
		return nil
	})
	poll(t, "held", func() bool { return b.count(t, `select count(*) from {schema}.commands where held`) == 1 })
	if n := b.rows(t, "commands"); n != 2 {
		t.Errorf("%d commands, want the refused one and the one behind it", n)
	}
	b.forgive.Store(true)
	if err := r.Retry(t.Context(), "courier", "p1"); err != nil {
		t.Fatal(err)
	}
	poll(t, "heard", func() bool {
		return cmp.Equal(b.seen(t, "courier", "p1"),
			[]string{"deliver", "bad", "refusal nobody_home", "refusal nobody_home"})
	})
	stopped(t, r, 0)
}

// nagging asks for a delivery at each event and again at each minute after it.
func nagging() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "nagging",
		On:   []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(_ trip, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
			out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: "nag", At: now.Add(time.Minute)}}}
			cmd := deliver{"p1", "please"}
			if in.Event != nil {
				p, _ := in.Event.Event.(parcel)
				cmd.Why = p.What
			}
			out.Commands = []commands.Command{cmd}
			return out, nil
		},
		Evolve: func(s trip, _ processmanagers.Input) trip { return s },
	}
}

// TestTimer_AddsNoCommandThatWaitsAlready: an outage of a day must not leave a thousand repeats of one step behind.
func TestTimer_AddsNoCommandThatWaitsAlready(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(away)
	r := processrunner.New(processrunner.Config{
		Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, Bus: b.office, Jobs: b.office, Concurrency: 4,
	})
	r.Register(nagging())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	fire := func(times, want int) {
		t.Helper()
		for range times {
			b.clock.Advance(time.Minute)
			now := b.clock.Now()
			poll(t, "fired", func() bool {
				return b.count(t, `select count(*) from {schema}.timers where due_at > $1`, now) == 1
			})
		}
		if n := b.rows(t, "commands"); n != want {
			t.Errorf("%d commands wait, want %d", n, want)
		}
	}
	taken(t, r, "nagging", b.happen("p1", "please"))
	// the oldest may have acted already, so the one behind it is needed
	fire(5, 2)
	taken(t, r, "nagging", b.happen("p1", "slowly")) // something else in between: then a repeat is not the same
	fire(5, 4)
	b.office.setAnswer(nil)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 4 })
	for i, why := range []string{"please", "please", "slowly", "please"} {
		if b.office.acts[i].Cmd.Why != why {
			t.Errorf("number %d is %+v", i, b.office.acts[i].Cmd)
		}
	}
	poll(t, "done", func() bool { return b.rows(t, "commands") == 0 })
	b.clock.Advance(time.Minute) // nothing waits, so it asks again
	b.office.until(t, "asked again", func() bool { return len(b.office.acts) == 5 })
}

// TestLog_ShorterThanTheCheckpointNoTimerAndNoStoredCommandActs: both follow from events that the log has lost. Also
// after the log has grown beyond the checkpoint only a person lets the process go on.
func TestLog_ShorterThanTheCheckpointNoTimerAndNoStoredCommandActs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(away)
	first := b.start(t, "courier")
	b.happen("p1", "wait")
	taken(t, first, "courier", b.happen("p2", "deliver"))
	first.Stop()
	b.change(t, "processes", `set checkpoint = checkpoint + 1000`)
	b.office.setAnswer(nil)
	b.clock.Advance(2 * time.Hour)
	again := b.start(t, "courier")
	poll(t, "stopped", func() bool { return again.Status()[0].State == processrunner.StateStopped })
	b.office.mu.Lock()
	if len(b.office.acts)+len(b.office.jobs) != 0 || b.rows(t, "timers") != 1 || b.rows(t, "commands") != 2 {
		t.Errorf("it acted: %+v %+v", b.office.acts, b.office.jobs)
	}
	b.office.mu.Unlock()
	if err := again.Retry(t.Context(), "courier", ""); err != nil {
		t.Fatal(err)
	}
	poll(t, "the request is tried once", func() bool { return b.rows(t, "requests") == 0 })
	stopped(t, again, 1)
	again.Stop()

	for i := range 110 { // the positions of lost events have others now
		b.happen(fmt.Sprint("later ", i), "on")
	}
	third := b.start(t, "courier")
	poll(t, "stopped again", func() bool { return third.Status()[0].State == processrunner.StateStopped })
	if err := third.Retry(t.Context(), "courier", ""); err != nil { // a person who knows what was lost
		t.Fatal(err)
	}
	b.office.until(t, "acts", func() bool { return len(b.office.acts) == 2 && len(b.office.jobs) == 1 })
}

// TestRetry_OneInstanceWhoseEventCannotBeReadKeepsNobodyElseStopped: the others and the stopped commands go on.
func TestRetry_OneInstanceWhoseEventCannotBeReadKeepsNobodyElseStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(away)
	first := b.start(t, "courier")
	unread := b.happen("p1", "bad")
	b.happen("p2", "bad")
	taken(t, first, "courier", b.happen("p3", "deliver"))
	stopped(t, first, 2)
	first.Stop()
	b.change(t, "commands", `set stopped_at = $1, error = 'a fault', attempts = 20`, noon)
	b.log.Learn(unread, feed.Undecodable{Type: "test.Parcel.v1", Cause: errors.New("rubbish")})
	b.forgive.Store(true)
	b.office.setAnswer(nil)

	second := b.start(t, "courier")
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	poll(t, "the reason is shown", func() bool {
		list := stopped(t, second, 1)
		return list[0].Key == "p1" && strings.Contains(list[0].Error, "rubbish") && list[0].Waiting == 1
	})
	if got := b.seen(t, "courier", "p2"); !cmp.Equal(got, []string{"bad"}) {
		t.Errorf("p2 has seen %v", got)
	}
	if err := second.Retry(t.Context(), "courier", ""); err != nil {
		t.Fatal(err)
	}
	poll(t, "taken", func() bool { return b.rows(t, "requests") == 0 })
}

// TestRetry_OfAProcessThatTheProgramDoesNotHaveIsRefusedAndAnOldRequestDisappears: nobody would ever take it.
func TestRetry_OfAProcessThatTheProgramDoesNotHaveIsRefusedAndAnOldRequestDisappears(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t, "former").Stop()
	r := b.open(t, "courier")
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.insert(t, `requests (process, key) values ('former', '')`)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	poll(t, "deleted", func() bool { return b.rows(t, "requests") == 0 })
	if err := r.Retry(t.Context(), "former", ""); err == nil || !strings.Contains(err.Error(), "courier") {
		t.Errorf("got %v, want the names that there are", err)
	}
	if n := b.rows(t, "requests"); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// longLog is a log of events that are made when they are read, each of a size. It counts the bytes that were read.
type longLog struct {
	end  uint64
	size int
	read *atomic.Int64
}

// Head implements feed.Log.
func (l longLog) Head(context.Context) (uint64, error) { return l.end, nil }

// EventAt implements feed.Log.
func (l longLog) EventAt(context.Context, uint64) (id.Event, error) { return id.Event{}, nil }

// event is read, so its bytes count.
func (l longLog) event(position uint64) *events.Envelope {
	l.read.Add(int64(l.size))
	e := parcel{fmt.Sprint(position, strings.Repeat("x", l.size)), "ring"}
	return &events.Envelope{ID: id.New[id.Event](), Position: position, Type: e.EventType(), Meta: meta, Event: e}
}

// ReadAll implements feed.Log.
func (l longLog) ReadAll(
	_ context.Context, after uint64, limit int, _ []string,
) (page []events.Envelope, next uint64, err error) {
	for next = after; next < l.end && len(page) < limit; {
		next++
		page = append(page, *l.event(next))
	}
	return page, next, nil
}

// Follow implements feed.Log.
func (l longLog) Follow(_ context.Context, after uint64, _ eventstore.Mark, _ []string) feed.Cursor {
	return &longCursor{l, after}
}

// longCursor is the feed.Cursor of a longLog. For one goroutine.
type longCursor struct {
	log longLog
	at  uint64
}

// Next implements feed.Cursor.
func (c *longCursor) Next(ctx context.Context) (feed.Item, error) {
	if c.at >= c.log.end {
		<-ctx.Done()
		return feed.Item{}, ctx.Err()
	}
	c.at++
	return feed.Item{Event: c.log.event(c.at), Position: c.at, Size: c.log.size}, nil
}

// TestMemory_OfWhatProcessesReadAheadHasABoundInBytes: processes that were stopped while the log grew, as over a
// weekend. Nothing is taken here, so they read until they are full; the log is far larger.
func TestMemory_OfWhatProcessesReadAheadHasABoundInBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.mu.Lock()
	b.office.before = func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}
	b.office.mu.Unlock()
	const size = 100_000
	log := longLog{end: 10_000, size: size, read: &atomic.Int64{}} // a gigabyte
	r := processrunner.New(processrunner.Config{
		Feed: feedtest.Start(t, log), DB: b.db, Clock: b.clock, Bus: b.office, Jobs: b.office,
	})
	r.Register(courier("one", &b.forgive), courier("two", &b.forgive), courier("three", &b.forgive))
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.insert(t, `processes (name, live_from) values ('one', 0), ('two', 0), ('three', 0)`) // the log is no history
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	was := int64(-1)
	for was != log.read.Load() || was < size {
		was = log.read.Load()
		quiet := time.NewTimer(300 * time.Millisecond)
		select {
		case <-t.Context().Done():
		case <-quiet.C:
		}
	}
	// 64 MiB for all; each may have a little more and some pages of the reader beside it.
	if most := int64(64<<20 + 3*(2<<20+4*(4<<20+size))); was > most {
		t.Errorf("%d MB were read ahead, want at most %d", was>>20, most>>20)
	}
	t.Logf("%d MB were read ahead", was>>20)
}
