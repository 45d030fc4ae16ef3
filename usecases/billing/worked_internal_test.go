package billingcases

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// local is noon of a day of 2026 in Nairobi.
func local(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC)
}

// worked is the customer of docs/billing.md.
type worked struct{ *followed }

// terms are those of the page's plan: 1,500 a month, on an anniversary or a billing day.
func terms(mode events.BillingMode, day int) events.PlanTerms {
	return events.PlanTerms{
		Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: mode, Period: calendar.Month,
		AnchorDay: day,
	}
}

// sold begins with a subscription that is made on 21 March, with VAT in its price.
func sold(t *testing.T, plan events.PlanTerms, extras ...events.Extra) worked {
	t.Helper()
	return soldUnder(t, events.TaxRule{
		Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}},
	}, plan, extras...)
}

// soldUnder is for taxes that are not in the price.
func soldUnder(t *testing.T, tax events.TaxRule, plan events.PlanTerms, extras ...events.Extra) worked {
	t.Helper()
	w := worked{follow(t, events.BillingSettings{
		Timezone: "Africa/Nairobi", Currency: money.KES, InvoicePrefix: "ACME", Tax: tax,
	}, local(time.March, 21))}
	var with []commands.AddExtra
	for _, x := range extras {
		with = append(with, commands.AddExtra{Extra: x, Description: personal.Of(string(x.Kind))})
	}
	w.does(commands.CreateSubscription{
		Extras: with, SubscriptionID: id.Derive[id.Subscription]("worked"), OrgID: id.Derive[id.Organization]("worked"),
		SubscriberID: id.Derive[id.Subscriber]("worked"), Timezone: w.settings.Timezone, PlanVersion: 1, Terms: plan,
		Tax: tax,
	})
	return w
}

// corrects reissues the newest invoice with another price.
func (w worked) corrects(price money.Amount) {
	w.t.Helper()
	w.does(commands.ReissueInvoice{
		InvoiceID: w.lastInvoice().InvoiceID, CreditNoteID: id.Derive[id.Receipt]("worked", "corrected"),
		NotePrefix: "ACME-CN", Reason: "worked",
		Corrected: commands.DraftInvoice{
			SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner,
			InvoiceID: id.Derive[id.Invoice]("worked", "corrected"), Currency: money.KES,
			Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: price}}, Tax: w.settings.Tax,
			Prefix: "ACME", DueOn: w.lastInvoice().DueOn,
		},
	})
}

// pays brings an amount to the account, which pays what is due first.
func (w worked) pays(amount money.Amount) {
	w.t.Helper()
	w.does(commands.CreditReceipt{
		SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner, Number: "R", Channel: "cash", Amount: amount,
		PaidAt: w.at, ReceiptID: id.Derive[id.Receipt]("worked", w.at.String(), amount.String()),
	})
}

// credited tells the newest credit note.
func (w worked) credited() string {
	n := w.lastNote()
	return fmt.Sprintf("a credit note of %s for %d of %d days", figures(n.Amount), n.credits.Days, n.credits.Of)
}

// figures writes an amount with two decimals and commas between thousands.
func figures(a money.Amount) string {
	text := a.Decimal()
	if len(text) > len("999.99") {
		at := len(text) - len("000.00")
		text = text[:at] + "," + text[at:]
	}
	return text
}

// TestBilling_TheWorkedNumbersAreComputed compares docs/billing.md with the program's own rules and
// processes.
func TestBilling_TheWorkedNumbersAreComputed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/billing.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for line := range strings.Lines(string(page)) {
		if text, indented := strings.CutPrefix(line, "    "); indented {
			shown = append(shown, strings.TrimSpace(text))
		}
	}
	computed := append(workedMonths(t), workedChanges(t)...)
	if len(shown) != len(computed) {
		t.Errorf("the page has %d lines, %d are computed", len(shown), len(computed))
	}
	for i := range min(len(shown), len(computed)) {
		if shown[i] != computed[i] {
			t.Errorf("the page says\n\t%s\nand the program\n\t%s", shown[i], computed[i])
		}
	}
}

// workedMonths are whole months, parts and late payments.
func workedMonths(t *testing.T) []string {
	t.Helper()
	whole, onFirst := terms(events.Prepaid, 0), terms(events.Prepaid, 1)
	in, top := sold(t, whole).lastInvoice(), soldUnder(t, events.TaxRule{
		Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}},
	}, whole).lastInvoice()
	part := sold(t, onFirst).lastInvoice()
	inApril := func(month time.Month, day int) (worked, events.InvoiceDrafted) { // and April is paid on this day
		w := sold(t, onFirst)
		w.pays(part.Total)
		w.until(local(time.March, 29))
		april := w.lastInvoice()
		w.until(local(month, day))
		w.pays(april.Total)
		return w, april
	}
	soon, april := inApril(time.April, 4)
	late, _ := inApril(time.May, 10)
	return []string{
		fmt.Sprintf("1,500.00 with VAT in the price: net %s, VAT %s", figures(in.Lines[0].Net),
			figures(in.Taxes[0].Amount)),
		fmt.Sprintf("1,500.00 with VAT on top: net %s, VAT %s, to pay %s", figures(top.Lines[0].Net),
			figures(top.Taxes[0].Amount), figures(top.Total)),
		fmt.Sprintf("signed up on 21 March, billed on the 1st: %s for %s", daysOf(t, part), figures(part.Total)),
		fmt.Sprintf("the month after it: %s to %s for %s", april.PeriodFrom.In(nairobi).Format("2 January"),
			april.PeriodTo.Add(-time.Second).In(nairobi).Format("2 January"), figures(april.Total)),
		"April is paid on the 4th: " + soon.credited(),
		fmt.Sprintf("April is paid on 10 May: %s, and %s until 1 June for %s", late.credited(),
			daysOf(t, late.lastInvoice()), figures(late.lastInvoice().Total)),
	}
}

// workedChanges are a pause, an end and payments.
func workedChanges(t *testing.T) []string {
	t.Helper()
	paused, ended := sold(t, terms(events.Postpaid, 1)), sold(t, terms(events.Postpaid, 1))
	paused.until(local(time.April, 10))
	paused.does(commands.PauseSubscription{SubscriptionID: paused.line.ID, Reason: "travels"})
	paused.until(local(time.April, 20))
	paused.does(commands.ResumeSubscription{SubscriptionID: paused.line.ID, Reason: "is back"})
	ended.until(local(time.April, 20))
	ended.does(commands.EndSubscription{SubscriptionID: ended.line.ID, Reason: "moves"})
	month := sold(t, terms(events.Prepaid, 0))
	month.pays(money.Major(2000, money.KES))
	part := sold(t, terms(events.Prepaid, 1))
	price := part.lastInvoice().Total
	part.pays(price.CeilMajor())
	list := append(workedParts(t),
		"paused from 10 April to 20 April: "+paused.credited(),
		fmt.Sprintf("ended on 20 April, paid afterwards: %s, and %s to pay", ended.credited(),
			figures(ended.account.Invoices[ended.lastInvoice().InvoiceID].Due)),
	)
	list = append(list, workedExtras(t)...)
	return append(append(list,
		fmt.Sprintf("2,000.00 for an invoice of 1,500.00: %s of credit", figures(month.account.Credit())),
		fmt.Sprintf("asked on the phone for %s: %d, of which %s is credit", figures(price),
			price.CeilMajor().Minor/money.KES.Unit(), figures(part.account.Credit())),
		workedWriteOff(t, 100, 1400), workedWriteOff(t, 1500, 0),
	), workedCorrections(t)...)
}

// workedWriteOff gives a part of the first month up; the rest is paid.
func workedWriteOff(t *testing.T, given, paid int64) string {
	t.Helper()
	w := sold(t, terms(events.Prepaid, 0))
	w.givesUp(money.Major(given, money.KES))
	if paid == 0 {
		if due, until := w.account.Due(), w.line.PaidUntil(); due.Positive() || !until.IsZero() {
			t.Errorf("%s due, paid until %s", due, until)
		}
		return fmt.Sprintf("%s of 1,500.00 are given up: nothing is due, and there is no month",
			figures(money.Major(given, money.KES)))
	}
	w.pays(money.Major(paid, money.KES))
	return fmt.Sprintf("%s of 1,500.00 are given up, and %s are paid: paid until %s",
		figures(money.Major(given, money.KES)), figures(money.Major(paid, money.KES)),
		w.line.PaidUntil().In(nairobi).Format("2 January"))
}

// workedParts are payments of a part of April, for which no other time was paid.
func workedParts(t *testing.T) (list []string) {
	t.Helper()
	plan := terms(events.Prepaid, 0)
	plan.PartialPayment = events.PartIsDays
	for _, amount := range []int64{800, 810} {
		w := sold(t, plan)
		w.until(local(time.April, 1))
		w.pays(money.Major(amount, money.KES))
		n := w.lastNote()
		if until, want := w.line.PaidUntil(), w.at.AddDate(0, 0, n.Leaves.Days); !until.Equal(want) {
			t.Errorf("paid until %v, want %v", until, want)
		}
		text := fmt.Sprintf("%s paid in April: %d of %d days, a credit note of %s",
			figures(money.Major(amount, money.KES)), n.Leaves.Days, n.Leaves.Of, figures(n.Amount))
		if credit := w.account.Credit(); credit.Positive() {
			text += fmt.Sprintf(", and %s of credit", figures(credit))
		}
		list = append(list, text)
	}
	return list
}

// workedCorrections are invoices that were too high and too low.
func workedCorrections(t *testing.T) []string {
	t.Helper()
	high, low := sold(t, terms(events.Prepaid, 0)), sold(t, terms(events.Prepaid, 0))
	high.pays(money.Major(1500, money.KES))
	high.corrects(money.Major(1000, money.KES))
	low.pays(money.Major(1500, money.KES))
	low.corrects(money.Major(1800, money.KES))
	if until := low.line.PaidUntil(); !until.IsZero() {
		t.Errorf("the month that is not paid whole is paid until %v", until)
	}
	return []string{
		fmt.Sprintf("1,500.00 were paid, and 1,000.00 are right: %s of credit, paid until %s",
			figures(high.account.Credit()), high.line.PaidUntil().In(nairobi).Format("2 January")),
		fmt.Sprintf("1,500.00 were paid, and 1,800.00 are right: %s due", figures(low.account.Due())),
	}
}

// workedExtras are a charge, an add-on and a discount.
func workedExtras(t *testing.T) []string {
	t.Helper()
	w := sold(t, terms(events.Prepaid, 1),
		events.Extra{
			ID: id.Derive[id.Extra]("1"), Kind: events.ChargeExtra, Amount: money.Major(2000, money.KES), Periods: 1,
		},
		events.Extra{ID: id.Derive[id.Extra]("2"), Kind: events.AddOnExtra, Amount: money.Major(310, money.KES)},
		events.Extra{ID: id.Derive[id.Extra]("3"), Kind: events.DiscountExtra, BasisPoints: 5000},
	)
	part := w.lastInvoice()
	w.pays(part.Total)
	w.until(local(time.March, 29))
	return []string{
		fmt.Sprintf("2,000.00 for the installation, an address for 310.00 a month, half price: %s for %s, of which "+
			"the discount is %s", daysOf(t, part), figures(part.Total), figures(part.Lines[3].Gross.Neg())),
		"the month after it: " + figures(w.lastInvoice().Total),
	}
}

// nairobi is the zone of the page.
var nairobi = time.FixedZone("EAT", 3*60*60)

// daysOf is the end of an invoice's line, which tells the days of a part.
func daysOf(t *testing.T, e events.InvoiceDrafted) string {
	t.Helper()
	_, days, found := strings.Cut(e.Lines[0].Description.Reveal(), "(")
	if !found {
		t.Fatalf("the line %q tells no days", e.Lines[0].Description.Reveal())
	}
	return strings.TrimSuffix(days, ")")
}
