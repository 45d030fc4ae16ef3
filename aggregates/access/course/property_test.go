package course_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// begin is the first instant of random histories: three weeks before a change to summer time in Berlin.
var begin = time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC)

// world is a random policy with a random history.
type world struct {
	policy   events.DunningPolicy
	zone     *time.Location
	holidays []calendar.Date
	history  course.History
	prepaid  bool
}

// rules prepares the policy.
func (w world) rules() course.Rules { return course.NewRules(w.policy, w.zone, w.holidays) }

// hours draws an instant within some days.
func hours(t *rapid.T, days int, name string) time.Time {
	return begin.Add(time.Duration(rapid.IntRange(0, days*24).Draw(t, name)) * time.Hour)
}

// draw makes a world of 120 days.
func draw(t *rapid.T) world {
	p := access.DefaultDunningPolicy(money.KES)
	p.GraceDays = rapid.IntRange(0, 6).Draw(t, "grace")
	p.WalledGardenDays = rapid.IntRange(0, 6).Draw(t, "walled garden")
	p.WriteOffDays = rapid.IntRange(0, 40).Draw(t, "write-off")
	p.ReminderDays = rapid.SliceOfNDistinct(rapid.IntRange(-8, 8), 0, 4, rapid.ID).Draw(t, "reminders")
	slices.Sort(p.ReminderDays)
	p.NoCutAfter = map[events.Weekday]calendar.TimeOfDay{
		"friday": calendar.TimeOfDay(60 * rapid.IntRange(0, 23).Draw(t, "friday")),
	}
	zone, err := time.LoadLocation(rapid.SampledFrom([]string{"Africa/Nairobi", "Europe/Berlin"}).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	w := world{policy: p, zone: zone, prepaid: rapid.Bool().Draw(t, "prepaid")}
	for range rapid.IntRange(0, 4).Draw(t, "holidays") {
		w.holidays = append(w.holidays, calendar.On(hours(t, 120, "holiday"), zone))
	}
	for range rapid.IntRange(1, 6).Draw(t, "facts") {
		w.history.Owed = append(w.history.Owed, w.owed(t))
	}
	slices.SortStableFunc(w.history.Owed, func(a, b course.Owed) int { return a.At.Compare(b.At) })
	for range rapid.IntRange(0, 3).Draw(t, "pauses") {
		from := hours(t, 100, "from")
		w.history.Pauses = append(w.history.Pauses, course.Pause{
			From: from, Until: from.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "length")) * time.Hour),
		})
	}
	return w
}

// owed draws what is owed from an instant on.
func (w world) owed(t *rapid.T) course.Owed {
	o := course.Owed{At: hours(t, 100, "at")}
	if w.prepaid {
		if rapid.IntRange(0, 4).Draw(t, "paused") > 0 {
			o.PaidUntil = o.At.Add(time.Duration(rapid.IntRange(-200, 400).Draw(t, "paid")) * time.Hour)
		}
		return o
	}
	for range rapid.IntRange(0, 3).Draw(t, "debts") {
		o.Debts = append(o.Debts, course.Debt{
			DueOn:  calendar.On(o.At, w.zone).AddDays(rapid.IntRange(-20, 15).Draw(t, "due")),
			Amount: money.Major(int64(rapid.IntRange(0, 80).Draw(t, "amount")), money.KES),
		})
	}
	return o
}

// holds gives the fact that holds at an instant.
func (w world) holds(at time.Time) (o course.Owed) {
	for _, f := range w.history.Owed {
		if !f.At.After(at) {
			o = f
		}
	}
	return o
}

func TestCourse_NobodyWhoIsPaidUpIsEverCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		r := w.rules()
		c := course.Of(r, w.history)
		var instants []time.Time
		for _, o := range w.history.Owed {
			instants = append(instants, o.At)
		}
		for _, s := range c.Steps {
			instants = append(instants, s.At)
		}
		for _, at := range instants {
			s, o := c.At(at), w.holds(at)
			if !s.State.Cut() {
				continue
			}
			overdue := r.Overdue(o, at)
			paid := o.PaidUntil.IsZero() || at.Before(o.PaidUntil)
			if w.prepaid && paid || !w.prepaid && (overdue.Minor == 0 || overdue.Cmp(w.policy.MinimumDue) < 0) {
				t.Fatalf("%v: %+v although %+v is owed", at, s, o)
			}
		}
	})
}

func TestCourse_CutsAreAllowedWhenTheyHappenAndNeverInAPause(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		r := w.rules()
		before := events.DunningNone
		for _, s := range course.Of(r, w.history).Steps {
			loses := s.State.Cut() && !before.Off() && s.Reason != course.ReasonOwedChanged
			before = s.State
			if !loses {
				continue
			}
			if !r.MayCut(s.At).Equal(s.At) {
				t.Fatalf("%+v at a time without cuts, after %s", s, before)
			}
			for _, p := range w.history.Pauses {
				if !s.At.Before(p.From) && s.At.Before(p.Until) {
					t.Fatalf("%+v in pause %+v", s, p)
				}
			}
		}
	})
}

func TestCourse_MoreGraceNeverCutsEarlier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		strict := course.Of(w.rules(), w.history)
		mild := w
		mild.policy.GraceDays += rapid.IntRange(1, 5).Draw(t, "more grace")
		mild.policy.WalledGardenDays += rapid.IntRange(0, 5).Draw(t, "longer walled garden")
		for _, s := range course.Of(mild.rules(), mild.history).Steps {
			if s.State.Cut() && s.State.Rank() > strict.At(s.At).State.Rank() {
				t.Fatalf("%+v, but %+v with less grace", s, strict.At(s.At))
			}
		}
	})
}

func TestCourse_AHoldMovesTheCutByItsLength(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		w.policy.GraceDays, w.policy.WalledGardenDays = rapid.IntRange(1, 9).Draw(t, "grace days"), 1
		due := hours(t, 50, "due")
		w.history = course.History{Owed: []course.Owed{{At: begin.AddDate(0, -1, 0), PaidUntil: due}}}
		r := w.rules()
		free := cut(t, course.Of(r, w.history))
		span := free.Planned.Sub(due)
		from := due.Add(time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "from")))
		long := time.Duration(rapid.IntRange(1, 500).Draw(t, "hours")) * time.Hour
		w.history.Pauses = []course.Pause{{From: from, Until: from.Add(long)}}
		if held, want := cut(t, course.Of(r, w.history)), r.MayCut(free.Planned.Add(long)); !held.At.Equal(want) {
			t.Fatalf("without the hold %v, with %v from %v: want %v, have %v", free.At, long, from, want, held.At)
		}
	})
}

// cut is the step by which access is lost.
func cut(t *rapid.T, c course.Course) course.Step {
	for _, s := range c.Steps {
		if s.State.Cut() {
			return s
		}
	}
	t.Fatalf("no cut in %+v", c)
	return course.Step{}
}

// undoNone keeps what a review has found, and checks that rules undo no cut that spare customers for long, in another
// zone where the debt is due, too.
func (w world) undoNone(t *rapid.T, h *course.History, state events.DunningState) {
	h.Found = course.Owed{}
	if !state.Cut() {
		return
	}
	h.Found, h.FoundMinimum = h.Owed[len(h.Owed)-1], w.policy.MinimumDue
	zone, err := time.LoadLocation("America/Bogota")
	if err != nil {
		t.Fatal(err)
	}
	due := course.Of(w.rules(), *h).DueAt
	w.policy.GraceDays, w.policy.WalledGardenDays, w.policy.WriteOffDays, w.zone = 200, 200, 600, zone
	if len(h.Pauses) > 0 || !h.Late.After(due.AddDate(0, 0, 1)) {
		return
	}
	if changed := course.Of(w.rules(), *h).At(h.Late); changed.State != state {
		t.Fatalf("%s becomes %s by another policy in %+v", state, changed.State, h)
	}
}

// live follows a history as a process does: it knows what has happened so far, acts when a step is due, and records
// its acts. A pause is known without its end until it ends, when open says so. It acts with a lag after each event,
// and just before that by what it knew before the event. seen is told each state with its instant.
func (w world) live(t *rapid.T, open bool, lag time.Duration, seen func(time.Time, events.DunningState)) {
	state := events.DunningNone
	h := course.History{}
	r := w.rules()
	act := func(now time.Time) {
		h.Late = now
		c := course.Of(r, h)
		if !slices.IsSortedFunc(c.Steps, func(a, b course.Step) int { return a.At.Compare(b.At) }) {
			t.Fatalf("the steps do not ascend: %+v of %+v", c.Steps, h)
		}
		next, _ := c.Next(now)
		if s := c.At(now); s.State != state {
			state = s.State
			h.Entered = course.Enter(h.Entered, course.Entered{State: s.State, At: now, DueAt: s.DueAt})
			if later, _ := course.Of(r, h).Next(now); later != next {
				t.Fatalf("%+v comes next, and %+v after %s is recorded in %+v", next, later, state, h)
			}
		}
		w.undoNone(t, &h, state)
		h.Late = now.Add(time.Millisecond)
		if again, _ := course.Of(r, h).Next(h.Late); !again.At.Equal(next.At) && next.At.After(h.Late) {
			t.Fatalf("%+v comes next, and %+v a moment later, after %s in %+v", next, again, state, h)
		}
		h.Late = now
		seen(now, state)
	}
	timers := func(until time.Time) {
		for next, ok := course.Of(r, h).Next(h.Late); ok; next, ok = course.Of(r, h).Next(h.Late) {
			if !until.IsZero() && !next.At.Before(until) {
				return
			}
			act(next.At)
		}
	}
	for _, now := range w.instants() {
		timers(now)
		if lag > 0 {
			act(now.Add(lag / 2))
		}
		h.Owed, h.Pauses = nil, nil
		for _, o := range w.history.Owed {
			if !o.At.After(now) {
				h.Owed = append(h.Owed, o)
			}
		}
		for _, p := range w.history.Pauses {
			if !p.From.Before(p.Until) || p.From.After(now) {
				continue
			}
			if open && p.Until.After(now) {
				p.Until = time.Time{}
			}
			h.Pauses = append(h.Pauses, p)
		}
		act(now.Add(lag))
	}
	timers(time.Time{})
}

// instants lists when something happens from outside, ascending.
func (w world) instants() []time.Time {
	var all []time.Time
	for _, o := range w.history.Owed {
		all = append(all, o.At)
	}
	for _, p := range w.history.Pauses {
		all = append(all, p.From, p.Until)
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

func TestCourse_StepByStepIsTheSameAsAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		var want, got []course.Step
		for _, s := range course.Of(w.rules(), w.history).Steps {
			want = append(want, course.Step{At: s.At, State: s.State})
		}
		before := events.DunningNone
		w.live(t, rapid.Bool().Draw(t, "open"), 0, func(at time.Time, state events.DunningState) {
			if state != before {
				got = append(got, course.Step{At: at, State: state})
			}
			before = state
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-at once +step by step\n%s", diff)
		}
	})
}

// What was decided by older knowledge, a moment after a payment or a debt that came back, is put right: half an hour
// after each event, and after each step, the state is that of the course at once.
func TestCourse_WhatIsDecidedByOlderKnowledgeIsPutRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		course := course.Of(w.rules(), w.history)
		var last time.Time
		state := events.DunningNone
		check := func(at time.Time) {
			if want := course.At(at).State; want != state {
				t.Fatalf("%s at %v, want %s of %+v", state, at, want, course.Steps)
			}
		}
		w.live(t, false, 2*time.Second, func(at time.Time, now events.DunningState) {
			if half := last.Add(30 * time.Minute); !last.IsZero() && half.Before(at) {
				check(half)
			}
			last, state = at, now
		})
		check(last.Add(30 * time.Minute))
	})
}
