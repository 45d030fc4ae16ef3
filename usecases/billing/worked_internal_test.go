package billingcases

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// worked is the customer of docs/billing.md, whose subscription and account follow each other as in the program.
type worked struct {
	t        *testing.T
	settings events.BillingSettings
	line     subscribers.Subscription
	account  billing.Account
	at       time.Time
	invoices []events.InvoiceDrafted
	notes    []string // "150.00 for 3 of 30 days"
}

// local is noon of a day of 2026 in Nairobi.
func local(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC)
}

// sold begins with a subscription of 1,500 a month that is made on 21 March.
func sold(t *testing.T, mode events.BillingMode, day int, vatOnTop bool, extras ...events.Extra) *worked {
	t.Helper()
	w := &worked{t: t, at: local(time.March, 21), settings: events.BillingSettings{
		Timezone: "Africa/Nairobi", Currency: money.KES, InvoicePrefix: "ACME",
		Tax: events.TaxRule{Inclusive: !vatOnTop, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}},
	}}
	var with []commands.AddExtra
	for _, x := range extras {
		with = append(with, commands.AddExtra{Extra: x, Description: personal.Of(string(x.Kind))})
	}
	w.subscription(commands.CreateSubscription{
		Extras:         with,
		SubscriptionID: id.Derive[id.Subscription]("worked"), OrgID: id.Derive[id.Organization]("worked"),
		SubscriberID: id.Derive[id.Subscriber]("worked"), Timezone: w.settings.Timezone, PlanVersion: 1,
		Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: mode, Period: calendar.Month,
			AnchorDay: day,
		},
	})
	return w
}

// subscription decides a command of the subscription, and makes the invoices and credit notes that follow.
func (w *worked) subscription(c commands.SubscriptionCommand) {
	w.t.Helper()
	made, err := subscribers.Subscriptions().Decide(w.line, c, w.at)
	if err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
	for _, e := range made {
		w.line = subscribers.Subscriptions().Evolve(w.line, e)
		switch e := e.(type) {
		case events.PeriodDue:
			w.invoice(e)
		case events.SubscriptionExtended:
			w.credit(e.Credits)
		case events.SubscriptionResumed:
			w.credit(e.Credits)
		case events.SubscriptionEnded:
			w.credit(e.Credits)
		default: // the others cost nothing
		}
	}
}

// invoice drafts and issues the invoice of a period.
func (w *worked) invoice(due events.PeriodDue) {
	w.t.Helper()
	draft, err := DraftUnder(w.settings, commands.DraftOf(due), w.line.ExtraCalled)
	if err != nil {
		w.t.Fatal(err)
	}
	w.money(draft)
	w.money(commands.IssueInvoice{
		SubscriberID: due.SubscriberID, InvoiceID: due.InvoiceID, Number: fmt.Sprintf("ACME-%04d", len(w.invoices)),
	})
}

// credit drafts and issues a credit note for days.
func (w *worked) credit(list []events.DaysCredit) {
	w.t.Helper()
	for _, c := range list {
		note := id.Derive[id.Receipt]("worked", fmt.Sprint(len(w.notes)))
		drafted := w.money(commands.CreditDays{
			SubscriberID: w.line.SubscriberID, CreditNoteID: note, DaysCredit: c, Reason: "worked", Prefix: "ACME-CN",
		})
		w.money(commands.IssueCreditNote{
			SubscriberID: w.line.SubscriberID, CreditNoteID: note, Number: fmt.Sprintf("ACME-CN-%04d", len(w.notes)),
		})
		amount, _ := drafted[0].(events.CreditNoteDrafted)
		w.notes = append(w.notes,
			fmt.Sprintf("a credit note of %s for %d of %d days", figures(amount.Amount), c.Days, c.Of))
	}
}

// money decides a command of the account, and tells the subscription what it must know.
func (w *worked) money(c commands.AccountCommand) []events.AccountEvent {
	w.t.Helper()
	made, err := billing.Accounts().Decide(w.account, c, w.at)
	if err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
	for _, e := range made {
		w.account = billing.Accounts().Evolve(w.account, e)
		switch e := e.(type) {
		case events.InvoiceDrafted:
			w.invoices = append(w.invoices, e)
		case events.InvoicePaid:
			w.subscription(commands.ExtendSubscription{
				SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, PaidAt: w.at, Part: e.Part,
			})
		case events.InvoiceCancelled:
			w.cancelled(e)
		default: // the subscription need not know the others
		}
	}
	return made
}

// cancelled drops a period, or names its corrected invoice, as the process does.
func (w *worked) cancelled(e events.InvoiceCancelled) {
	w.t.Helper()
	if e.ReplacedBy.IsZero() {
		w.subscription(commands.CancelPeriod{SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID})
		return
	}
	w.subscription(commands.ReissuePeriod{
		SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, CorrectedID: e.ReplacedBy,
	})
	if !e.Covered {
		w.subscription(commands.WithdrawPeriod{SubscriptionID: e.SubscriptionID, InvoiceID: e.ReplacedBy})
	}
}

// corrects reissues the newest invoice with another price, and issues both documents.
func (w *worked) corrects(price money.Amount) {
	w.t.Helper()
	corrected, note := id.Derive[id.Invoice]("worked", "corrected"), id.Derive[id.Receipt]("worked", "corrected")
	w.money(commands.ReissueInvoice{
		InvoiceID: w.last().InvoiceID, CreditNoteID: note, NotePrefix: "ACME-CN", Reason: "worked",
		Corrected: commands.DraftInvoice{
			SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner, InvoiceID: corrected, Currency: money.KES,
			Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: price}}, Tax: w.settings.Tax,
			Prefix: "ACME", DueOn: w.last().DueOn,
		},
	})
	w.money(commands.IssueInvoice{SubscriberID: w.line.SubscriberID, InvoiceID: corrected, Number: "ACME-0009"})
	w.money(commands.IssueCreditNote{
		SubscriberID: w.line.SubscriberID, CreditNoteID: note, Number: "ACME-CN-0009",
	})
}

// pays gives money in whole shillings.
func (w *worked) pays(amount money.Amount) {
	w.t.Helper()
	w.money(commands.CreditReceipt{
		SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner, Number: "R", Channel: "cash", Amount: amount,
		PaidAt: w.at, ReceiptID: id.Derive[id.Receipt]("worked", w.at.String(), amount.String()),
	})
}

// next makes the next period due at an instant.
func (w *worked) next(at time.Time) {
	w.at = at
	w.subscription(commands.MakePeriodDue{SubscriptionID: w.line.ID})
}

// last is the newest invoice.
func (w *worked) last() events.InvoiceDrafted { return w.invoices[len(w.invoices)-1] }

// note is the newest credit note.
func (w *worked) note() string { return w.notes[len(w.notes)-1] }

// figures writes an amount with two decimals and commas between thousands.
func figures(a money.Amount) string {
	text := a.Decimal()
	if len(text) > len("999.99") {
		at := len(text) - len("000.00")
		text = text[:at] + "," + text[at:]
	}
	return text
}

// TestBilling_TheWorkedNumbersAreComputed compares docs/billing.md with the program's own rules.
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
	in, top := sold(t, events.Prepaid, 0, false).last(), sold(t, events.Prepaid, 0, true).last()
	list := []string{
		fmt.Sprintf("1,500.00 with VAT in the price: net %s, VAT %s", figures(in.Lines[0].Net),
			figures(in.Taxes[0].Amount)),
		fmt.Sprintf("1,500.00 with VAT on top: net %s, VAT %s, to pay %s", figures(top.Lines[0].Net),
			figures(top.Taxes[0].Amount), figures(top.Total)),
	}
	w := sold(t, events.Prepaid, 1, false)
	part := w.last()
	w.pays(part.Total)
	w.next(local(time.March, 29))
	april := w.last()
	list = append(list,
		fmt.Sprintf("signed up on 21 March, billed on the 1st: %s for %s", daysOf(t, part), figures(part.Total)),
		fmt.Sprintf("the month after it: %s to %s for %s", april.PeriodFrom.In(nairobi).Format("2 January"),
			april.PeriodTo.Add(-time.Second).In(nairobi).Format("2 January"), figures(april.Total)))
	later := *w
	w.at = local(time.April, 4)
	w.pays(april.Total)
	list = append(list, "April is paid on the 4th: "+w.note())
	later.at = local(time.May, 10)
	later.pays(april.Total)
	missed := later.note()
	later.next(later.at)
	return append(list, fmt.Sprintf("April is paid on 10 May: %s, and %s until 1 June for %s", missed,
		daysOf(t, later.last()), figures(later.last().Total)))
}

// workedChanges are a pause, an end and payments.
func workedChanges(t *testing.T) []string {
	t.Helper()
	w := sold(t, events.Postpaid, 1, false)
	w.next(local(time.April, 1))
	ended := *w
	w.at = local(time.April, 10)
	w.subscription(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
	w.at = local(time.April, 20)
	w.subscription(commands.ResumeSubscription{SubscriptionID: w.line.ID, Reason: "is back"})
	ended.at = local(time.April, 20)
	ended.subscription(commands.EndSubscription{SubscriptionID: w.line.ID, Reason: "moves"})
	month := sold(t, events.Prepaid, 0, false)
	month.pays(money.Major(2000, money.KES))
	part := sold(t, events.Prepaid, 1, false)
	asked := part.last().Total.CeilMajor()
	part.pays(asked)
	list := append(workedParts(t),
		"paused from 10 April to 20 April: "+w.note(),
		fmt.Sprintf("ended on 20 April, paid afterwards: %s, and %s to pay", ended.note(),
			figures(ended.account.Invoices[ended.last().InvoiceID].Due)),
	)
	list = append(list, workedExtras(t)...)
	return append(append(list,
		fmt.Sprintf("2,000.00 for an invoice of 1,500.00: %s of credit", figures(month.account.Credit())),
		fmt.Sprintf("asked on the phone for %s: %d, of which %s is credit", figures(part.last().Total),
			asked.Minor/money.KES.Unit(), figures(part.account.Credit())),
	), workedCorrections(t)...)
}

// workedParts are payments of a part of April, for which no other time was paid.
func workedParts(t *testing.T) (list []string) {
	t.Helper()
	for _, amount := range []int64{800, 810} {
		w := sold(t, events.Prepaid, 0, false)
		w.at = local(time.April, 1)
		w.pays(money.Major(amount, money.KES))
		note := id.Derive[id.Receipt]("worked", "part")
		made := w.money(commands.SellDays{
			SubscriberID: w.line.SubscriberID, CreditNoteID: note, InvoiceID: w.last().InvoiceID, Of: 30,
			Reason: "worked", Prefix: "ACME-CN",
		})
		drafted, _ := made[0].(events.CreditNoteDrafted)
		w.money(commands.IssueCreditNote{SubscriberID: w.line.SubscriberID, CreditNoteID: note, Number: "ACME-CN-0001"})
		if until, want := w.line.PaidUntil(), w.at.AddDate(0, 0, drafted.Leaves.Days); !until.Equal(want) {
			t.Errorf("paid until %v, want %v", until, want)
		}
		text := fmt.Sprintf("%s paid in April: %d of %d days, a credit note of %s",
			figures(money.Major(amount, money.KES)), drafted.Leaves.Days, drafted.Leaves.Of, figures(drafted.Amount))
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
	high, low := sold(t, events.Prepaid, 0, false), sold(t, events.Prepaid, 0, false)
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
	w := sold(t, events.Prepaid, 1, false,
		events.Extra{
			ID: id.Derive[id.Extra]("1"), Kind: events.ChargeExtra, Amount: money.Major(2000, money.KES), Periods: 1,
		},
		events.Extra{ID: id.Derive[id.Extra]("2"), Kind: events.AddOnExtra, Amount: money.Major(310, money.KES)},
		events.Extra{ID: id.Derive[id.Extra]("3"), Kind: events.DiscountExtra, BasisPoints: 5000},
	)
	part := w.last()
	w.pays(part.Total)
	w.next(local(time.March, 29))
	return []string{
		fmt.Sprintf("2,000.00 for the installation, an address for 310.00 a month, half price: %s for %s, of which "+
			"the discount is %s", daysOf(t, part), figures(part.Total), figures(part.Lines[3].Gross.Neg())),
		"the month after it: " + figures(w.last().Total),
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
