package billingviews_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// home is the plan of the subscription sub.
var home = id.Derive[id.Plan]("test", "home")

// nairobi is the zone of the reports, which has no summer time.
var nairobi = time.FixedZone("EAT", 3*60*60)

// local is a minute of 2026 in Nairobi.
func local(month time.Month, day, hour, minute int) time.Time {
	return time.Date(2026, month, day, hour, minute, 0, 0, nairobi).UTC()
}

// date is a day of 2026.
func date(month time.Month, day int) calendar.Date {
	return calendar.Date{Year: 2026, Month: month, Day: day}
}

// charged is an invoice of one line, drafted and issued. A zero subscription makes it one of no period.
func charged(n int, of id.Subscription, net, tax int64) []events.Event {
	draft := events.InvoiceDrafted{
		SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(n), SubscriptionID: of, Total: kes(net + tax),
		Lines: []events.InvoiceLine{{Quantity: "1", UnitPrice: kes(net + tax), Net: kes(net), Gross: kes(net + tax)}},
	}
	return []events.Event{draft, events.InvoiceIssued{
		SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(n), SubscriptionID: of, Total: kes(net + tax),
	}}
}

// paid gives the period of an invoice its place.
func paid(n int, from, to time.Time) events.SubscriptionExtended {
	return events.SubscriptionExtended{SubscriptionID: sub, InvoiceID: invoiceID(n), From: from, To: to}
}

// noted is a credit note over a part of an invoice.
func noted(n int, minor int64) events.CreditNoteIssued {
	return events.CreditNoteIssued{SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(n), Amount: kes(minor)}
}

// created begins the subscription sub, which is paid ahead.
var created = events.SubscriptionCreated{
	SubscriptionID: sub, OrgID: acme, SubscriberID: amina, PlanID: home, Terms: events.PlanTerms{Mode: events.Prepaid},
}

// payer is a subscription that is paid at the end of its periods.
var payer = id.Derive[id.Subscription]("test", "postpaid")

// createdPayer begins the subscription payer.
var createdPayer = events.SubscriptionCreated{
	SubscriptionID: payer, OrgID: acme, SubscriberID: amina, PlanID: home,
	Terms: events.PlanTerms{Mode: events.Postpaid},
}

// revenueKit is the read model on a log in memory.
type revenueKit struct {
	log    *feedtest.Log
	runner *runner.Runner
	query  billingviews.RevenueQuery
}

// newRevenueKit starts the read model on an empty log.
func newRevenueKit(t *testing.T) *revenueKit {
	t.Helper()
	k := &revenueKit{log: feedtest.New()}
	k.runner = runner.New(runner.Config{
		Feed: feedtest.Start(t, k.log), DB: pgtest.New(t), Clock: clock.NewManual(began),
	})
	k.runner.Register(billingviews.Revenue{})
	if err := k.runner.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.runner.Stop)
	k.query = billingviews.RevenueQuery{Views: k.runner.Views()}
	return k
}

// tell records events at an instant and waits until they are shown.
func (k *revenueKit) tell(t *testing.T, at time.Time, list ...events.Event) {
	t.Helper()
	var last uint64
	for _, e := range list {
		last = k.log.Append(events.Metadata{OrgID: acme, At: at}, e)
	}
	coretest.WaitFor(t, k.runner.Views(), last, billingviews.RevenueName)
}

// spanOf divides the days between some dates; the last date is not in it any more.
func spanOf(bounds ...calendar.Date) billingviews.EarnedSpan {
	var s billingviews.EarnedSpan
	for day := bounds[0].AddDays(-800); day.Before(bounds[len(bounds)-1].AddDays(800)); day = day.AddDays(1) {
		s.Days = append(s.Days, day.Start(nairobi))
		if len(s.Bounds) < len(bounds) && day == bounds[len(s.Bounds)] {
			s.Bounds = append(s.Bounds, len(s.Days))
		}
	}
	return s
}

// earned gives net and tax of each period, and then what is not yet earned.
func (k *revenueKit) earned(t *testing.T, org id.Organization, bounds ...calendar.Date) [][2]int64 {
	t.Helper()
	got, err := k.query.Earned(t.Context(), org, spanOf(bounds...))
	if err != nil {
		t.Fatal(err)
	}
	out := make([][2]int64, len(bounds))
	for _, r := range got.Rows {
		at := (r.Period + len(bounds) - 1) % len(bounds)
		out[at][0], out[at][1] = out[at][0]+r.NetMinor, out[at][1]+r.TaxMinor
	}
	return out
}

// later says what happens to the period of the example, and when.
type later struct {
	at time.Time
	of events.Event
}

// The period of the example of docs/rules/money.md#recognised-revenue: 3,100 without tax and 496 of tax, for a month.
var exampleBegins, exampleEnds = local(3, 10, 14, 5), local(4, 10, 14, 5)

// examples are courses of the example with net and tax of March, April and May, and what is not yet earned then.
func examples() map[string]struct {
	later []later
	want  [][2]int64
} {
	back := events.PeriodWithdrawn{SubscriptionID: sub, InvoiceID: invoiceID(1)}
	paused := later{local(3, 20, 14, 5), events.SubscriptionPaused{SubscriptionID: sub}}
	resumed := later{local(3, 30, 14, 5), events.SubscriptionResumed{
		SubscriptionID: sub,
		Moved:          []events.PeriodPlace{{InvoiceID: invoiceID(1), From: exampleBegins, To: local(4, 20, 14, 5)}},
	}}
	cut := later{local(3, 20, 14, 5), events.BillingSuspended{SubscriptionID: sub, By: events.BillUsedDays}}
	unbilled := later{local(3, 20, 14, 5), events.BillingSuspended{SubscriptionID: sub, By: events.BillNothing}}
	served := later{local(3, 30, 14, 5), events.BillingResumed{
		SubscriptionID: sub,
		Moved:          []events.PeriodPlace{{InvoiceID: invoiceID(1), From: exampleBegins, To: local(4, 20, 14, 5)}},
	}}
	return map[string]struct {
		later []later
		want  [][2]int64
	}{
		"cut off, and used days are billed": {
			[]later{cut, served}, [][2]int64{{120000, 19200}, {190000, 30400}, {0, 0}, {0, 0}},
		},
		"cut off, and the period is billed whole": {
			[]later{unbilled}, [][2]int64{{220000, 35200}, {90000, 14400}, {0, 0}, {0, 0}},
		},
		"it runs": {nil, [][2]int64{{220000, 35200}, {90000, 14400}, {0, 0}, {0, 0}}},
		"the payment is taken back": {
			[]later{{local(4, 5, 10, 0), back}}, [][2]int64{{220000, 35200}, {-220000, -35200}, {0, 0}, {0, 0}},
		},
		"it is paid again": {
			[]later{{local(4, 5, 10, 0), back}, {local(5, 2, 10, 0), paid(1, exampleBegins, local(5, 7, 14, 5))}},
			[][2]int64{{220000, 35200}, {-220000, -35200}, {310000, 49600}, {0, 0}},
		},
		"a credit note over the half": {
			[]later{{local(4, 5, 10, 0), noted(1, 179800)}},
			[][2]int64{{220000, 35200}, {-65000, -10400}, {0, 0}, {0, 0}},
		},
		"a pause": {
			[]later{paused, resumed}, [][2]int64{{120000, 19200}, {190000, 30400}, {0, 0}, {0, 0}},
		},
		"a pause without end": {
			[]later{paused}, [][2]int64{{100000, 16000}, {0, 0}, {0, 0}, {210000, 33600}},
		},
		"the end of the service": {
			[]later{{local(3, 20, 14, 5), events.SubscriptionEnded{SubscriptionID: sub}}},
			[][2]int64{{310000, 49600}, {0, 0}, {0, 0}, {0, 0}},
		},
		"the invoice is void": {
			[]later{{local(4, 5, 10, 0), events.InvoiceVoided{InvoiceID: invoiceID(1), WasIssued: true}}},
			[][2]int64{{220000, 35200}, {-220000, -35200}, {0, 0}, {0, 0}},
		},
	}
}

func TestRevenue_TheExampleOfTheRules(t *testing.T) {
	t.Parallel()
	for name, c := range examples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newRevenueKit(t)
			k.tell(t, local(3, 9, 8, 0), append([]events.Event{created}, charged(1, sub, 310000, 49600)...)...)
			months := []calendar.Date{date(3, 1), date(4, 1), date(5, 1), date(6, 1)}
			if diff := cmp.Diff(make([][2]int64, 4), k.earned(t, acme, months...)); diff != "" {
				t.Errorf("before it is paid (-want +got):\n%s", diff)
			}
			k.tell(t, exampleBegins, paid(1, exampleBegins, exampleEnds))
			march := k.earned(t, acme, months[:2]...)
			if diff := cmp.Diff([][2]int64{{220000, 35200}, {90000, 14400}}, march); diff != "" {
				t.Errorf("March, and what is not yet earned at its end (-want +got):\n%s", diff)
			}
			for _, l := range c.later {
				k.tell(t, l.at, l.of)
			}
			if diff := cmp.Diff(c.want, k.earned(t, acme, months...)); diff != "" {
				t.Errorf("months (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(make([][2]int64, 4), k.earned(t, other, months...)); diff != "" {
				t.Errorf("another tenant (-want +got):\n%s", diff)
			}
		})
	}
}

// What is sold by hand is earned when it is issued, an order when it is paid, and a postpaid period over its days,
// whether it is paid or not. A prepaid one whose days were known before counts only while it is paid. Losses stand
// beside it.
func TestRevenue_WhatIsEarnedWhen(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	order := charged(2, id.Subscription{}, 5000, 0)
	ordered := order[0].(events.InvoiceDrafted) //nolint:forcetypeassert // made above
	ordered.Order, ordered.SoldTo = true, sub
	postpaid := charged(3, payer, 3000, 300)
	drafted := postpaid[0].(events.InvoiceDrafted) //nolint:forcetypeassert // made above
	drafted.PeriodFrom, drafted.PeriodTo = local(3, 17, 0, 0), local(4, 16, 0, 0)
	prepaid := charged(4, sub, 300000, 48000)
	onDay := prepaid[0].(events.InvoiceDrafted) //nolint:forcetypeassert // made above
	onDay.PeriodFrom, onDay.PeriodTo = local(3, 17, 0, 0), local(4, 16, 0, 0)
	k.tell(t, local(3, 17, 0, 0), created, createdPayer, onDay, prepaid[1], ordered, order[1], drafted, postpaid[1])
	k.tell(t, local(3, 17, 0, 0), charged(1, id.Subscription{}, 1000, 160)...)
	k.tell(t, local(4, 2, 8, 0), events.InvoicePaid{InvoiceID: invoiceID(2)}, noted(1, 580),
		events.VoucherRedeemed{
			VoucherSubject: events.VoucherSubject{OrgID: acme}, Price: kes(50), At: local(3, 31, 23, 59),
		})
	k.tell(t, local(4, 2, 8, 0), writtenOff(3, 700)...)
	k.tell(t, local(4, 2, 8, 0), events.WriteOffRecovered{OrgID: acme, Amount: kes(100)})
	want := [][2]int64{{1000 + 1500, 160 + 150}, {5000 - 500 + 1500, -80 + 150}, {0, 0}}
	if diff := cmp.Diff(want, k.earned(t, acme, date(3, 1), date(4, 1), date(5, 1))); diff != "" {
		t.Errorf("months (-want +got):\n%s", diff)
	}
	got, err := k.query.Earned(t.Context(), acme, spanOf(date(3, 1), date(4, 1), date(5, 1)))
	beside := []billingviews.BesideRow{
		{Period: 1, Kind: "voucher", AmountMinor: 50, Count: 1}, {Period: 2, Kind: "loss", AmountMinor: 600, Count: 2},
	}
	if diff := cmp.Diff(beside, got.Beside); diff != "" || err != nil {
		t.Errorf("beside (-want +got): %v\n%s", err, diff)
	}
	plans := map[id.Plan]int64{}
	for _, r := range got.Rows {
		plans[r.PlanID] += r.NetMinor
	}
	if diff := cmp.Diff(map[id.Plan]int64{{}: 500, home: 8000}, plans); diff != "" {
		t.Errorf("by plan (-want +got):\n%s", diff)
	}
}

// A billing day says before the payment for which days a prepaid period is, which makes it no revenue.
func TestRevenue_AMonthWithABillingDayCountsOnlyAsLongAsItIsPaid(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	month := charged(1, sub, 300000, 48000)
	drafted := month[0].(events.InvoiceDrafted) //nolint:forcetypeassert // made above
	drafted.PeriodFrom, drafted.PeriodTo = local(3, 1, 0, 0), local(4, 1, 0, 0)
	for _, step := range []struct {
		what  string
		at    time.Time
		tells []events.Event
		march [2]int64
		april [2]int64
	}{
		{"issued", local(2, 26, 8, 0), []events.Event{created, drafted, month[1]}, [2]int64{}, [2]int64{}},
		{
			"paid", local(2, 27, 8, 0), []events.Event{paid(1, drafted.PeriodFrom, drafted.PeriodTo)},
			[2]int64{300000, 48000}, [2]int64{},
		},
		{
			"taken back", local(4, 5, 8, 0),
			[]events.Event{events.PeriodWithdrawn{SubscriptionID: sub, InvoiceID: invoiceID(1)}},
			[2]int64{300000, 48000}, [2]int64{-300000, -48000},
		},
	} {
		k.tell(t, step.at, step.tells...)
		got := k.earned(t, acme, date(3, 1), date(4, 1), date(5, 1))
		if diff := cmp.Diff([][2]int64{step.march, step.april, {}}, got); diff != "" {
			t.Errorf("%s: March, April and later (-want +got):\n%s", step.what, diff)
		}
	}
}

func TestRevenue_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, local(3, 10, 14, 5))
	begins, ends := local(3, 10, 14, 5), local(4, 10, 14, 5)
	s.Add("subscription-story", created)
	for _, e := range append(charged(1, sub, 310000, 49600), charged(2, id.Subscription{}, 1000, 160)...) {
		s.Add("account-story", e)
	}
	later := func(days int) {
		s.With(func(m *events.Metadata) { m.At = m.At.Add(time.Duration(days) * 24 * time.Hour) })
	}
	s.Add("subscription-story", paid(1, begins, ends))
	later(3)
	s.Add("account-story", noted(1, 50000), noted(2, 1160))
	later(3)
	s.Add("subscription-story", events.SubscriptionPaused{SubscriptionID: sub})
	later(3)
	s.Add("subscription-story", events.SubscriptionResumed{SubscriptionID: sub, Moved: []events.PeriodPlace{
		{InvoiceID: invoiceID(1), From: begins, To: ends.Add(72 * time.Hour)},
	}})
	later(1)
	s.Add("subscription-story", events.BillingSuspended{SubscriptionID: sub, By: events.BillUsedDays})
	later(1)
	s.Add("subscription-story", events.BillingResumed{SubscriptionID: sub, Moved: []events.PeriodPlace{
		{InvoiceID: invoiceID(1), From: begins, To: ends.Add(96 * time.Hour)},
	}})
	later(1)
	s.Add("subscription-story", events.PeriodWithdrawn{SubscriptionID: sub, InvoiceID: invoiceID(1)},
		paid(1, begins, ends.Add(96*time.Hour)))
	later(1)
	s.Add("subscription-story", events.SubscriptionEnded{SubscriptionID: sub})
	for _, e := range writtenOff(2, 700) { // of which a credit note leaves nothing
		s.Add("account-story", e)
	}
	for _, e := range writtenOff(1, 700) {
		s.Add("account-story", e)
	}
	s.Add("account-story", events.RecoveryWithdrawn{OrgID: acme, Amount: kes(70)})
	projectiontest.Check(t, billingviews.Revenue{}, s)
}

// Whatever happens in whatever order: days that are over keep what they had, days sum to the whole, and in the end all
// that counts is earned to the cent.
func TestRevenue_DaysThatAreOverStayAndAllOfItIsEarned(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	seed := uint64(time.Now().UnixNano()) //nolint:forbidigo // a new course of events in each run, which the log names
	t.Logf("seed %d", seed)
	r := newCourse(seed)
	first, days := date(2, 1), []calendar.Date{}
	for d := first; d.Before(date(9, 1)); d = d.AddDays(1) {
		days = append(days, d)
	}
	var before [][2]int64
	now := local(2, 1, 0, 0)
	k.tell(t, now, created)
	for range 40 {
		now = now.Add(time.Duration(r.IntN(80)) * time.Hour).Add(time.Duration(r.IntN(60)) * time.Minute)
		k.tell(t, now, r.next(now)...)
		after := k.earned(t, acme, days...)
		over := int(calendar.On(now, nairobi).Start(nairobi).Sub(first.Start(nairobi)) / (24 * time.Hour))
		if before != nil {
			if diff := cmp.Diff(before[:over], after[:over]); diff != "" {
				t.Fatalf("days that were over on %s (-before +after):\n%s", now, diff)
			}
		}
		before = after
	}
	k.tell(t, now.Add(time.Hour), events.SubscriptionEnded{SubscriptionID: sub})
	var sum [2]int64
	all := k.earned(t, acme, days...)
	for _, d := range all[:len(all)-1] {
		sum[0], sum[1] = sum[0]+d[0], sum[1]+d[1]
	}
	whole := k.earned(t, acme, days[0], days[len(days)-1])
	if want := r.total(); sum != want || whole[0] != want || whole[1] != [2]int64{} || all[len(all)-1] != [2]int64{} {
		t.Errorf("the days sum to %v, the whole is %v, want %v", sum, whole, want)
	}
}

// course makes random events of one subscription and of sales beside it, and knows what has to be earned in the end.
type course struct {
	*rand.Rand
	invoices []*courseInvoice
	paused   bool
}

// courseInvoice has what a course has done to one of its invoices.
type courseInvoice struct {
	n                   int
	prepaid, paid, void bool
	net, tax, noted     int64
	from, to            time.Time
}

// newCourse begins an empty course.
func newCourse(seed uint64) *course {
	return &course{Rand: rand.New(rand.NewPCG(seed, 2))} //nolint:gosec // no secret
}

// next makes what happens at an instant.
func (r *course) next(now time.Time) []events.Event {
	if len(r.invoices) == 0 || r.IntN(3) == 0 {
		i := &courseInvoice{
			n: 100 + len(r.invoices), net: r.Int64N(500000), tax: r.Int64N(80000), prepaid: r.IntN(3) > 0,
		}
		r.invoices = append(r.invoices, i)
		of := id.Subscription{}
		if i.prepaid {
			of = sub
		}
		return charged(i.n, of, i.net, i.tax)
	}
	i := r.invoices[r.IntN(len(r.invoices))]
	switch k := r.IntN(6); {
	case k == 0 && r.paused:
		r.paused = false
		return []events.Event{events.SubscriptionResumed{SubscriptionID: sub, Moved: r.moved(i)}}
	case k == 0:
		r.paused = true
		return []events.Event{events.SubscriptionPaused{SubscriptionID: sub}}
	case k == 1 && i.noted < i.net+i.tax && !i.void:
		part := 1 + r.Int64N(i.net+i.tax-i.noted)
		i.noted += part
		return []events.Event{noted(i.n, part)}
	case k == 2 && r.IntN(4) == 0:
		i.void = true
		return []events.Event{events.InvoiceVoided{InvoiceID: invoiceID(i.n), WasIssued: true}}
	case k == 3 && i.paid:
		i.paid = false
		return []events.Event{events.PeriodWithdrawn{SubscriptionID: sub, InvoiceID: invoiceID(i.n)}}
	case k > 3 && i.prepaid:
		i.paid = true
		i.from = now.Add(time.Duration(r.IntN(200)-100) * time.Hour)
		i.to = i.from.Add(time.Duration(1+r.IntN(900)) * time.Hour)
		e := paid(i.n, i.from, i.to)
		e.Moved = r.moved(i)
		return []events.Event{e}
	}
	return []events.Event{events.InvoicePaid{InvoiceID: invoiceID(i.n)}}
}

// moved has another period that lies later.
func (r *course) moved(than *courseInvoice) []events.PeriodPlace {
	o := r.invoices[r.IntN(len(r.invoices))]
	if o == than || !o.paid {
		return nil
	}
	by := time.Duration(r.IntN(300)) * time.Hour
	o.from, o.to = o.from.Add(by), o.to.Add(by)
	return []events.PeriodPlace{{InvoiceID: invoiceID(o.n), From: o.from, To: o.to}}
}

// total is the sum of what counts of each invoice, less the shares of its credit notes: all of it is earned in the end.
func (r *course) total() (sum [2]int64) {
	for _, i := range r.invoices {
		if i.void || i.prepaid && !i.paid || i.net+i.tax == 0 {
			continue
		}
		taxBack := (2*i.tax*i.noted + i.net + i.tax) / (2 * (i.net + i.tax))
		sum[0], sum[1] = sum[0]+i.net-(i.noted-taxBack), sum[1]+i.tax-taxBack
	}
	return sum
}

// The revenue of a corrected invoice lies where that of the wrong one lay, which has none.
func TestRevenue_ACorrectedInvoiceTakesThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	from, to := local(time.March, 1, 0, 0), local(time.April, 1, 0, 0)
	corrected := events.InvoiceDrafted{
		SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(2), SubscriptionID: sub, Replaces: invoiceID(1),
		Total: kes(700),
		Lines: []events.InvoiceLine{{Quantity: "1", UnitPrice: kes(700), Net: kes(600), Gross: kes(700)}},
	}
	k.tell(t, from, append([]events.Event{created}, charged(1, sub, 1000, 160)...)...)
	k.tell(t, from, paid(1, from, to))
	k.tell(t, from, corrected,
		events.InvoiceIssued{
			SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(2), SubscriptionID: sub, Total: kes(700),
		},
		noted(1, 1160), events.PeriodReissued{
			SubscriptionID: sub, SubscriberID: amina, InvoiceID: invoiceID(1), CorrectedID: invoiceID(2), Ordinal: 1,
			From: from, To: to, At: from,
		})
	got := k.earned(t, acme, date(time.March, 1), date(time.April, 1))
	if want := [][2]int64{{600, 100}, {0, 0}}; !cmp.Equal(want, got) {
		t.Errorf("earned %v, want %v", got, want)
	}
}
