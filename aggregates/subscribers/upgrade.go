package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Upgrade has the costs of a change to a dearer plan for days of a period, on an invoice of its own. Whatever gives
// days of the period back gives them back on that invoice, too. Source: docs/rules/subscribers.md#plan-change.
type Upgrade struct {
	InvoiceID id.Invoice
	First     calendar.Date // local; days of the period from here on are on the invoice
	Days      int
	// Net is the price of the days on the invoice, and NetOf that of all its days, before discounts and taxes.
	Net, NetOf money.Amount
	At         time.Time // of the change; zero = not known, as in openings of older programs
}

// upgraded keeps with each period what a change cost for it.
func (s Subscription) upgraded(e events.SubscriptionPlanChanged) Subscription {
	if e.InvoiceID.IsZero() {
		return s
	}
	total := money.Of(0, s.Terms.Price.Currency)
	for _, l := range e.Lines {
		if l.Percent == 0 {
			total = total.Add(l.Amount)
		}
	}
	s.Periods = slices.Clone(s.Periods)
	for i, p := range s.Periods {
		u := Upgrade{InvoiceID: e.InvoiceID, Net: money.Of(0, total.Currency), NetOf: total, At: e.At}
		for _, l := range e.Lines {
			if l.Ordinal == p.Ordinal {
				u.First, u.Days, u.Net = l.From, l.Days, u.Net.Add(l.Amount)
			}
		}
		if u.Days > 0 {
			s.Periods[i].Upgrades = append(slices.Clone(p.Upgrades), u)
		}
	}
	return s
}

// withUpgrades adds to credits those on the upgrades of the period at an index: for days that lie in a span, as count
// counts them. One invoice is credited once.
func (s Subscription) withUpgrades(
	credits []events.DaysCredit, at int, in Span, count func(Span) int,
) []events.DaysCredit {
	for _, u := range s.Periods[at].Upgrades {
		on := Span{latest(in.From, u.First.Start(s.zone())), in.To}
		if !on.From.Before(on.To) {
			continue
		}
		if days := min(u.Days, count(on)); days > 0 && u.Net.Positive() {
			credits = u.credit(credits, days)
		}
	}
	return credits
}

// upgradedSince reports whether a change since an instant cost something for a period that is not taken back. Where the
// instant of a change is not known, the first day that it charged has to be before that of the instant.
func (s Subscription) upgradedSince(at time.Time) bool {
	return slices.ContainsFunc(s.Periods, func(p Period) bool {
		return p.State != PeriodCancelled && slices.ContainsFunc(p.Upgrades, func(u Upgrade) bool {
			if u.At.IsZero() {
				return !u.First.Before(calendar.On(at, s.zone()))
			}
			return !u.At.Before(at)
		})
	})
}

// credit adds days of the upgrade to the credit on its invoice.
func (u Upgrade) credit(credits []events.DaysCredit, days int) []events.DaysCredit {
	net := u.Net.MulDivRounded(int64(days), int64(u.Days))
	at := slices.IndexFunc(credits, func(c events.DaysCredit) bool { return c.InvoiceID == u.InvoiceID })
	if at < 0 {
		return append(credits, events.DaysCredit{
			InvoiceID: u.InvoiceID, Days: days, Of: u.Days, Net: net, NetOf: u.NetOf,
		})
	}
	c := &credits[at]
	c.Days, c.Of, c.Net = c.Days+days, c.Of+u.Days, c.Net.Add(net)
	return credits
}

// allUpgrades credits all days of the upgrades of the period at an index.
func (s Subscription) allUpgrades(at int) []events.DaysCredit {
	var credits []events.DaysCredit
	for _, u := range s.Periods[at].Upgrades {
		if u.Net.Positive() {
			credits = u.credit(credits, u.Days)
		}
	}
	return credits
}

// paidAhead reports whether the prepaid period at an index is paid, and no time of it was given yet.
func (s Subscription) paidAhead(at int, now time.Time) bool {
	p := s.Periods[at]
	return p.Mode == events.Prepaid && p.State == PeriodPaid && !s.Course().Places[at].From.Before(s.stopsAt(now))
}

// clipped is the part of a span that lies in another one; one without length where they do not meet.
func clipped(a, b Span) Span {
	return Span{latest(a.From, b.From), earliest(a.To, b.To)}
}

// openingUpgrade is the durable form of Upgrade. Names of fields never change.
type openingUpgrade struct {
	InvoiceID id.Invoice    `json:"invoice"`
	First     calendar.Date `json:"first"`
	Days      int           `json:"days"`
	Net       money.Amount  `json:"net"`
	NetOf     money.Amount  `json:"netOf"`
	At        time.Time     `json:"at,omitzero"`
}
