package renewal

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Reasons on credit notes over days of a period.
const (
	lateReason   = "days before the payment, without service"
	pausedReason = "days of a pause"
)

// compensatedReason says for which days a compensation is.
func compensatedReason(e events.SubscriptionCompensated) string {
	if e.FirstDay == e.LastDay {
		return "compensation for " + e.FirstDay.String()
	}
	return "compensation for " + e.FirstDay.String() + " to " + e.LastDay.String()
}

// crediting adds the credit notes over days of periods that need not be paid. Their ids follow from the event: from the
// period as well where it is told, because one payment can be that of several which one invoice is for.
func crediting(
	out processmanagers.Output, subscriber id.Subscriber, credits []events.DaysCredit, at time.Time, reason string,
) processmanagers.Output {
	for _, c := range credits {
		of := []string{c.InvoiceID.String(), at.UTC().Format(time.RFC3339Nano)}
		if !c.PeriodOf.IsZero() {
			of = append(of, c.PeriodOf.String())
		}
		out.Commands = append(out.Commands, commands.CreditDays{
			SubscriberID: subscriber, DaysCredit: c, Reason: reason,
			CreditNoteID: id.Derive[id.Receipt]("days", of...),
		})
	}
	return out
}

// creditingDue adds the credit notes over days of a period that were paused before it became due. Their ids are others
// than those of an end, which makes a period due at its own instant.
func creditingDue(out processmanagers.Output, e events.PeriodDue) processmanagers.Output {
	for _, c := range e.Credits {
		out.Commands = append(out.Commands, commands.CreditDays{
			SubscriberID: e.SubscriberID, DaysCredit: c, Reason: unservedReason,
			CreditNoteID: id.Derive[id.Receipt]("days", c.InvoiceID.String(), "before it was due"),
		})
	}
	return out
}

// compensating adds the credit notes of a compensation. Their ids follow from it, so that two at the same instant are
// two.
func compensating(out processmanagers.Output, e events.SubscriptionCompensated) processmanagers.Output {
	for _, c := range e.Credits {
		out.Commands = append(out.Commands, commands.CreditDays{
			SubscriberID: e.SubscriberID, DaysCredit: c, Reason: compensatedReason(e),
			CreditNoteID: events.CompensationNote(e.CompensationID, c.InvoiceID, e.SubscriptionID),
		})
	}
	return out
}

// fromCredit renews, and pays orders with what no period needs.
func (s State) fromCredit(e events.CreditLeft, now time.Time) processmanagers.Output {
	var renewed []id.Subscription
	if first := s.renewedBy(e, now); !first.IsZero() {
		renewed = append([]id.Subscription{first}, s.undoneBeside(first, e, now)...)
	}
	var out processmanagers.Output
	if e.Ordered.Positive() {
		out.Commands = append(out.Commands, commands.PayOrders{
			SubscriberID: e.SubscriberID, Credit: e.Credit, Keep: s.kept(e.Credit, renewed, now),
		})
	}
	for _, subscription := range append(renewed, s.undonePaused(renewed, e, now)...) {
		out.Commands = append(out.Commands, commands.MakePeriodDue{
			SubscriptionID: subscription, Received: e.Received,
		})
	}
	return out
}

// undonePaused are those that wait for money since an undo and are paused, as far as the money that came covers them
// beside those that it renews: it ends their wait, and renews them after the pause.
func (s State) undonePaused(renewed []id.Subscription, e events.CreditLeft, now time.Time) []id.Subscription {
	var list []id.Subscription
	left := e.Credit
	for _, subscription := range renewed {
		left.Minor -= s.Subscriptions[subscription].needs(now)
	}
	for _, subscription := range slices.SortedFunc(maps.Keys(s.Subscriptions), byText) {
		sub := s.Subscriptions[subscription]
		waits := e.Received && sub.Undone && sub.Paused && sub.Mode == events.Prepaid
		if waits && sub.coveredBy(left, now) {
			left.Minor -= sub.needs(now)
			list = append(list, subscription)
		}
	}
	return list
}

// undoneBeside are those that a payment renews together with another one: they wait for money since an undo, and the
// rest of it covers them. Nobody asks for them later, because the rest is then no new money.
func (s State) undoneBeside(first id.Subscription, e events.CreditLeft, now time.Time) []id.Subscription {
	var list []id.Subscription
	left := e.Credit
	left.Minor -= s.Subscriptions[first].needs(now)
	for _, subscription := range s.inTurn(nil) {
		sub := s.Subscriptions[subscription]
		waits := e.Received && sub.Undone && sub.renewable() && sub.expires(now) && subscription != first
		if waits && sub.coveredBy(left, now) {
			left.Minor -= sub.needs(now)
			list = append(list, subscription)
		}
	}
	return list
}

// kept is the part of the credit for periods: for those whose invoices are not issued yet, with those of the
// subscriptions that are renewed now, and for one more of each prepaid subscription that it covers whole. It is kept
// for them also when it does not renew them now: what is paid ahead does the same in one payment as in two.
func (s State) kept(credit money.Amount, renewed []id.Subscription, now time.Time) money.Amount {
	left := credit
	for _, sub := range s.Subscriptions {
		for range without(sub.Open, sub.Paid) { // with credit on the account, no issued invoice waits for money
			left.Minor -= min(sub.invoiced(), left.Minor)
		}
	}
	for _, subscription := range renewed {
		left.Minor -= min(s.Subscriptions[subscription].needs(now), left.Minor)
	}
	for _, subscription := range s.inTurn(renewed) {
		sub := s.Subscriptions[subscription]
		next := sub.needs(now)
		if slices.Contains(renewed, subscription) {
			next = sub.afterNext(now)
		}
		if sub.Mode == events.Prepaid && sub.Price.Currency == left.Currency && next <= left.Minor {
			left.Minor -= next
		}
	}
	return credit.Sub(left)
}

// inTurn orders the subscriptions for whose next periods credit is kept: first those that it could renew after those
// that are renewed now, then those with a period that is not recorded yet, then those that are paused. Of alike ones
// that comes first which expires first.
func (s State) inTurn(renewed []id.Subscription) []id.Subscription {
	turn := func(subscription id.Subscription) int {
		switch sub := s.Subscriptions[subscription]; {
		case sub.Paused:
			return 2
		case len(sub.Open) > 0 || slices.Contains(renewed, subscription):
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(s.Subscriptions), func(a, b id.Subscription) int {
		x, y := s.Subscriptions[a], s.Subscriptions[b]
		return cmp.Or(turn(a)-turn(b), x.PaidUntil.Compare(y.PaidUntil), byText(a, b))
	})
}

// next is the period that would become due now, as far as its price depends on it. One that follows on a period which
// is due is whole.
func (s Subscription) next(now time.Time) events.PeriodDue {
	terms, from := events.PlanTerms{Price: s.Price}, now
	for _, known := range []time.Time{s.StartsAt, s.PaidUntil} {
		if known.After(from) {
			from = known
		}
	}
	if len(s.Open) == 0 {
		terms.AnchorDay = s.Terms.AnchorDay
	}
	place := from
	if !s.Retakes.IsZero() {
		place = s.Retakes
	}
	return terms.NextPeriodAt(s.Extras, from, place, s.zone())
}

// needs is the price of the next period, in minor units.
func (s Subscription) needs(now time.Time) int64 { return s.withTax(s.next(now)) }

// afterNext is the price of the whole period after the next one, in minor units.
func (s Subscription) afterNext(now time.Time) int64 {
	next := s.next(now)
	whole := events.PlanTerms{Price: s.Price}
	return s.withTax(whole.NextPeriod(s.Extras.After(next), next.DueAt, s.zone()))
}

// invoiced is the total of the invoice of the period that became due last, in minor units.
func (s Subscription) invoiced() int64 {
	return s.withTax(events.PeriodDue{
		Terms: events.PlanTerms{Price: s.Price}, Part: s.Part, Charge: s.Part.Share(s.Price), Extras: s.Beside,
	})
}

// withTax is the total of the invoice of a period, in minor units, at least zero.
func (s Subscription) withTax(period events.PeriodDue) int64 {
	return max(s.rule().Gross(period.Prices()).Minor, 0)
}

// taxed takes over the rule of the organization; nil is not known.
func (s State) taxed(rule *events.TaxRule) State {
	if rule == nil {
		return s
	}
	for subscription := range s.Subscriptions {
		s = s.change(subscription, func(sub *Subscription) { sub.Tax, sub.Gross = *rule, money.Amount{} })
	}
	return s
}

// rule is the one by which the next invoice is charged, as far as is known.
func (s Subscription) rule() events.TaxRule {
	if !s.Gross.Positive() || !s.Price.Positive() {
		return s.Tax
	}
	onTop := money.Of(10_000, s.Price.Currency).MulDivRounded(s.Gross.Minor-s.Price.Minor, s.Price.Minor)
	return events.TaxRule{Components: []events.TaxComponent{{BasisPoints: max(onTop.Minor, 0)}}}
}

// zone is the time zone of billing days; UTC for a name that is unknown here.
func (s Subscription) zone() *time.Location {
	return calendar.ZoneOrUTC(s.Timezone)
}

// coveredBy reports whether credit pays the next period whole.
func (s Subscription) coveredBy(credit money.Amount, now time.Time) bool {
	return s.Price.Currency == credit.Currency && s.needs(now) <= credit.Minor
}

// renewedBy is the subscription whose next period credit makes due: that which expires first among those whose whole
// price it covers, and zero when it covers none. Credit that was asked for goes to a subscription that waits for it,
// and to no other; one that waits since an undo is renewed by new money only. A smaller credit stays on the account
// (docs/rules/subscribers.md#prepaid).
func (s State) renewedBy(e events.CreditLeft, now time.Time) id.Subscription {
	var best id.Subscription
	for _, candidate := range slices.SortedFunc(maps.Keys(s.Subscriptions), byText) {
		sub := s.Subscriptions[candidate]
		payable := sub.renewable() && sub.coveredBy(e.Credit, now) && (!e.Asked || sub.expires(now)) &&
			(e.Received || !sub.Undone)
		if payable && (best.IsZero() || sub.PaidUntil.Before(s.Subscriptions[best].PaidUntil)) {
			best = candidate
		}
	}
	return best
}

// renewable reports whether a period could be made due: none is, and the price is paid ahead.
func (s Subscription) renewable() bool {
	return s.Mode == events.Prepaid && !s.Paused && len(s.Open) == 0 && s.Price.Positive()
}

// expires reports whether the subscription is without service, or so near its end that the next period should be due.
func (s Subscription) expires(now time.Time) bool {
	return !s.PaidUntil.After(now.Add(events.InvoicedAhead(s.Period)))
}

// askForCredit adds the question for the account's credit when a subscription without service could be renewed from it.
// Credit that came while nothing could be renewed, or that was meant for another subscription which was renewed from it
// or has just ended or paused, is told only when somebody asks.
func (s State) askForCredit(
	out processmanagers.Output, subscriber id.Subscriber, now time.Time,
) processmanagers.Output {
	for _, sub := range s.Subscriptions {
		if sub.renewable() && sub.expires(now) {
			out.Commands = append(out.Commands, commands.TellCredit{SubscriberID: subscriber})
			return out
		}
	}
	return out
}

// byText orders ids, so that a replay over a map decides the same.
func byText(a, b id.Subscription) int { return strings.Compare(a.String(), b.String()) }
