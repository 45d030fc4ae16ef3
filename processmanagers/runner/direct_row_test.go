package processrunner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// ledger keeps the number and the words of all events of a parcel. An hour after the first one it asks for a delivery.
func ledger() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "ledger", On: []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(s trip, in processmanagers.Input, now time.Time) (out processmanagers.Output, _ error) {
			switch {
			case in.Timeout != nil:
				out.Commands = []commands.Command{deliver{s.Seen[0], "timer"}}
				out.Timers = []processmanagers.Timer{{Name: "look", At: now.Add(time.Hour)}}
			case len(s.Seen) == 0:
				out.Timers = []processmanagers.Timer{{Name: "look", At: now.Add(time.Hour)}}
			}
			return out, nil
		},
		Evolve: func(s trip, in processmanagers.Input) trip {
			if in.Event == nil {
				return s
			}
			p, _ := in.Event.Event.(parcel)
			if len(s.Seen) == 0 {
				s.Seen = []string{p.No}
			}
			s.Seen = append(slices.Clone(s.Seen), p.What)
			return s
		},
	}
}

// refuseOnce makes the next write of an instance fail with a code, as a database does that takes no writes for a
// moment.
func (b *bench) refuseOnce(t *testing.T, code string) {
	t.Helper()
	schema := b.db.Namespace.Schema("processes")
	if _, err := b.db.Owner.Exec(t.Context(), `create sequence `+schema+`.tries;
		create function `+schema+`.refuse_once() returns trigger language plpgsql as $$ begin
			if nextval('`+schema+`.tries') = 1 then raise exception 'no writes' using errcode = '`+code+`'; end if;
			return new;
		end $$;
		create trigger refuse_once before update on `+schema+`.instances for each row
			execute function `+schema+`.refuse_once()`); err != nil {
		t.Fatal(err)
	}
}

// The row of an instance that was read for its timer serves the next event alone, also when that cannot be written.
func TestTimers_EventsOfTheirCommandsAreEachTakenOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.open(t)
	r.Register(ledger())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	var last uint64
	for n := range watched {
		last = b.happen(fmt.Sprint("p", n), "on")
	}
	taken(t, r, "ledger", last)
	b.refuseOnce(t, "25006")
	b.office.setAnswer(func(d deliver) error {
		b.happen(d.No, "sent", "signed", "seen")
		return nil
	})
	b.clock.Advance(time.Hour)
	for n := range watched {
		no := fmt.Sprint("p", n)
		poll(t, no+" has its events", func() bool { return len(b.seen(t, "ledger", no)) >= 5 })
		if diff := cmp.Diff([]string{no, "on", "sent", "signed", "seen"}, b.seen(t, "ledger", no)); diff != "" {
			t.Error(diff)
		}
	}
}
