package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// course has what the log says of a subscription's periods.
type course struct {
	paidUntil time.Time
	periods   []*coursePeriod
	postpaid  bool
}

// coursePeriod is one period with its place, which is zero while it takes no time.
type coursePeriod struct {
	events.PeriodPlace
	state string
}

// number takes an event that gives a document a number, or changes what becomes of it.
func (a *comparison) number(event events.Event) {
	has := func(number string, document fmt.Stringer) {
		if number == "" {
			return
		}
		if a.numbered[number] == nil {
			a.numbered[number] = map[string]bool{}
		}
		a.numbered[number][document.String()] = true
	}
	switch e := event.(type) {
	case events.NumberGranted:
		a.granted[e.SeriesID] = append(a.granted[e.SeriesID], e)
	case events.InvoiceDrafted:
		a.invoices[e.InvoiceID] = &document{state: "draft"}
	case events.InvoiceIssued:
		a.invoices[e.InvoiceID].state = "issued"
		has(e.Number, e.InvoiceID)
	case events.InvoiceVoided:
		a.invoices[e.InvoiceID] = &document{state: "voided"}
		a.voided[e.Number] = true
		has(e.Number, e.InvoiceID)
	case events.InvoicePaid:
		a.invoices[e.InvoiceID].state = "paid"
	case events.InvoiceReopened:
		a.invoices[e.InvoiceID].state = "issued"
	case events.InvoiceCancelled:
		a.invoices[e.InvoiceID].state = "cancelled"
	case events.CreditNoteIssued:
		has(e.Number, e.CreditNoteID)
	case events.CreditNoteVoided:
		has(e.Number, e.CreditNoteID)
	}
}

// period takes an event of a subscription.
func (a *comparison) period(event events.Event) {
	set := func(s id.Subscription, invoice id.Invoice, state string, until time.Time, moved []events.PeriodPlace) {
		a.courses[s].paidUntil = until
		a.byInvoice[invoice].state = state
		for _, m := range moved {
			a.byInvoice[m.InvoiceID].PeriodPlace = m
		}
	}
	switch e := event.(type) {
	case events.SubscriptionCreated:
		a.courses[e.SubscriptionID] = &course{postpaid: e.Terms.Mode == events.Postpaid}
	case events.PeriodDue:
		p := &coursePeriod{state: "due", PeriodPlace: events.PeriodPlace{
			Ordinal: e.Ordinal, InvoiceID: e.InvoiceID, From: e.From, To: e.To,
		}}
		a.byInvoice[e.InvoiceID] = p
		a.courses[e.SubscriptionID].periods = append(a.courses[e.SubscriptionID].periods, p)
	case events.SubscriptionExtended:
		set(e.SubscriptionID, e.InvoiceID, "paid", e.PaidUntil, e.Moved)
		a.byInvoice[e.InvoiceID].From, a.byInvoice[e.InvoiceID].To = e.From, e.To
	case events.PeriodWithdrawn:
		set(e.SubscriptionID, e.InvoiceID, "withdrawn", e.PaidUntil, e.Moved)
	case events.PeriodCancelled:
		set(e.SubscriptionID, e.InvoiceID, "cancelled", e.PaidUntil, e.Moved)
	case events.SubscriptionResumed:
		a.courses[e.SubscriptionID].paidUntil = e.PaidUntil
		for _, m := range e.Moved {
			a.byInvoice[m.InvoiceID].PeriodPlace = m
		}
	}
}

// documentFaults finds gaps and repeats in numbers, and numbers without a document or with two.
func (a *comparison) documentFaults() (list []string) {
	granted := map[string]bool{}
	for series, numbers := range a.granted {
		for i, g := range numbers {
			if g.Seq != int64(i+1) {
				list = append(list, fmt.Sprintf("series %s: number %d of the log is %d", series, i+1, g.Seq))
			}
			if granted[g.Number] {
				list = append(list, "granted twice: "+g.Number)
			}
			granted[g.Number] = true
			if n := len(a.numbered[g.Number]); n != 1 {
				list = append(list, fmt.Sprintf("number %s is on %d documents", g.Number, n))
			}
		}
	}
	for number := range a.numbered {
		if !granted[number] {
			list = append(list, "never granted: "+number)
		}
	}
	return list
}

// courseFaults finds periods that disagree with their invoices, overlap, or are not what paidUntil says.
func (a *comparison) courseFaults() (list []string) {
	agrees := map[string][]string{
		"due": {"issued"}, "withdrawn": {"issued"}, "paid": {"paid"}, "cancelled": {"cancelled", "voided"},
	}
	for subscription, c := range a.courses {
		var last time.Time
		var paid []*coursePeriod
		for _, p := range c.periods {
			invoice := a.invoices[p.InvoiceID]
			if invoice == nil || !slices.Contains(agrees[p.state], invoice.state) {
				list = append(list, fmt.Sprintf("period %d of %s is %s, its invoice %s is %v", p.Ordinal, subscription,
					p.state, p.InvoiceID, invoice))
			}
			if p.state == "paid" {
				paid = append(paid, p)
			}
		}
		slices.SortFunc(paid, func(p, q *coursePeriod) int { return p.From.Compare(q.From) })
		for _, p := range paid {
			if p.From.Before(last) || p.To.Sub(p.From) < 27*24*time.Hour {
				list = append(list, fmt.Sprintf("paid period %d of %s lies in [%s, %s), the one before ends %s",
					p.Ordinal, subscription, p.From, p.To, last))
			}
			last = p.To
		}
		if !c.paidUntil.Equal(last) && !c.postpaid {
			list = append(list, fmt.Sprintf("%s is paid until %s, its paid periods end %s", subscription, c.paidUntil,
				last))
		}
	}
	return list
}

// shown compares what the API shows with the log: statements, balances, paidUntil and the lists of receipts and
// payments. No process may have stopped, and no read model may differ from the log.
func (a *comparison) shown() {
	a.t.Helper()
	a.listed()
	want := map[string]int64{}
	for _, r := range a.receipts {
		for who, minor := range r.on {
			want[who.String()] += minor
		}
	}
	for _, p := range a.crowd.people {
		a.statement(p, want[p.id])
		for _, s := range a.all(*p.org.admin.Load(), "/subscriptions?subscriberId="+p.id) {
			until, _ := time.Parse(time.RFC3339Nano, s.text("paidUntil"))
			if c := a.courses[id.Must[id.Subscription](s.text("id"))]; c == nil ||
				!c.paidUntil.Truncate(time.Microsecond).Equal(until) { // the database keeps microseconds
				a.t.Errorf("subscription %s is shown paid until %s, the log says %+v", s.text("id"), until, c)
			}
		}
	}
	if text := a.command("processes", "list"); !strings.Contains(text, "nothing has stopped") {
		a.t.Error(text)
	}
	if text := a.command("projections", "verify"); strings.Contains(text, "DIFFERENT") {
		a.t.Error(text)
	}
}

// statement checks that the lines of a customer's statement sum to the money on the account and, line by line, to the
// balance, which the customer's page and the account's own events must have as well.
func (a *comparison) statement(p stormPerson, credited int64) {
	a.t.Helper()
	admin := *p.org.admin.Load()
	var credit, balance int64
	for _, line := range slices.Backward(a.all(admin, "/subscribers/"+p.id+"/statement")) {
		credit += minor(line, "credit")
		balance += minor(line, "debit") - minor(line, "credit")
		if minor(line, "balance") != balance {
			a.t.Errorf("statement of %s: the lines so far sum to %d: %v", p.account, balance, line)
		}
	}
	account, _, err := bus.LoadUnchecked[billing.Account](a.t.Context(), a.app.engines.bus,
		id.Must[id.Subscriber](p.id))
	if err != nil {
		a.t.Fatal(err)
	}
	shown := minor(a.must(admin, "GET", "/subscribers/"+p.id, nil), "balance")
	if credit != credited || shown != balance || account.Balance().Minor != balance {
		a.t.Errorf("%s has received %d, the statement says %d; balance: statement %d, shown %d, events %d", p.account,
			credited, credit, balance, shown, account.Balance().Minor)
	}
}

// listed checks that the lists of receipts of all organizations and of the platform have each movement of money once,
// and that no two payments succeeded by the same one.
func (a *comparison) listed() {
	a.t.Helper()
	times, sums := map[string]int{}, map[string]int64{}
	count := func(rows []answer) {
		for _, r := range rows {
			times[r.text("receiptNumber")]++
			sums[r.text("receiptNumber")] += minor(r, "amount")
		}
	}
	count(a.all(*a.crowd.root.Load(), "/receipts?state=suspense"))
	paid := map[string]int{}
	for _, o := range a.crowd.orgs {
		count(a.all(*o.admin.Load(), "/receipts"))
		for _, p := range a.all(*o.admin.Load(), "/payments") {
			number := p.text("receiptNumber")
			if paid[number]++; number != "" && (paid[number] > 1 || times[number] == 0) {
				a.t.Errorf("payment %v: its receipt is of %d payments", p, paid[number])
			}
		}
	}
	for _, tx := range a.sim.Transactions() {
		if times[tx.ReceiptNumber] != 1 || sums[tx.ReceiptNumber] != tx.Amount.Minor {
			a.t.Errorf("receipt %s over %d is listed %d times over %d", tx.ReceiptNumber, tx.Amount.Minor,
				times[tx.ReceiptNumber], sums[tx.ReceiptNumber])
		}
	}
}

// minor gives a field in major units as minor units.
func minor(a answer, field string) int64 {
	v, _ := a[field].(float64)
	if v < 0 {
		return -int64(-v*100 + 0.5)
	}
	return int64(v*100 + 0.5)
}
