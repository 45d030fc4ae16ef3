package paymentsjobs_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestBills_WhileTheProviderMakesNoCallTheyAreOfferedSeldom: each try is two events for each bill. A new key is tried
// at once.
func TestBills_WhileTheProviderMakesNoCallTheyAreOfferedSeldom(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	invoice := k.waiting(org)
	bills := k.tending()
	k.shut = &failure.Error{Kind: failure.Refused, Code: mobilemoney.CodeAppKeyRefused, Message: "opt in again"}
	if k.tendWith(bills, 100, 30*time.Second); k.sends < 5 || k.sends > 12 {
		t.Errorf("sent %d times in 50 minutes", k.sends)
	}
	k.shut = nil
	k.optsIn("another key")
	k.tendWith(bills, 1, time.Second)
	if bill := k.bill(invoice); bill.Stage != payments.BillSent {
		t.Errorf("with a new key it is %s", bill.Stage)
	}
}

// TestBills_WhileNothingIsSentTheyAreOfferedSeldomWhateverOthersWant: another organization has a bill to take back,
// about which nothing is sent either, and one that rests.
func TestBills_WhileNothingIsSentTheyAreOfferedSeldomWhateverOthersWant(t *testing.T) {
	t.Parallel()
	k, other := newBillsKit(t), id.New[id.Organization]()
	k.unsent = true
	invoice := k.waiting(id.New[id.Organization]())
	leaving := k.offered(other)
	k.do(other, commands.RecallBill{InvoiceID: leaving, Reason: events.BillVoided})
	bills := k.tending()
	if k.tendWith(bills, 100, 35*time.Second); k.sends < 5 || k.sends > 12 {
		t.Errorf("sent %d times in an hour", k.sends)
	}
	k.unsent = false
	k.clock.Advance(10 * time.Minute)
	k.tendWith(bills, 1, time.Second)
	if got := k.bill(invoice); got.Stage != payments.BillSent || k.bill(leaving).Stage != payments.BillCancelled {
		t.Errorf("afterwards they are %s and %s", got.Stage, k.bill(leaving).Stage)
	}
}

// TestBills_APauseBeginsAtTheEndOfARun, however long its calls have taken.
func TestBills_APauseBeginsAtTheEndOfARun(t *testing.T) {
	t.Parallel()
	k := newBillsKit(t)
	k.unsent, k.takes = true, func() { k.clock.Advance(time.Minute) }
	k.waiting(id.New[id.Organization]())
	bills := k.tending()
	if k.tendWith(bills, 2, 10*time.Second); k.sends != 1 {
		t.Errorf("sent %d times", k.sends)
	}
	if k.tendWith(bills, 1, 0); k.sends != 2 {
		t.Errorf("sent %d times after the pause", k.sends)
	}
}

// TestBills_ARunWithoutACallIsNoSignThatCallsAreMade: between two tries a bill is taken back, and one
// is queued where the bill manager is off.
func TestBills_ARunWithoutACallIsNoSignThatCallsAreMade(t *testing.T) {
	t.Parallel()
	k, off := newBillsKit(t), id.New[id.Organization]()
	k.unsent = true
	bills := k.tending()
	for range 8 { // with pauses of 15 seconds to 10 minutes behind them
		org := id.New[id.Organization]()
		invoice := k.waiting(org)
		k.tendWith(bills, 1, 10*time.Minute)
		k.do(org, commands.RecallBill{InvoiceID: invoice, Reason: events.BillVoided})
		k.do(off, commands.QueueBill{BillSubject: events.BillSubject{ // it is off there, so no call is made
			OrgID: off, SubscriberID: id.New[id.Subscriber](), InvoiceID: id.New[id.Invoice](), Number: "A-2",
		}})
		k.tendWith(bills, 1, 0)
	}
	sends := k.sends
	k.waiting(id.New[id.Organization]())
	if k.tendWith(bills, 60, 9*time.Second); k.sends != sends+1 { // nine minutes
		t.Errorf("sent %d times within one pause", k.sends-sends)
	}
}

// TestBills_AClockThatIsPutBackKeepsNothingWaiting: a cancellation that was not answered clearly is asked for again,
// and what was paid elsewhere is taken back.
func TestBills_AClockThatIsPutBackKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	began := k.clock.Now()
	unclear, settled := k.offered(org), k.offered(org)
	k.do(org, commands.RecallBill{InvoiceID: unclear, Reason: events.BillVoided})
	k.unclear = map[string]bool{k.bill(unclear).Reference: true}
	k.do(org, commands.ConfirmBill{InvoiceID: settled, Reference: k.bill(settled).Reference})
	k.do(org, commands.SettleBill{InvoiceID: settled})
	if k.tend(1); k.asked != 1 {
		t.Fatalf("asked %d times", k.asked)
	}
	k.clock.Set(began.Add(-24 * time.Hour))
	k.clock.Advance(time.Minute)
	if k.tend(1); k.asked != 2 {
		t.Errorf("asked %d times with the clock put back", k.asked)
	}
	if got := k.bill(settled); got.Recalled != events.BillElsewhere {
		t.Errorf("what was paid elsewhere is %s, recalled for %q", got.Stage, got.Recalled)
	}
}

// TestBills_AClockThatIsPutBackKeepsNothingInWork: the answer to a call was lost, and the bill manager does not know
// the bill. By a clock that was put back it is at work for as long as it can be, and no longer.
func TestBills_AClockThatIsPutBackKeepsNothingInWork(t *testing.T) {
	t.Parallel()
	for name, looks := range map[string]int{"before it was looked at": 0, "afterwards": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, org := newBillsKit(t), id.New[id.Organization]()
			began := k.clock.Now()
			k.do(org, commands.ConfigureBillManager{OrgID: org, On: true})
			k.unknown = true
			invoice := k.offered(org)
			k.tendEach(looks, time.Minute)
			k.clock.Set(began.Add(-24 * time.Hour))
			if k.tendEach(5, time.Minute); !k.bill(invoice).Offered {
				t.Errorf("it was given up after four minutes: %+v", k.bill(invoice))
			}
			if k.tendEach(1, time.Minute); k.bill(invoice).Offered {
				t.Errorf("after five minutes it is in work: %+v", k.bill(invoice))
			}
		})
	}
}

// TestBills_AClockThatIsSetRightAgainEndsNoWorkEarly: a bill is never asked for again while it may yet be taken.
func TestBills_AClockThatIsSetRightAgainEndsNoWorkEarly(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	began := k.clock.Now()
	k.do(org, commands.ConfigureBillManager{OrgID: org, On: true})
	k.unknown = true
	invoice := k.offered(org)
	k.clock.Set(began.Add(-time.Hour))
	k.tendEach(3, 10*time.Second)
	k.clock.Set(began.Add(time.Minute))
	if k.tendEach(3, 10*time.Second); !k.bill(invoice).Offered {
		t.Errorf("it was given up after a minute and a half: %+v", k.bill(invoice))
	}
	if k.tendEach(5, time.Minute); k.bill(invoice).Offered {
		t.Errorf("after six minutes it is in work: %+v", k.bill(invoice))
	}
}

// TestBills_AClockThatIsPutBackMakesNoPauseLonger: nothing is sent, and then everything.
func TestBills_AClockThatIsPutBackMakesNoPauseLonger(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	k.unsent = true
	invoice := k.waiting(org)
	bills := k.tending()
	k.tendWith(bills, 1, time.Second)
	k.unsent = false
	k.clock.Set(k.clock.Now().Add(-24 * time.Hour))
	if k.tendWith(bills, 1, time.Minute); k.bill(invoice).Stage != payments.BillQueued {
		t.Errorf("within the pause it is %s", k.bill(invoice).Stage)
	}
	if k.tendWith(bills, 1, time.Minute); k.bill(invoice).Stage != payments.BillSent {
		t.Errorf("a minute later it is %s", k.bill(invoice).Stage)
	}
}

// TestBills_ARefusalOfThePlatformIsKept, from the first one on, until a call is answered or another key is there.
func TestBills_ARefusalOfThePlatformIsKept(t *testing.T) {
	t.Parallel()
	for what, code := range map[string]string{
		"key": mobilemoney.CodeAppKeyRefused, "credentials": "provider_credentials_refused",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := newBillsKit(t)
			began := k.clock.Now()
			refusal := &failure.Error{Kind: failure.Refused, Code: code, Message: "no"}
			refuses := func() {
				if k.unsent, k.cause = what == "credentials", refusal; what == "key" {
					k.shut = refusal
				}
			}
			refuses()
			k.waiting(id.New[id.Organization]())
			if k.tend(2); k.refusedSince() == nil || !k.refusedSince().Equal(began) {
				t.Errorf("refused since %v, not %v", k.refusedSince(), began)
			}
			if n := k.counted(what); n != 2 {
				t.Errorf("counted %v times", n)
			}
			k.unsent, k.shut, k.cause = true, nil, nil // for another reason
			if k.tend(1); k.refusedSince() == nil || !k.refusedSince().Equal(began) {
				t.Errorf("while nothing is sent it is refused since %v", k.refusedSince())
			}
			k.unsent = false
			if k.tend(1); k.refusedSince() != nil {
				t.Errorf("while all is well it is refused since %v", k.refusedSince())
			}
			refuses()
			k.waiting(id.New[id.Organization]())
			if k.tend(1); k.refusedSince() == nil {
				t.Error("another refusal is not kept")
			}
			if k.optsIn("another key"); k.refusedSince() != nil {
				t.Errorf("another key is refused since %v", k.refusedSince())
			}
		})
	}
}

// counted is how often it was counted that something is refused.
func (k *billsKit) counted(what string) (n float64) {
	k.t.Helper()
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(k.refused)
	families, err := metrics.Gather()
	if err != nil || len(families) != 1 {
		k.t.Fatal(families, err)
	}
	for _, one := range families[0].GetMetric() {
		if one.GetLabel()[0].GetValue() == what {
			n = one.GetCounter().GetValue()
		}
	}
	return n
}

// refusedSince is since when the platform is refused with its key.
func (k *billsKit) refusedSince() *time.Time {
	k.t.Helper()
	optIn, _, err := bus.LoadUnchecked[payments.BillOptIn](k.t.Context(), k.Bus, k.optIn)
	if err != nil {
		k.t.Fatal(err)
	}
	since, err := k.Vault.Secrets.RefusedSince(k.t.Context(), optIn.Key)
	if err != nil {
		k.t.Fatal(err)
	}
	return since
}

// TestBills_OneThatIsNotSignedWaits, and is looked at less and less often, until it is queued again.
func TestBills_OneThatIsNotSignedWaits(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	invoice := k.unsigned(org)
	k.tendEach(60, time.Minute)
	bill := k.bill(invoice)
	if bill.Stage != payments.BillQueued || bill.WaitsFor != events.BillNotSigned || k.sends > 0 {
		t.Errorf("sent %d times: %+v", k.sends, bill)
	}
	list, err := k.Store.Read(t.Context(), "bill-"+invoice.String(), 0)
	if err != nil || len(list) < 3 || len(list) > 10 {
		t.Errorf("%d events in an hour, %v", len(list), err)
	}
	k.signs(invoice)
	k.do(org, commands.QueueBill{BillSubject: bill.BillSubject})
	if k.tendEach(1, time.Second); k.bill(invoice).Stage != payments.BillSent {
		t.Errorf("signed and queued again it is %+v", k.bill(invoice))
	}
}

// TestBills_OneThatIsSignedInThatMomentIsSent: the process has queued it before it was recorded that it waits, which
// changed nothing, and does so no second time.
func TestBills_OneThatIsSignedInThatMomentIsSent(t *testing.T) {
	t.Parallel()
	k, org := newBillsKit(t), id.New[id.Organization]()
	invoice := k.unsigned(org)
	k.tend(1)
	k.signs(invoice)
	if k.tend(1); k.bill(invoice).Stage != payments.BillSent {
		t.Errorf("it is %+v", k.bill(invoice))
	}
}

// unsigned is waiting for an invoice that the tax authority has not signed.
func (k *billsKit) unsigned(org id.Organization) id.Invoice {
	k.t.Helper()
	invoice := k.waiting(org)
	bill := k.bill(invoice)
	k.do(org, commands.QueueSignature{
		SignatureSubject: events.SignatureSubject{
			SignatureID: id.As[id.Signature](invoice), OrgID: org, SubscriberID: bill.SubscriberID,
			Document: events.TaxInvoice, InvoiceID: invoice, Number: bill.Number,
		},
		Total: money.Major(100, money.KES), IssuedAt: k.clock.Now(),
	})
	return invoice
}

// signs has the tax authority sign an invoice.
func (k *billsKit) signs(invoice id.Invoice) {
	k.t.Helper()
	k.do(k.bill(invoice).OrgID, commands.RecordSignature{
		SignatureID: id.As[id.Signature](invoice), ControlNumber: "C-1", Verification: "https://tax.test/C-1",
		SignedAt: k.clock.Now(),
	})
}
