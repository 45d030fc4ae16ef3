package billingcases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// period is a period of the plan "Home 10 Mbps" for Amina, due late on 31 March UTC: already the first of April in
// Nairobi.
func (k *kit) period(unit calendar.Period, from, to time.Time) commands.DraftPeriodInvoice {
	return commands.DraftPeriodInvoice{
		SubscriberID: k.amina, OrgID: k.acme, InvoiceID: id.New[id.Invoice](),
		SubscriptionID: id.New[id.Subscription](), PeriodFrom: from, PeriodTo: to,
		DueAt: time.Date(2026, 3, 31, 21, 30, 0, 0, time.UTC), PlanName: "Home 10 Mbps",
		Price: money.Major(1500, money.KES), Period: unit,
	}
}

// draftOf executes the command as a process does, and gives the draft in the log.
func (k *kit) draftOf(t *testing.T, c commands.DraftPeriodInvoice) events.InvoiceDrafted {
	t.Helper()
	_, err := billingcases.PeriodInvoices{Bus: k.Bus}.Execute(t.Context(), c, coretest.Operator(k.acme))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range k.log(t) {
		if d, ok := e.Event.(events.InvoiceDrafted); ok && d.InvoiceID == c.InvoiceID {
			return d
		}
	}
	t.Fatal("no draft")
	return events.InvoiceDrafted{}
}

func TestPeriodInvoices_PeriodIsDraftedUnderThePresentSettings(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	from, to := time.Date(2026, 3, 1, 21, 0, 0, 0, time.UTC), time.Date(2026, 3, 8, 21, 0, 0, 0, time.UTC)
	c := k.period(calendar.Week, from, to)
	d := k.draftOf(t, c)
	if d.Total != money.Major(1500, money.KES) || len(d.Taxes) == 0 || d.SubscriptionID != c.SubscriptionID ||
		d.DueOn != (calendar.Date{Year: 2026, Month: time.April, Day: 1}) || !d.PeriodFrom.Equal(from) ||
		!d.PeriodTo.Equal(to) || d.Prefix == "" {
		t.Errorf("drafted %+v", d)
	}
}

func TestPeriodInvoices_LineNamesThePeriodInLocalTime(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC) }
	for want, c := range map[string]commands.DraftPeriodInvoice{
		"Home 10 Mbps, 1 month":                   k.period(calendar.Month, time.Time{}, time.Time{}),
		"Home 10 Mbps, 2026-03-02 to 2026-03-08":  k.period(calendar.Week, at(1, 21), at(8, 21)),
		"Home 10 Mbps, 2026-03-01 to 2026-03-08":  k.period(calendar.Week, at(1, 9), at(8, 9)),
		"Home 10 Mbps, 2026-03-02 00:00 to 01:00": k.period(calendar.Hour, at(1, 21), at(1, 22)),
		"Home 10 Mbps, 1 hour":                    k.period(calendar.Hour, time.Time{}, time.Time{}),
		"Home 10 Mbps, 2026-03-05 to 2026-03-05":  k.period(calendar.Day, at(4, 21), at(5, 21)),
	} {
		if d := k.draftOf(t, c); d.Lines[0].Description.Reveal() != want {
			t.Errorf("line is %q, want %q", d.Lines[0].Description.Reveal(), want)
		}
	}
}

func TestPeriodInvoices_LongPlanNameIsCutSoThatItIsInvoiced(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	c := k.period(calendar.Month, time.Time{}, time.Time{})
	c.PlanName = strings.Repeat("é", 500)
	if d := k.draftOf(t, c); len([]rune(d.Lines[0].Description.Reveal())) != commands.MaxLineDescription {
		t.Errorf("line is %q", d.Lines[0].Description.Reveal())
	}
}

func TestPeriodInvoices_UnknownOrganizationIsRefusedAndOtherCommandsPass(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	u := billingcases.PeriodInvoices{Bus: k.Bus}
	c := k.period(calendar.Month, time.Time{}, time.Time{})
	c.OrgID = id.New[id.Organization]()
	_, err := u.Execute(t.Context(), c, coretest.Operator(c.OrgID))
	coretest.Refused(t, "a period of nobody", err, "organization_not_found")
	_, err = u.Execute(t.Context(), commands.IssueInvoice{
		SubscriberID: k.amina, InvoiceID: id.New[id.Invoice](), Number: "ACME-0001",
	}, coretest.Operator(k.acme))
	coretest.Refused(t, "an issue without an account", err, "account_not_found")
	_, err = k.Bus.Execute(t.Context(), k.period(calendar.Month, time.Time{}, time.Time{}), coretest.Operator(k.acme))
	coretest.Refused(t, "a period without settings", err, "settings_missing")
}

func TestPeriodInvoices_ATopUpIsInvoicedForItsSubscription(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	of := events.UsageSubject{SubscriptionID: id.New[id.Subscription](), OrgID: k.acme, SubscriberID: k.amina}
	lapses := time.Date(2026, 3, 31, 21, 0, 0, 0, time.UTC) // the first of April in Nairobi
	for due, order := range map[calendar.Date]time.Time{
		{Year: 2026, Month: time.March, Day: 10}: {}, {Year: 2026, Month: time.April, Day: 1}: lapses,
	} {
		c := commands.TopUpInvoice(of, id.New[id.Invoice](), 1, money.Major(250, money.KES), k.clock.Now())
		c.OrderedUntil = order
		u := billingcases.PeriodInvoices{Bus: k.Bus}
		if _, err := u.Execute(t.Context(), c, coretest.Operator(k.acme)); err != nil {
			t.Fatal(err)
		}
		log := k.log(t)
		d, _ := log[len(log)-1].Event.(events.InvoiceDrafted)
		if d.InvoiceID != c.InvoiceID || !d.SubscriptionID.IsZero() || d.SoldTo != of.SubscriptionID ||
			d.Order != !order.IsZero() || d.DueOn != due {
			t.Errorf("drafted %+v", d)
		}
	}
}

func TestPeriodInvoices_AnInvoiceThatCannotBeVoidedIsCredited(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.period(calendar.Month, time.Time{}, time.Time{})
	k.draftOf(t, p)
	execute := func(c commands.Command) {
		t.Helper()
		if _, err := (billingcases.PeriodInvoices{Bus: k.Bus}).Execute(t.Context(), c,
			coretest.Operator(k.acme)); err != nil {
			t.Fatal(err)
		}
	}
	execute(commands.IssueInvoice{SubscriberID: k.amina, InvoiceID: p.InvoiceID, Number: "ACME-0001"})
	execute(commands.DraftCreditNote{
		SubscriberID: k.amina, CreditNoteID: id.New[id.Receipt](), InvoiceID: p.InvoiceID,
		Amount: money.Major(200, money.KES), Reason: "outage", Prefix: "ACME-CN",
	})
	execute(commands.VoidInvoice{SubscriberID: k.amina, InvoiceID: p.InvoiceID, Reason: "ended", ReleaseMoney: true})
	log := k.log(t)
	rest, ok := log[len(log)-1].Event.(events.CreditNoteDrafted)
	if !ok || rest.Amount != money.Major(1300, money.KES) || rest.Prefix != "ACME-CN" {
		t.Errorf("the last event is %+v", log[len(log)-1].Event)
	}
}
