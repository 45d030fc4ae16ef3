package course

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// History is everything about one subscription that its course depends on. The zero value owes nothing.
type History struct {
	Owed   []Owed  // ascending by At; of two with the same instant the later one holds
	Pauses []Pause // in any order; they may overlap
	// Entered are the states that take access away and are in force, as Enter keeps them. What began is not undone by
	// another policy. Empty when a policy is run against the past.
	Entered []Entered
	// Found has what the last review knew to be owed, when it found the states of Entered in force, and FoundMinimum
	// the minimum of its policy. By a higher one what is owed may lead to a younger debt, for which nobody was cut.
	Found        Owed
	FoundMinimum money.Amount
	// Late is the present instant for a program that acts: a state that should have begun earlier begins at the first
	// instant from here on at which it may. Zero when a policy is run against the past.
	Late time.Time
}

// Owed says what a subscription must pay from an instant on. Without PaidUntil and debts it is nothing.
type Owed struct {
	At time.Time
	// PaidUntil is the first instant that is not paid for; for prepaid only. Zero = postpaid, or not in service.
	PaidUntil time.Time
	// Debts are the unpaid parts of documents. For prepaid they are only shown: the paid time alone decides.
	Debts []Debt
}

// Debt is the part of a document that is not paid.
type Debt struct {
	DueOn  calendar.Date // local; it is overdue from the first instant of the next day
	Amount money.Amount
}

// Pause is a time [From, Until) in which the clock of dunning stands still. A zero Until = it has not ended yet.
type Pause struct {
	From  time.Time
	Until time.Time
}

// Entered records that a state really began, and has been in force since then. It proves the state for the debt that
// led to it, for that under which the last review found it in force, and for older ones; what is owed may have changed
// before At without the knowledge of who decided.
type Entered struct {
	State events.DunningState
	At    time.Time
	DueAt time.Time `json:",omitzero"` // the due instant that led to it; zero = recorded before this was kept
}

// Enter gives the states that are in force after a step into a state. A step that gives access back ends those beyond
// it: then its own state has been in force as long as they were, or longer. It does not change the list.
func Enter(list []Entered, step Entered) []Entered {
	var out []Entered
	for _, e := range append(slices.Clip(list), step) {
		if e.State.Rank() > step.State.Rank() {
			e.State = step.State
		}
		if e.State.Cut() && (len(out) == 0 || out[len(out)-1].State.Rank() < e.State.Rank()) {
			out = append(out, e)
		}
	}
	return out
}

// Reviewed gives the states that are in force after a review has found them so. What is dated later than the review is
// from when a clock was ahead, and counts from the review on. It does not change the list.
func Reviewed(list []Entered, at time.Time) []Entered {
	out := slices.Clone(list)
	for i := range out {
		if out[i].At.After(at) {
			out[i].At = at
		}
	}
	return out
}

// dueInstant is the instant at which a course begins; zero when nothing that is owed leads to one. For postpaid it is
// the instant at which the overdue amount reaches the minimum.
func (r Rules) dueInstant(o Owed) time.Time {
	if !o.PaidUntil.IsZero() {
		return o.PaidUntil
	}
	debts := o.Debts
	byDay := func(a, b Debt) int { return a.DueOn.Start(time.UTC).Compare(b.DueOn.Start(time.UTC)) }
	if len(debts) > 1 && !slices.IsSortedFunc(debts, byDay) {
		debts = slices.Clone(debts)
		slices.SortStableFunc(debts, byDay)
	}
	var sum int64
	for _, d := range debts {
		sum += max(d.Amount.Minor, 0)
		if sum > 0 && sum >= r.policy.MinimumDue.Minor {
			return d.DueOn.AddDays(1).Start(r.zone)
		}
	}
	return time.Time{}
}

// found is the due instant under which the last review found the states of a history in force; zero = none.
func (r Rules) found(h History) time.Time {
	r.policy.MinimumDue = h.FoundMinimum
	return r.dueInstant(h.Found)
}

// Overdue is the amount that is overdue at an instant, which is compared with the minimum. For prepaid it is everything
// that is not paid once the paid time is over.
func (r Rules) Overdue(o Owed, at time.Time) money.Amount {
	var sum money.Amount
	for _, d := range o.Debts {
		late := !at.Before(o.PaidUntil)
		if o.PaidUntil.IsZero() {
			late = !at.Before(d.DueOn.AddDays(1).Start(r.zone))
		}
		if late && d.Amount.Minor > 0 {
			sum = sum.Add(d.Amount)
		}
	}
	return sum
}

// merged sorts pauses, joins those that touch and drops empty ones. Only the last may be open.
func merged(pauses []Pause) []Pause {
	if len(pauses) == 0 {
		return nil
	}
	sorted := slices.Clone(pauses)
	slices.SortFunc(sorted, func(a, b Pause) int { return a.From.Compare(b.From) })
	var out []Pause
	for _, p := range sorted {
		if !p.Until.IsZero() && !p.From.Before(p.Until) {
			continue
		}
		last := len(out) - 1
		switch {
		case last < 0 || !out[last].Until.IsZero() && out[last].Until.Before(p.From):
			out = append(out, p)
		case !out[last].Until.IsZero() && (p.Until.IsZero() || out[last].Until.Before(p.Until)):
			out[last].Until = p.Until
		}
	}
	return out
}

// Fewer gives at most n pauses (n > 0) that say the same wherever it matters: pauses that touch become one, then those
// go that were over at the due instant, the oldest first, and at last the two with the shortest time between them
// become one, which lengthens the pause by that time. A zero due instant means that every pause may go.
func Fewer(pauses []Pause, n int, due time.Time) []Pause {
	if len(pauses) <= n {
		return pauses
	}
	out := merged(pauses)
	for len(out) > n && (due.IsZero() || !out[0].Until.IsZero() && !due.Before(out[0].Until)) {
		out = out[1:]
	}
	for len(out) > n {
		near := 1
		for i := 2; i < len(out); i++ {
			if out[i].From.Sub(out[i-1].Until) < out[near].From.Sub(out[near-1].Until) {
				near = i
			}
		}
		out[near-1].Until = out[near].Until
		out = slices.Delete(out, near, near+1)
	}
	return out
}

// covers reports whether an instant lies in one of the pauses.
func covers(pauses []Pause, at time.Time) bool {
	return slices.ContainsFunc(pauses, func(p Pause) bool {
		return !at.Before(p.From) && (p.Until.IsZero() || at.Before(p.Until))
	})
}
