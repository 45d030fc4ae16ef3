package subscribers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PlannedChange is a change to another plan that comes with the period of an ordinal. The zero value is none.
type PlannedChange struct {
	PlanID      id.Plan
	Version     int
	Terms       events.PlanTerms
	FromOrdinal int
	MoveID      id.PlanMove
	EffectiveAt time.Time // as it was told last; zero = not known, because a period before it waits for money
}

// IsZero reports whether no change is planned.
func (p PlannedChange) IsZero() bool { return p.FromOrdinal == 0 }

// PlanChange tells the effects of a change to another plan. Source: docs/rules/subscribers.md#plan-change.
type PlanChange struct {
	AtOnce      bool                    // otherwise with the next period
	EffectiveAt time.Time               // the beginning of today, or of the next period
	Lines       []events.PlanChangeLine // what it costs for periods that are invoiced
	DueAt       time.Time               // of the invoice over the lines; zero without one
	Replaced    []id.Invoice            // unpaid ones that invoices of the new plan take the place of
	Due         []events.PeriodDue      // whose invoices the change makes, the oldest first
	// Preview names all of the above, and changes with each of it.
	Preview string
	made    []events.SubscriptionEvent
}

// planned applies an event about the plan.
func (s Subscription) planned(e events.SubscriptionEvent) Subscription {
	switch e := e.(type) {
	case events.SubscriptionPlanChanged:
		s = s.told(e.At).upgraded(e)
		s.Moved, s.Former = s.movedBy(e), s.leaves(s.leftAt())
		s.PlanID, s.PlanVersion, s.Terms, s.Planned = e.PlanID, e.PlanVersion, e.Terms, PlannedChange{}
		s.Changes++
		places := s.Course().Places
		s.Periods = slices.Clone(s.Periods)
		for i := range s.Periods {
			if places[i].To.After(e.At) {
				s.Periods[i].Price = money.Amount{}
			}
		}
	case events.PlanChangePlanned:
		s = s.told(e.At)
		s.Changes++
		s.Former = s.formerBefore(e.FromOrdinal)
		s.Planned = PlannedChange{
			PlanID: e.PlanID, Version: e.PlanVersion, Terms: e.Terms, FromOrdinal: e.FromOrdinal, MoveID: e.MoveID,
			EffectiveAt: e.EffectiveAt,
		}
	case events.PlanChangeMoved:
		s = s.told(e.At)
		s.Planned.EffectiveAt = e.EffectiveAt
	case events.PlanChangeDropped:
		s = s.told(e.At)
		s.Changes++
		s.Planned = PlannedChange{}
		if !e.MoveID.IsZero() {
			s.Moved = PlanMoved{MoveID: e.MoveID, TakenBack: true}
		}
	default: // the other events change no plan
	}
	return s
}

// nextTerms are those of the next period.
func (s Subscription) nextTerms() events.PlanTerms { return s.termsFrom(s.lastOrdinal() + 1) }

// termsOf are those of a period.
func (s Subscription) termsOf(p Period) events.PlanTerms { return s.termsFrom(p.Ordinal) }

// termsFrom are those of the period of an ordinal.
func (s Subscription) termsFrom(ordinal int) events.PlanTerms {
	for _, f := range s.Former {
		if ordinal < f.Before {
			return f.Terms
		}
	}
	if !s.Planned.IsZero() && ordinal >= s.Planned.FromOrdinal {
		return s.Planned.Terms
	}
	return s.Terms
}

// PlanChange tells what a change to another plan would do now. It asks the decision itself, so that a preview cannot
// differ from what the command does. Fails as ChangePlan does, except preview_stale.
func (s Subscription) PlanChange(to commands.NewPlan, now time.Time) (PlanChange, error) {
	switch {
	case s.State == Ended:
		return PlanChange{}, failure.NewConflict("subscription_ended", "This subscription has ended.")
	case s.State == Paused:
		return PlanChange{}, failure.NewConflict("subscription_paused",
			"This subscription is paused. Resume it before you change its plan.")
	case s.Suspended.stops():
		return PlanChange{}, failure.NewConflict("billing_suspended", "This customer is cut off, and the time without "+
			"service is not billed. Change the plan when there is service again.")
	case !s.alike(to.Terms):
		return PlanChange{}, commands.ErrPlanNotAlike()
	case s.has(to) && s.Planned.IsZero():
		return PlanChange{}, failure.NewConflict("plan_unchanged", "The subscription has this plan.")
	}
	var begun []events.SubscriptionEvent
	if !s.has(to) || s.plannedTaken() {
		var err error
		if s, begun, err = s.caughtUp(now); err != nil {
			return PlanChange{}, err
		}
	}
	today := calendar.On(now, s.zone())
	change := PlanChange{
		AtOnce: s.has(to) || !s.served(now) || inPlace(s.Terms, to.Terms), EffectiveAt: today.Start(s.zone()),
	}
	next, cancels := s.withoutUnpaid(&change, s.has(to), now)
	var made events.SubscriptionEvent
	switch paid := s.plannedTaken(); {
	case paid && (!change.AtOnce || !inPlace(s.Planned.Terms, to.Terms)):
		return PlanChange{}, errPlannedPaid()
	case s.has(to) && !paid:
		made = next.unplanned(now)
	case next.nextRetakes():
		return PlanChange{}, errPeriodUndone()
	case next.waitsAgain():
		return PlanChange{}, errTakenBack()
	case change.AtOnce:
		made = next.atOnce(&change, to, now)
	default:
		planned := next.plans(to, now)
		change.EffectiveAt = planned.EffectiveAt
		made = planned
	}
	change.made = append(begun, next.remade(cancels, made, now)...)
	for _, e := range change.made {
		if due, ok := e.(events.PeriodDue); ok {
			change.Due = append(change.Due, due)
		}
	}
	change.Preview = change.name(s, to, today)
	return change, nil
}

// errTakenBack refuses another plan while a period waits again for its money: it would be paid at the price of the plan
// that is left, and served under the other one.
func errTakenBack() error {
	return failure.NewConflict("payment_taken_back", "A payment of this subscription was taken back, and its period "+
		"waits for it. Take the payment again, or give the invoice back, before you change the plan.")
}

// waitsAgain reports whether a prepaid period that was paid once waits for money.
func (s Subscription) waitsAgain() bool {
	for at, p := range s.Periods {
		if p.Mode == events.Prepaid && s.paidOnce(at) {
			return true
		}
	}
	return false
}

// remade is a change after unpaid periods were cancelled, with the period that takes their place.
func (s Subscription) remade(
	cancels []events.SubscriptionEvent, change events.SubscriptionEvent, now time.Time,
) []events.SubscriptionEvent {
	made := append(slices.Clone(cancels), change)
	if len(cancels) == 0 {
		return made
	}
	after := evolveSubscription(s, change)
	return append(made, decidePeriodDue(after, commands.MakePeriodDue{SubscriptionID: s.ID}, now)...)
}

// errPlannedPaid is the failure where the first period after a planned change is paid as it was planned.
func errPlannedPaid() error {
	return failure.NewConflict("plan_change_paid",
		"The next period is paid under the plan that was chosen for it. Change the plan when it has begun.")
}

// atOnce makes the event of a change that begins today, with what it costs.
func (s Subscription) atOnce(change *PlanChange, to commands.NewPlan, now time.Time) events.SubscriptionPlanChanged {
	changed := s.changed(to, now)
	change.Lines = s.discounted(s.changeLines(to.Terms, now), now)
	if !sum(change.Lines, to.Terms.Price.Currency).Positive() {
		return changed
	}
	changed.InvoiceID = id.Derive[id.Invoice]("plan_change", s.ID.String(), strconv.Itoa(s.Changes+1))
	changed.Lines, changed.DueAt = change.Lines, now
	if s.Terms.Mode == events.Postpaid {
		changed.DueAt = s.Course().End
	}
	change.DueAt = changed.DueAt
	return changed
}

// withoutUnpaid drops the newest periods that wait for money and never began; those of the new plan take their place.
// When a planned change is dropped, only those that it has made are.
func (s Subscription) withoutUnpaid(
	change *PlanChange, planned bool, now time.Time,
) (next Subscription, cancels []events.SubscriptionEvent) {
	next = s
	for at := len(s.Periods) - 1; at >= 0; at-- {
		p := s.Periods[at]
		switch {
		case p.State == PeriodCancelled:
			continue
		case !p.open() || !next.neverServed(at, now) || planned && p.Ordinal < s.Planned.FromOrdinal:
			return next, cancels
		}
		change.Replaced = append(change.Replaced, p.InvoiceID)
		event := cancelled(next, at, now)
		next = evolveSubscription(next, event)
		cancels = append(cancels, event)
	}
	return next, cancels
}

// lastTaken is the ordinal of the latest period that is paid or served, 0 without one.
func (s Subscription) lastTaken() int {
	for _, p := range slices.Backward(s.Periods) {
		if p.takesTime() && p.State != PeriodCancelled {
			return p.Ordinal
		}
	}
	return 0
}

// plannedTaken reports whether a period of the plan that was chosen for later is paid or served.
func (s Subscription) plannedTaken() bool {
	return !s.Planned.IsZero() && s.lastTaken() >= s.Planned.FromOrdinal
}

// alike reports whether the subscription can have the terms.
func (s Subscription) alike(t events.PlanTerms) bool {
	return t.Mode == s.Terms.Mode && t.Kind == s.Terms.Kind && t.Price.Currency == s.Terms.Price.Currency
}

// has reports whether a version of a plan is the present one.
func (s Subscription) has(p commands.NewPlan) bool {
	return p.PlanID == s.PlanID && p.Version == s.PlanVersion
}

// served reports whether time that is paid, or owed at its end, lies after an instant.
func (s Subscription) served(now time.Time) bool {
	if s.Terms.Mode == events.Prepaid {
		return s.PaidUntil().After(s.running(now))
	}
	return s.State == Active && s.Course().End.After(s.running(now))
}

// inPlace reports whether terms can take the place of others within a period: they are billed alike by weeks or months,
// and cost no less.
func inPlace(old, t events.PlanTerms) bool {
	return t.Period == old.Period && !t.Period.Short() && t.AnchorDay == old.AnchorDay && t.Price.Cmp(old.Price) >= 0
}

// changeLines gives the days from today on of invoiced periods back at their price, and takes that of other terms.
func (s Subscription) changeLines(t events.PlanTerms, now time.Time) (lines []events.PlanChangeLine) {
	zone := s.zone()
	today := calendar.On(now, zone)
	add := func(ordinal int, place Span, most, of int, price money.Amount) {
		first, end := calendar.On(place.From, zone), calendar.On(place.To, zone)
		if first.Before(today) {
			first = today
		}
		days := min(calendar.DaysBetween(first, end), most)
		if days <= 0 {
			return
		}
		for _, side := range []struct {
			name  string
			price money.Amount
		}{{s.Terms.Name, price.Neg()}, {t.Name, t.Price}} {
			lines = append(lines, events.PlanChangeLine{
				Ordinal: ordinal, PlanName: side.name, From: first, To: end.AddDays(-1), Days: days, Of: of,
				Amount: side.price.MulDivRounded(int64(days), int64(of)),
			})
		}
	}
	course := s.Course()
	if until := s.base().PaidUntil; until.After(now) { // paid in another system, or in periods that are no longer kept
		day := min(calendar.On(until, zone).Day, commands.MaxBillingDay)
		month := calendar.BillingMonthAt(now, day, zone)
		left := Span{now, until}
		add(0, left, s.daysIn(left), month.Days(), s.Terms.Price) // it can be many months
	}
	for i, p := range s.Periods {
		place := course.Places[i]
		if place.IsZero() || p.State == PeriodCancelled || !place.To.After(now) {
			continue
		}
		of := s.days(p, place)
		if p.BillingDay > 0 {
			of = calendar.BillingMonthAt(place.From, p.BillingDay, zone).Days()
		}
		add(p.Ordinal, place, of, of, p.price(s.Terms))
	}
	return lines
}

// discounted takes off what a change costs as much as discounts by percent take off the price of each period, in a line
// for all periods of one percentage.
func (s Subscription) discounted(lines []events.PlanChangeLine, now time.Time) []events.PlanChangeLine {
	today := calendar.On(now, s.zone())
	var off []events.PlanChangeLine
	for rest := lines; len(rest) > 0; {
		percent, n := s.Extras.Percent(rest[0].Ordinal, today), 1
		for n < len(rest) && s.Extras.Percent(rest[n].Ordinal, today) == percent {
			n++
		}
		if total := sum(rest[:n], s.Terms.Price.Currency); percent > 0 && total.Positive() {
			off = append(off, events.PlanChangeLine{
				From: rest[0].From, To: rest[n-1].To, Percent: percent,
				Amount: total.MulDivRounded(percent, 10_000).Neg(),
			})
		}
		rest = rest[n:]
	}
	return append(lines, off...)
}

// price is that of a whole period.
func (p Period) price(t events.PlanTerms) money.Amount {
	if p.Price.Currency == "" {
		return t.Price
	}
	return p.Price
}

// sum adds the lines.
func sum(lines []events.PlanChangeLine, currency money.Currency) money.Amount {
	total := money.Of(0, currency)
	for _, l := range lines {
		total = total.Add(l.Amount)
	}
	return total
}

// changed makes the event of a change without costs.
func (s Subscription) changed(to commands.NewPlan, now time.Time) events.SubscriptionPlanChanged {
	return events.SubscriptionPlanChanged{
		SubscriptionID: s.ID, OrgID: s.Owner, SubscriberID: s.SubscriberID, PlanID: to.PlanID, PlanVersion: to.Version,
		Terms: to.Terms, Before: events.PlanRef{PlanID: s.PlanID, Version: s.PlanVersion, Name: s.Terms.Name}, At: now,
	}
}

// plans makes the event of a change that comes with the next period.
func (s Subscription) plans(to commands.NewPlan, now time.Time) events.PlanChangePlanned {
	from := s.lastOrdinal() + 1
	at, _ := s.endsBefore(from)
	return events.PlanChangePlanned{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, PlanID: to.PlanID, PlanVersion: to.Version, Terms: to.Terms,
		FromOrdinal: from, EffectiveAt: at, At: now,
	}
}

// unplanned makes the event that drops the planned change.
func (s Subscription) unplanned(now time.Time) events.PlanChangeDropped {
	return events.PlanChangeDropped{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, PlanID: s.PlanID, PlanVersion: s.PlanVersion,
		Terms: s.Terms, MoveID: s.Planned.MoveID, At: now,
	}
}

// endsBefore is when the time of the periods before an ordinal is over: for prepaid the paid time. It is false while
// one of them waits for its money, the first time or again, or was undone and is not made again.
func (s Subscription) endsBefore(ordinal int) (time.Time, bool) {
	if ordinal > s.lastOrdinal()+1 {
		return time.Time{}, false
	}
	before := s
	before.Periods = nil
	for _, p := range s.Periods {
		if p.Ordinal < ordinal {
			before.Periods = append(before.Periods, p)
			if p.Mode == events.Prepaid && p.open() {
				return time.Time{}, false
			}
		}
	}
	course := before.Course()
	if s.Terms.Mode == events.Prepaid {
		return course.PaidUntil, true
	}
	return latest(course.End, s.StartsAt), true
}

// name is the digest of a change on a day.
func (c PlanChange) name(s Subscription, to commands.NewPlan, today calendar.Date) string {
	var net []money.Amount
	for _, due := range c.Due {
		net = append(net, due.Net())
	}
	text, err := json.Marshal(struct {
		Subscription id.Subscription
		Changes      int
		Today        calendar.Date
		Plan         id.Plan
		Version      int
		AtOnce       bool
		EffectiveAt  time.Time
		Lines        []events.PlanChangeLine
		Replaced     []id.Invoice
		Due          []money.Amount
	}{s.ID, s.Changes, today, to.PlanID, to.Version, c.AtOnce, c.EffectiveAt.UTC(), c.Lines, c.Replaced, net})
	if err != nil {
		panic(fmt.Sprintf("subscribers: name a change of subscription %s: %v", s.ID, err)) // no field can fail
	}
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:16])
}

// decideChangePlan makes the change that was previewed.
func decideChangePlan(s Subscription, c commands.ChangePlan, now time.Time) ([]events.SubscriptionEvent, error) {
	change, err := s.PlanChange(c.NewPlan, now)
	switch {
	case err != nil && failure.CodeOf(err) == "plan_unchanged":
		return nil, commands.ErrPreviewStale() // a preview of it was true before
	case err != nil:
		return nil, err
	case change.Preview != c.Preview:
		return nil, commands.ErrPreviewStale()
	}
	return change.made, nil
}

// decideMovePlan moves a subscription to a version of its plan. Periods that have begun are due before, at their price;
// one that waits for its run to be asked for again has that of the version, which may be why it was taken back.
func decideMovePlan(s Subscription, c commands.MovePlan, now time.Time) ([]events.SubscriptionEvent, error) {
	next, begun := s.begun(commands.MakePeriodDue{}, now)
	made, err := next.move(c, now)
	if len(made) == 0 {
		return nil, err
	}
	return append(begun, made...), nil
}

// move plans the change for the next period that is not invoiced; where no time is paid and nothing waits for money, it
// is at once.
func (s Subscription) move(c commands.MovePlan, now time.Time) ([]events.SubscriptionEvent, error) {
	switch {
	case s.State == Ended || s.PlanID != c.PlanID || s.has(c.NewPlan) && s.Planned.IsZero():
		return nil, nil
	case s.Planned.PlanID == c.PlanID && s.Planned.Version == c.Version:
		return nil, nil
	case !s.alike(c.Terms):
		return nil, commands.ErrPlanNotAlike()
	case s.plannedTaken():
		return nil, errPlannedPaid()
	case s.has(c.NewPlan):
		return []events.SubscriptionEvent{s.unplanned(now)}, nil
	case s.State != Paused && !s.served(now) && !slices.ContainsFunc(s.Periods, Period.open):
		changed := s.changed(c.NewPlan, now)
		changed.MoveID = c.MoveID
		return []events.SubscriptionEvent{changed}, nil
	}
	planned := s.plans(c.NewPlan, now)
	planned.MoveID = c.MoveID
	return []events.SubscriptionEvent{planned}, nil
}

// decideApplyChange changes the service as planned, or tells when that will be. While the time of the present period
// stands still it does neither.
func decideApplyChange(s Subscription, now time.Time) []events.SubscriptionEvent {
	if s.Planned.IsZero() || s.State == Ended || s.State == Paused || s.Suspended.stops() {
		return nil
	}
	at, known := s.endsBefore(s.Planned.FromOrdinal)
	switch {
	case known && !at.After(now):
		changed := s.changed(commands.NewPlan{
			PlanID: s.Planned.PlanID, Version: s.Planned.Version, Terms: s.Planned.Terms,
		}, now)
		changed.MoveID = s.Planned.MoveID
		return []events.SubscriptionEvent{changed}
	case at.Equal(s.Planned.EffectiveAt):
		return nil
	}
	return []events.SubscriptionEvent{events.PlanChangeMoved{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, EffectiveAt: at, At: now,
	}}
}
