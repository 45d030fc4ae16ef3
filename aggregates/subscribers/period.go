package subscribers

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PeriodState says what became of a period.
type PeriodState string

// The states of a period. A cancelled one never changes again.
const (
	PeriodDue       PeriodState = "due"
	PeriodPaid      PeriodState = "paid"
	PeriodWithdrawn PeriodState = "withdrawn" // its payment was taken back; it is due again
	PeriodCancelled PeriodState = "cancelled" // its invoice was voided, credited whole or written off
)

// Span is the half-open time [From, To), in UTC. The zero value is no time.
type Span struct {
	From, To time.Time
}

// IsZero reports whether the value is no time.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

// until is the length of the part before an instant; zero when the span ends before it begins.
func (s Span) until(at time.Time) time.Duration { return max(0, earliest(s.To, at).Sub(s.From)) }

// Period is one period of a subscription as a fact. Where it lies is computed by course.
type Period struct {
	Ordinal   int // 1 for the first
	InvoiceID id.Invoice
	// Mode and Unit are those of the terms under which the period became due. An unknown unit counts as a month.
	Mode  events.BillingMode
	Unit  calendar.Period
	State PeriodState
	// Price is that of a whole period of the plan, under which the days of this one are paid; zero = that of the
	// subscription's terms.
	Price money.Amount
	// Undone says that the period was cancelled by the undo of a billing run: no time passes for it.
	Undone bool
	// Used says that time of an undone prepaid period was given. A later period takes its place.
	Used bool
	// Retakes says that the prepaid period takes such a place: the first one that waits.
	Retakes bool
	// Begins is set when the period does not continue the one before it. A prepaid period gets it at its first payment
	// and keeps it when the payment is withdrawn, because later periods follow from there. A postpaid period always has
	// it. Zero = it continues.
	Begins time.Time
	// Anchor is the anniversary from Begins on; 0 = the local day of Begins.
	Anchor int
	// KeepsTime says that the period ends at the time of day of the anniversary. Otherwise it was recorded before that
	// was kept, and ends at the time of day of its own beginning.
	KeepsTime bool
	// BillingDay is the day of the month on which the period ends, 1 to 28; 0 = the anniversary. Gaps do not make it
	// end later: the days in them are credited instead.
	BillingDay int
	// Days is the length of a part of a period, in local days; 0 = a whole period. Of are the days of the whole one
	// where the part was bought by a partial payment; 0 = the part itself was invoiced.
	Days, Of int
	// Paused are the days of the period that pauses have given back, and Free those before its payments that were.
	Paused, Free int
	// Upgrades have the costs of changes of plan for its days, the oldest first.
	Upgrades []Upgrade
	// Fixed is the place of an old postpaid period that still waits for money while those around it are no longer kept.
	// Zero = the place is computed.
	Fixed Span
}

// open reports whether the period waits for money.
func (p Period) open() bool { return p.State == PeriodDue || p.State == PeriodWithdrawn }

// takesTime reports whether time passes for the period: for a prepaid one while it is paid, for a postpaid one unless
// it was undone.
func (p Period) takesTime() bool {
	return p.Mode == events.Postpaid && !p.Undone || p.State == PeriodPaid
}

// keepsPlace reports whether a period is there, or was dropped and has its place all the same.
func (p Period) keepsPlace() bool { return p.State != PeriodCancelled || p.takesTime() }

// Base has the effect of the periods that are no longer kept, or the time that was paid in another system. The zero
// value belongs to a subscription that keeps all and began here.
type Base struct {
	Ordinal int // of the last period that is not kept
	// From is where the time begins that was paid elsewhere, into which gaps and grants can still fall; zero = none.
	From      time.Time
	End       time.Time // the next period continues here
	Anchor    int       // anniversary at End, 1 to 31; 0 = the local day of the next beginning
	Begun     time.Time // from here the anniversary runs, and has its time of day; zero = not recorded
	PaidUntil time.Time // end of the last paid one among them
}

// Course is where the periods of a subscription lie, and what follows from it.
type Course struct {
	Places    []Span    // one for each kept period, in their order; the zero value for a period that takes no time
	PaidUntil time.Time // end of the last paid period, exclusive; zero without one
	End       time.Time // the next period continues here unless it begins anew; zero before the first
	Anchor    int       // anniversary at End; 0 before the first period
	Begun     time.Time // from here the anniversary runs, and has its time of day; zero = that of End
	// Waiting are the undone periods whose given time waits to be paid again, each by a later period. The place of the
	// first one begins at End.
	Waiting []Period
}

// Course computes where the periods lie, from the facts alone: base, periods and gaps. So the order in which payments
// came and went makes no difference. Source: docs/rules/subscribers.md#places-of-periods.
func (s Subscription) Course() Course {
	zone, c := s.zone(), s.base()
	c.Places = make([]Span, len(s.Periods))
	for i, p := range s.Periods {
		c.Places[i] = c.add(p, s.Gaps, s.Grants, zone)
	}
	return c
}

// base is the course before the first period that is kept.
func (s Subscription) base() Course {
	b := s.Base
	c := Course{PaidUntil: b.PaidUntil, End: b.End, Anchor: b.Anchor, Begun: b.Begun}
	if b.From.IsZero() {
		return c
	}
	if end := extended(Span{b.From, b.End}, s.Gaps, s.Grants, s.zone()); !end.Equal(b.End) {
		c.PaidUntil, c.End, c.Anchor, c.Begun = end, end, anchorAt(end, b.Anchor, s.zone()), end
	}
	return c
}

// elsewhere is the time here that was paid in another system, up to where it has come by gaps and grants. The zero
// value is no time.
func (s Subscription) elsewhere() Span {
	if s.Base.From.IsZero() {
		return Span{}
	}
	return Span{s.Base.From, s.base().End}
}

// PaidUntil is the end of the paid time, exclusive; zero without a paid period.
func (s Subscription) PaidUntil() time.Time { return s.Course().PaidUntil }

// add places the next period and returns its place. Gaps and grants inside make it end later. An end that is off the
// anniversary because of them begins a new one, so that the next period has its full length.
func (c *Course) add(p Period, gaps []Span, grants []Grant, zone *time.Location) Span {
	if !p.Fixed.IsZero() {
		if p.State == PeriodPaid {
			c.PaidUntil = latest(c.PaidUntil, p.Fixed.To)
		}
		return p.Fixed
	}
	if p.Undone && p.Mode == events.Postpaid { // one before it can be undone, too, and is to be made again first
		return Span{}
	}
	switch {
	case p.Undone && p.Used && p.Retakes: // the place that it took waits again
		return Span{}
	case p.Undone && p.Used:
		if c.Waiting = append(c.Waiting, p); len(c.Waiting) == 1 {
			c.beginAnew(p, zone)
		}
		return Span{}
	}
	if len(c.Waiting) == 0 || p.State != PeriodCancelled { // the place that waits stays where it is
		c.beginAnew(p, zone)
	}
	place := c.place(p, gaps, grants, zone)
	c.take(p, zone)
	return place
}

// take follows which places wait: a period that retakes has taken the first one. No other period becomes due as long as
// one waits.
func (c *Course) take(p Period, zone *time.Location) {
	switch {
	case p.Retakes && len(c.Waiting) > 0:
		if c.Waiting = c.Waiting[1:]; len(c.Waiting) > 0 {
			c.beginAnew(c.Waiting[0], zone)
		}
	case p.State != PeriodCancelled: // what waited before was recorded by a program that let only one wait
		c.Waiting = nil
	}
}

// beginAnew moves the end to where a period begins that does not continue the one before it.
func (c *Course) beginAnew(p Period, zone *time.Location) {
	if p.Begins.After(c.End) {
		c.End, c.Anchor, c.Begun = p.Begins, cmp.Or(p.Anchor, p.Begins.In(zone).Day()), p.Begins
	}
}

// place adds the time of a period at the end.
func (c *Course) place(p Period, gaps []Span, grants []Grant, zone *time.Location) Span {
	if !p.takesTime() {
		return Span{}
	}
	if p.BillingDay > 0 {
		return c.addByDays(p, zone)
	}
	from, to := c.End, p.Unit.After(c.End, c.Anchor, zone)
	switch {
	case p.Days > 0:
		to = c.End.In(zone).AddDate(0, 0, p.Days).UTC()
	case p.KeepsTime && !c.Begun.IsZero():
		to = p.Unit.Next(c.End, c.Anchor, c.Begun, zone)
	}
	c.End = extended(Span{from, to}, gaps, grants, zone)
	switch {
	case p.Days > 0 || !c.End.Equal(to):
		c.Anchor, c.Begun = anchorAt(c.End, c.Anchor, zone), c.End
	case p.Unit == calendar.Hour:
		c.Begun = c.End
	}
	if p.State == PeriodPaid {
		c.PaidUntil = latest(c.PaidUntil, c.End)
	}
	return Span{from, c.End}
}

// addByDays places the next period that ends on a fixed billing day. A whole one that does not begin on that day, since
// the payment of one before it was taken back, is a month long and ends on its own day; the next one leads back.
func (c *Course) addByDays(p Period, zone *time.Location) Span {
	from, first := c.End, calendar.On(c.End, zone)
	last := first.AddDays(p.Days)
	if p.Days == 0 {
		last = calendar.On(calendar.Month.After(from, first.Day, zone), zone)
	}
	c.End = last.Start(zone)
	c.Anchor, c.Begun = last.Day, c.End
	if p.State == PeriodPaid {
		c.PaidUntil = latest(c.PaidUntil, c.End)
	}
	return Span{from, c.End}
}

// extended is the end of a time after the gaps and grants in it. Both are in order of time, gaps are disjoint, and each
// counts that begins before the end to which those before it have moved it: a pause in given days gives these back.
func extended(in Span, gaps []Span, grants []Grant, zone *time.Location) time.Time {
	to := in.To
	for len(gaps)+len(grants) > 0 {
		if len(grants) == 0 || len(gaps) > 0 && !grants[0].At.Before(gaps[0].From) {
			if inside := gaps[0].To.Sub(latest(gaps[0].From, in.From)); gaps[0].From.Before(to) && inside > 0 {
				to = to.Add(inside)
			}
			gaps = gaps[1:]
			continue
		}
		if at := grants[0].At; !at.Before(in.From) && at.Before(to) {
			to = to.In(zone).AddDate(0, 0, grants[0].Days).UTC()
		}
		grants = grants[1:]
	}
	return to
}

// withGap returns a copy of the gaps with one more, joined with those that it touches. A span without length adds
// nothing.
func withGap(gaps []Span, gap Span) []Span {
	if !gap.From.Before(gap.To) {
		return gaps
	}
	var joined []Span
	for _, g := range gaps {
		if g.To.Before(gap.From) || gap.To.Before(g.From) {
			joined = append(joined, g)
			continue
		}
		gap = Span{earliest(g.From, gap.From), latest(g.To, gap.To)}
	}
	joined = append(joined, gap)
	slices.SortFunc(joined, func(a, b Span) int { return a.From.Compare(b.From) })
	return joined
}

// anchorAt keeps the anniversary when an instant lies on it, which for shorter months is their last day. Otherwise the
// local day of the instant becomes the anniversary.
func anchorAt(at time.Time, anchor int, zone *time.Location) int {
	local := at.In(zone)
	last := time.Date(local.Year(), local.Month()+1, 0, 12, 0, 0, 0, zone).Day()
	if local.Day() == min(anchor, last) {
		return anchor
	}
	return local.Day()
}

// moved lists the periods whose place differs between two courses of the same periods, except the one at index but.
func moved(periods []Period, before, after Course, but int) []events.PeriodPlace {
	var list []events.PeriodPlace
	for i, p := range periods {
		was, is := before.Places[i], after.Places[i]
		if i != but && !(was.From.Equal(is.From) && was.To.Equal(is.To)) {
			list = append(list, events.PeriodPlace{
				Ordinal: p.Ordinal, InvoiceID: p.InvoiceID, From: is.From, To: is.To,
			})
		}
	}
	return list
}

// keptPeriods is the number of newest periods that stay changeable when a stream period closes. An account keeps fewer
// invoices than that in full, and a stream period holds at most some hundred more.
const keptPeriods = 1000

// compacted drops settled periods that are over and older than the newest ones to keep, and the gaps before them. What
// they amount to goes to the base, so that the course of the others stays the same. A prepaid period that waits for
// money stops it, since a payment would move all later ones; a postpaid one keeps its place by itself. Undone periods
// are dropped together with those that take their places.
func (s Subscription) compacted(keep int) Subscription {
	course, over := s.Course(), s.running(s.Latest)
	base, zone, c := s.Base, s.zone(), s.base()
	var fixed, kept []Period
	last, cut := base.Ordinal, 0
	for i, p := range s.Periods[:max(0, len(s.Periods)-keep)] {
		place := course.Places[i]
		if place.To.After(over) || p.Mode == events.Prepaid && p.open() {
			break
		}
		if c.add(p, s.Gaps, s.Grants, zone); p.open() {
			p.Fixed = place
			fixed = append(fixed, p)
		}
		if last = max(last, p.Ordinal); len(c.Waiting) == 0 {
			base = Base{Ordinal: last, End: c.End, Anchor: c.Anchor, Begun: c.Begun, PaidUntil: c.PaidUntil}
			kept, cut = fixed, i+1
		}
	}
	if cut == 0 {
		return s
	}
	s.Base, s.Periods = base, append(kept, s.Periods[cut:]...)
	s.Gaps = slices.DeleteFunc(slices.Clone(s.Gaps), func(g Span) bool { return !g.To.After(base.End) })
	s.Grants = slices.DeleteFunc(slices.Clone(s.Grants), func(g Grant) bool { return g.At.Before(base.End) })
	return s
}

// latest is the last of the instants; zero instants do not count.
func latest(instants ...time.Time) time.Time {
	var last time.Time
	for _, t := range instants {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// earliest is the first of two instants.
func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
