package processrunner_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// twins arms two timers of one instant for each parcel. A timeout asks for a delivery, and cannot be taken for the
// parcel p7.
func twins() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "twins", On: []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(s trip, in processmanagers.Input, _ time.Time) (out processmanagers.Output, _ error) {
			at := noon.Add(time.Hour)
			if in.Timeout == nil {
				out.Timers = []processmanagers.Timer{{Name: "a", At: at}, {Name: "b", At: at}}
				return out, nil
			}
			if slices.Contains(s.Seen, "p7") {
				return out, errors.New("no such parcel")
			}
			out.Commands = []commands.Command{deliver{s.Seen[0], in.Timeout.Name}}
			return out, nil
		},
		Evolve: func(s trip, in processmanagers.Input) trip {
			if in.Timeout == nil {
				s.Seen = []string{word(in)}
			}
			return s
		},
	}
}

// Timers of one instant fire together, those of one instance in turn; one that cannot be taken stops its instance
// alone.
func TestTimer_OfManyAtOnceOneThatCannotBeTakenStopsItsInstanceAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.open(t)
	r.Register(twins())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	const parcels = 130
	var last uint64
	for n := range parcels {
		no := fmt.Sprint("p", n)
		last = b.happen(no, no)
	}
	taken(t, r, "twins", last)
	b.clock.Advance(2 * time.Hour)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2*(parcels-1) })
	poll(t, "only the timers of the stopped instance are left", func() bool {
		return b.rows(t, "timers") == 2 && b.rows(t, "commands") == 0
	})
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	orders := map[string]string{}
	for _, a := range b.office.acts {
		orders[a.Cmd.No] += a.Cmd.Why
	}
	for no, order := range orders {
		if order != "ab" {
			t.Errorf("%s: %s", no, order)
		}
	}
}

// Events that come at the same time share transactions, each of another instance; one that cannot be taken stops its
// instance alone, and every instance takes its events in order.
func TestEvents_OfManyAtOnceOneThatCannotBeTakenStopsItsInstanceAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	const parcels = 150
	var last uint64
	for _, what := range []string{"on", "deliver", "wait"} {
		for n := range parcels {
			if what == "deliver" && n == 7 {
				what = "bad"
			}
			last = b.happen(fmt.Sprint("p", n), what)
			if what == "bad" {
				what = "deliver"
			}
		}
	}
	taken(t, r, "courier", last)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2*(parcels-1) })
	for n := range parcels {
		want := []string{"on", "deliver", "wait"}
		if n == 7 {
			want = want[:1]
		}
		if got := b.seen(t, "courier", fmt.Sprint("p", n)); !slices.Equal(got, want) {
			t.Errorf("p%d has taken %v", n, got)
		}
	}
	poll(t, "only the events of one instance are held", func() bool {
		return b.rows(t, "held") == 2 && b.rows(t, "commands") == 0 && b.rows(t, "timers") == parcels-1
	})
}
