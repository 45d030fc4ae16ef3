package paymentsjobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// manager is a bill manager that answers payments with an internal error, and bills as well where it is told so.
type manager struct {
	refuses          bool
	sends, cancelled int
	asked            int             // cancellations of bills in unclear
	unclear          map[string]bool // references whose cancellations are answered with an internal error
	unknown          bool            // it knows no bill
	shut             error           // no call is made
	unsent           bool            // nothing is sent, of bills and of cancellations
	cause            error           // of that
	takes            func()          // is called when bills are sent
}

// internalError is an answer about which nothing is known.
func internalError() mobilemoney.BillAnswer {
	r := &mobilemoney.Refusal{Status: 200, Code: "500", Message: "internal error"}
	return mobilemoney.BillAnswer{Outcome: mobilemoney.BillInDoubt, Refusal: r, Cause: r}
}

// Ready says that no breaker is open.
func (m *manager) Ready() error { return nil }

// Send takes bills, or refuses them.
func (m *manager) Send(context.Context, mobilemoney.Account, []mobilemoney.Bill) (mobilemoney.BillAnswer, error) {
	m.takes()
	if m.sends++; m.refuses {
		return internalError(), nil
	}
	if m.shut != nil {
		return mobilemoney.BillAnswer{}, m.shut
	}
	if m.unsent {
		return mobilemoney.BillAnswer{Outcome: mobilemoney.BillNotSent, Cause: m.cause}, nil
	}
	return mobilemoney.BillAnswer{Outcome: mobilemoney.BillTaken}, nil
}

// Cancel takes every bill back that it knows, but for those that it gives no clear answer about.
func (m *manager) Cancel(
	_ context.Context, _ mobilemoney.Account, reference string,
) (mobilemoney.BillAnswer, error) {
	switch {
	case m.unsent:
		return mobilemoney.BillAnswer{Outcome: mobilemoney.BillNotSent, Cause: m.cause}, nil
	case m.unclear[reference]:
		m.asked++
		return internalError(), nil
	case m.unknown:
		return mobilemoney.BillAnswer{Outcome: mobilemoney.BillUnknown}, nil
	}
	m.cancelled++
	return mobilemoney.BillAnswer{Outcome: mobilemoney.BillTaken}, nil
}

// Acknowledge knows nothing of any payment.
func (m *manager) Acknowledge(
	context.Context, mobilemoney.Account, mobilemoney.BillPayment,
) (mobilemoney.BillAnswer, error) {
	return internalError(), nil
}

// billsKit has the job of bills on a real log.
type billsKit struct {
	*coretest.Kit
	t     *testing.T
	views *runner.Views
	clock *clock.Manual
	manager
	optIn id.Shortcode

	refused   *prometheus.CounterVec
	customers int // number of those that were made
}

// newBillsKit has a platform that has opted in.
func newBillsKit(t *testing.T) *billsKit {
	t.Helper()
	k := &billsKit{
		t: t, clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		refused: paymentsjobs.NewBillsRefused(nil),
	}
	k.takes = func() {}
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: k.clock}, paymentsviews.Bills{},
		subscribersviews.Subscribers{}, billingviews.Invoices{})
	bus.Register(k.Bus, payments.Bills())
	bus.Register(k.Bus, payments.BillManagers())
	bus.Register(k.Bus, payments.BillOptIns())
	bus.Register(k.Bus, billing.Accounts())
	bus.Register(k.Bus, billing.Signatures())
	bus.Register(k.Bus, subscribers.Subscribers())
	k.views, k.optIn = k.Show(t), commands.BillOptInID(commands.EnvironmentSandbox, shortcode)
	k.optsIn("k")
	return k
}

// optsIn gives the platform a key at the bill manager.
func (k *billsKit) optsIn(key string) {
	k.t.Helper()
	ref := id.New[id.Secret]()
	err := k.Vault.Secrets.Put(k.t.Context(), vault.Secret{Ref: ref, Purpose: commands.BillKeyPurpose}, []byte(key))
	if err != nil {
		k.t.Fatal(err)
	}
	k.do(id.Organization{}, commands.RecordBillOptIn{
		OptInID: k.optIn, Environment: commands.EnvironmentSandbox, Shortcode: shortcode, KeyRef: ref,
	})
}

// do executes a command.
func (k *billsKit) do(org id.Organization, c commands.Command) {
	k.t.Helper()
	k.Run(k.t, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	}, c)
}

// offered is a bill that was handed over, and of which nothing is known since.
func (k *billsKit) offered(org id.Organization) id.Invoice {
	k.t.Helper()
	invoice := id.New[id.Invoice]()
	k.do(org, commands.QueueBill{BillSubject: events.BillSubject{
		OrgID: org, SubscriberID: id.New[id.Subscriber](), InvoiceID: invoice, Number: "A-1",
	}})
	k.do(org, commands.OfferBill{InvoiceID: invoice, Try: 1, Size: 101, Amount: money.Major(100, money.KES)})
	return invoice
}

// pays has the customer of a bill pay it at the bill manager.
func (k *billsKit) pays(org id.Organization, invoice id.Invoice) id.Receipt {
	k.t.Helper()
	receipt := id.New[id.Receipt]()
	k.do(org, commands.PayBill{
		InvoiceID: invoice, ReceiptID: receipt, ReceiptNumber: "SJK4H7L2P9", Amount: money.Major(100, money.KES),
		PaidAt: k.clock.Now(),
	})
	return receipt
}

// tend runs the job, once each hour.
func (k *billsKit) tend(times int) {
	k.t.Helper()
	k.tendEach(times, time.Hour)
}

// tendEach runs the job, with a time after each run.
func (k *billsKit) tendEach(times int, pause time.Duration) {
	k.t.Helper()
	k.tendWith(k.tending(), times, pause)
}

// tending is the job of a program.
func (k *billsKit) tending() *paymentsjobs.Bills {
	return paymentsjobs.NewBills(paymentsjobs.BillsConfig{
		Bus: k.Bus, Views: k.views, Secrets: k.Vault.Secrets, Manager: &k.manager, OptIn: k.optIn, Clock: k.clock,
		Alone:  func(context.Context) (func(), bool, error) { return func() {}, true, nil },
		Logger: storetest.Quiet(), Refused: k.refused,
	})
}

// tendWith runs the job of a program, with a time after each run.
func (k *billsKit) tendWith(bills *paymentsjobs.Bills, times int, pause time.Duration) {
	k.t.Helper()
	for range times {
		k.WaitForAll(k.t, k.views, paymentsviews.BillsName, subscribersviews.SubscribersName,
			billingviews.InvoicesName)
		if err := bills.Tend(k.t.Context(), commands.TendBills{}, newCause()); err != nil {
			k.t.Fatal(err)
		}
		k.clock.Advance(pause)
	}
}

// bill is the state of one.
func (k *billsKit) bill(invoice id.Invoice) payments.Bill {
	k.t.Helper()
	bill, _, err := bus.LoadUnchecked[payments.Bill](k.t.Context(), k.Bus, invoice)
	if err != nil {
		k.t.Fatal(err)
	}
	return bill
}

// TestBills_OnePaymentThatIsNotAcknowledgedStopsNobodyElse: that of one organization is answered with an internal error
// for ever, and the bills of others are to be taken back.
func TestBills_OnePaymentThatIsNotAcknowledgedStopsNobodyElse(t *testing.T) {
	t.Parallel()
	k, one := newBillsKit(t), id.New[id.Organization]()
	k.pays(one, k.offered(one))
	const others = 12
	for range others {
		org := id.New[id.Organization]()
		k.do(org, commands.RecallBill{InvoiceID: k.offered(org), Reason: events.BillVoided})
	}
	if k.tend(5); k.cancelled != others {
		t.Errorf("%d of %d others were served", k.cancelled, others)
	}
}

// TestBills_AnInternalErrorDoesNotGoRoundForEver: a bill alone in its call is tried once in a run, and in the end it
// waits for a person.
func TestBills_AnInternalErrorDoesNotGoRoundForEver(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	k.refuses = true
	invoice := k.waiting(org)
	if k.tend(2); k.sends > 2 {
		t.Errorf("sent %d times in two runs", k.sends)
	}
	k.tend(30)
	if bill := k.bill(invoice); bill.Stage != payments.BillFailed || k.sends > 15 {
		t.Errorf("it is %s after %d tries", bill.Stage, k.sends)
	}
}

// waiting is a bill that waits to be sent, of an invoice over 100 shillings.
func (k *billsKit) waiting(org id.Organization) id.Invoice {
	k.t.Helper()
	who, invoice := id.New[id.Subscriber](), id.New[id.Invoice]()
	k.do(org, commands.ConfigureBillManager{OrgID: org, On: true})
	k.customers++
	k.do(org, coretest.NewSubscriber(who, org, k.customers))
	k.do(org, commands.DraftInvoice{
		SubscriberID: who, OrgID: org, InvoiceID: invoice, Currency: money.KES, Prefix: "ACME",
		DueOn: calendar.Date{Year: 2026, Month: 3, Day: 12},
		Lines: []commands.LineInput{{Description: "Internet", Quantity: "1", UnitPrice: money.Major(100, money.KES)}},
	})
	k.do(org, commands.IssueInvoice{SubscriberID: who, InvoiceID: invoice, Number: "ACME-0001"})
	k.do(org, commands.QueueBill{BillSubject: events.BillSubject{
		OrgID: org, SubscriberID: who, InvoiceID: invoice, Number: "ACME-0001",
	}})
	return invoice
}

// TestBills_PaidOnesInDoubtKeepNobodyWaiting: the answer to a batch was lost, and the customers paid it at the bill
// manager before it could be asked again.
func TestBills_PaidOnesInDoubtKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	k.do(org, commands.ConfigureBillManager{OrgID: org, On: true})
	for range 100 {
		invoice := k.offered(org)
		k.do(org, commands.AcknowledgeBill{InvoiceID: invoice, ReceiptID: k.pays(org, invoice)})
		k.do(org, commands.SettleBill{InvoiceID: invoice})
	}
	k.clock.Advance(time.Second)
	k.do(org, commands.RecallBill{InvoiceID: k.offered(org), Reason: events.BillVoided})
	if k.tend(5); k.cancelled != 1 {
		t.Errorf("the voided invoice was cancelled %d times", k.cancelled)
	}
}

// TestBills_UnclearOnesHoldUpNoOtherAndAreLeftToAPerson: more of them than a turn asks about, in one organization,
// whose other bill is to be taken back, too. Each is asked about twelve times, less and less often.
func TestBills_UnclearOnesHoldUpNoOtherAndAreLeftToAPerson(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	k.unclear = map[string]bool{}
	var unclear []id.Invoice
	const many = 7
	for range many {
		invoice := k.offered(org)
		k.do(org, commands.RecallBill{InvoiceID: invoice, Reason: events.BillVoided})
		unclear, k.unclear[k.bill(invoice).Reference] = append(unclear, invoice), true
	}
	k.clock.Advance(time.Second)
	last := k.offered(org)
	k.do(org, commands.RecallBill{InvoiceID: last, Reason: events.BillVoided})
	if k.tendEach(2, 5*time.Second); k.bill(last).Stage != payments.BillCancelled {
		t.Errorf("behind unclear ones it is %s", k.bill(last).Stage)
	}
	if k.tendEach(6, 5*time.Second); k.asked > 4*many {
		t.Errorf("asked %d times within half a minute", k.asked)
	}
	k.tend(30)
	for _, invoice := range unclear {
		if b := k.bill(invoice); b.Stage != payments.BillFailed || !b.Offered || b.Recalled == "" {
			t.Errorf("in the end it is %+v", b)
		}
	}
	if k.asked != 12*many {
		t.Errorf("asked %d times about %d bills", k.asked, many)
	}
	clear(k.unclear) // a person sends one again: it is taken back first
	k.do(org, commands.QueueBill{Again: true, BillSubject: k.bill(unclear[0]).BillSubject})
	if k.tend(1); k.bill(unclear[0]).Stage != payments.BillCancelled {
		t.Errorf("sent again by hand it is %s", k.bill(unclear[0]).Stage)
	}
}

// TestBills_APaymentThatIsNeverAcknowledgedEnds: the money is booked all the same.
func TestBills_APaymentThatIsNeverAcknowledgedEnds(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	invoice := k.offered(org)
	k.pays(org, invoice)
	k.do(org, commands.SettleBill{InvoiceID: invoice})
	if k.tend(5); k.bill(invoice).State() != payments.BillPaid {
		t.Errorf("after five calls it is %s", k.bill(invoice).State())
	}
	if k.tend(15); k.bill(invoice).State() != payments.BillAcknowledged {
		t.Errorf("in the end it is %s", k.bill(invoice).State())
	}
}

// TestBills_WhatIsNotKnownYetMayBeInWork: the answer to a call was lost, and the bill manager does not know the bill.
// It is sent again only when it cannot come any more.
func TestBills_WhatIsNotKnownYetMayBeInWork(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	k.do(org, commands.ConfigureBillManager{OrgID: org, On: true})
	k.unknown = true
	invoice := k.offered(org)
	if k.tendEach(3, time.Minute); !k.bill(invoice).Offered || k.bill(invoice).Unclear > 0 {
		t.Errorf("after two minutes: %+v", k.bill(invoice))
	}
	k.clock.Advance(2 * time.Minute)
	if k.tend(1); k.bill(invoice).Offered {
		t.Errorf("after five minutes: %+v", k.bill(invoice))
	}
	k.unknown = false // the bill manager was at work for three minutes
	k.clock.Advance(time.Hour)
	other := k.offered(org)
	k.unknown = true
	k.tendEach(3, time.Minute)
	k.unknown = false
	k.clock.Advance(2 * time.Minute)
	if k.tend(1); k.cancelled != 1 || k.bill(other).Offered {
		t.Errorf("it was cancelled %d times: %+v", k.cancelled, k.bill(other))
	}
}
