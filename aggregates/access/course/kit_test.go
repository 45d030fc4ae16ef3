package course_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// zone loads a time zone that must exist.
func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// local reads "2026-03-02 10:15" in a zone.
func local(t testing.TB, text string, z *time.Location) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", text, z)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

// date reads YYYY-MM-DD.
func date(t testing.TB, text string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// told writes steps in local time, such as "2026-03-05 00:00 walled_garden grace_over".
func told(steps []course.Step, z *time.Location) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.At.In(z).Format("2006-01-02 15:04")+" "+string(s.State)+" "+string(s.Reason))
	}
	return out
}

// reminded writes reminders in local time.
func reminded(list []course.Reminder, z *time.Location) []string {
	out := []string{}
	for _, r := range list {
		out = append(out, r.At.In(z).Format("2006-01-02 15:04"))
	}
	return out
}

// example is one row: facts in local time, and the course that follows.
type example struct {
	zone     string // "" = Africa/Nairobi
	policy   func(*events.DunningPolicy)
	holidays []string
	// owed lists facts as {at, paid until} for prepaid; an empty second text = nothing is owed.
	prepaid [][2]string
	// debts lists facts for postpaid: at, then pairs of due date and amount in shillings.
	postpaid []debts
	pauses   [][2]string
	entered  map[events.DunningState]string
	late     string
	short    bool
	want     []string
	reminded []string // nil = not compared
}

// debts are the open documents from an instant on.
type debts struct {
	at   string
	open map[string]int64
}

// history converts the facts of an example.
func (e example) history(t *testing.T, z *time.Location) course.History {
	t.Helper()
	var h course.History
	for _, f := range e.prepaid {
		o := course.Owed{At: local(t, f[0], z)}
		if f[1] != "" {
			o.PaidUntil = local(t, f[1], z)
		}
		h.Owed = append(h.Owed, o)
	}
	for _, f := range e.postpaid {
		o := course.Owed{At: local(t, f.at, z)}
		for due, amount := range f.open {
			o.Debts = append(o.Debts, course.Debt{DueOn: date(t, due), Amount: money.Major(amount, money.KES)})
		}
		h.Owed = append(h.Owed, o)
	}
	for _, p := range e.pauses {
		pause := course.Pause{From: local(t, p[0], z)}
		if p[1] != "" {
			pause.Until = local(t, p[1], z)
		}
		h.Pauses = append(h.Pauses, pause)
	}
	for _, s := range []events.DunningState{
		events.DunningWalledGarden, events.DunningSuspended, events.DunningWrittenOff,
	} {
		if at, ok := e.entered[s]; ok {
			h.Entered = append(h.Entered, course.Entered{State: s, At: local(t, at, z)})
		}
	}
	if e.late != "" {
		h.Late = local(t, e.late, z)
	}
	return h
}

// check compares the course of an example.
func (e example) check(t *testing.T) {
	t.Helper()
	if e.zone == "" {
		e.zone = "Africa/Nairobi"
	}
	z := zone(t, e.zone)
	p := access.DefaultDunningPolicy(money.KES)
	p.WriteOffDays = 3650
	if e.policy != nil {
		e.policy(&p)
	}
	var holidays []calendar.Date
	for _, h := range e.holidays {
		holidays = append(holidays, date(t, h))
	}
	rules := course.NewRules(p, z, holidays)
	if e.short {
		rules = rules.WithoutGrace()
	}
	c := course.Of(rules, e.history(t, z))
	steps := c.Steps
	if n := len(steps); n > 0 && steps[n-1].State == events.DunningWrittenOff && p.WriteOffDays == 3650 {
		steps = steps[:n-1]
	}
	if diff := cmp.Diff(e.want, told(steps, z)); diff != "" {
		t.Errorf("steps: -want +got\n%s", diff)
	}
	if e.reminded != nil {
		if diff := cmp.Diff(e.reminded, reminded(c.Reminders, z)); diff != "" {
			t.Errorf("reminders: -want +got\n%s", diff)
		}
	}
}

// quick takes reminders out of a policy, so that only the due instant counts.
func quick(p *events.DunningPolicy) { p.ReminderDays = nil }

// checkAll runs examples by their names.
func checkAll(t *testing.T, list map[string]example) {
	t.Helper()
	for name, e := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.check(t)
		})
	}
}
