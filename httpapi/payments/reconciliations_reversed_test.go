package paymentsapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// Anybody who pays one shilling can type another customer's receipt number. That neither hides the other payment nor
// makes it count as sent back.
func TestReconciliation_APaymentThatNamesAnotherReceiptReversesNothing(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true})
	account := commands.AccountNumber(1_000_000)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	lost := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", account, 250) // nobody has told of it
	k.fault(t, provider.Faults{})
	stands := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", account, 100)
	at := statedAt(k.Clock.Now())
	typed := func(number, names string) string {
		return number + "," + at + ",Pay Bill from 254700000000 - X Acc. revers " + names +
			",1.00,,254700000000 - X,revers " + names
	}
	got := k.upload(t, apitest.Domain, apitest.Super, k.statementOf(moneytest.PlatformShortcode,
		typed("SJK0000007", lost.ReceiptNumber), typed("SJK0000008", stands.ReceiptNumber)))
	var missing []string
	for _, m := range got.MissingHere {
		missing = append(missing, m.ReceiptNumber)
	}
	if len(got.MissingHere) != 3 || len(got.Different) != 0 || got.Figures.Reversals != 0 {
		t.Errorf("missing here: %v, wanted %s, SJK0000007 and SJK0000008; different: %+v; figures %+v",
			missing, lost.ReceiptNumber, got.Different, got.Figures)
	}
}

// Money of a prompt whose callback was lost is carried by its provisional receipt. When that has gone again here, as it
// has at the provider, both agree; while it stands, they do not.
func TestReconciliation_APairThatHasGoneAgainAgreesWithTheStatement(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*moneyKit, id.Receipt){
		"stands": nil,
		"reversed": func(k *moneyKit, carries id.Receipt) {
			k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+carries.String()+"/reverse",
				map[string]any{"reason": "sent back"}, 200)
		},
		"refunded": func(k *moneyKit, carries id.Receipt) {
			back := k.refund(t, carries, map[string]any{})
			k.decide(t, back.ID, "approve", map[string]any{}, 200)
			k.decide(t, back.ID, "settle", map[string]any{"outcome": "completed", "reference": "CHQ 1"}, 200)
		},
	} {
		k := newMoneyKit(t, moneytest.Options{})
		k.behave(t, "pay", provider.Faults{DropCallbacks: 1, C2BAlso: true})
		p := k.prompt(t, 1500)
		k.Quiet(t)
		k.Post(t, apitest.Acme, apitest.Admin, "/payments/query", map[string]any{"paymentId": p.PaymentID}, 200)
		k.Quiet(t)
		k.expectCredited(t, 1500, 1)
		number := k.Sim.Transactions()[0].ReceiptNumber
		k.behave(t, "pay", provider.Faults{})
		k.Sim.Resend(number)
		k.Quiet(t)
		different := 1
		if leave != nil {
			different = 0
			carries := commands.ProvisionalReceiptID(*p.CheckoutRequestID)
			leave(k, carries)
			k.Quiet(t)
			if shown := k.receipt(t, carries.String()); shown.State != name {
				t.Errorf("%s: the receipt is %s", name, shown.State)
			}
		}
		at := statedAt(k.Clock.Now())
		got := k.upload(t, apitest.Domain, apitest.Super, k.statementOf(moneytest.PlatformShortcode,
			"SJK0000003,"+at+",Reversal of "+number+",,-1500.00,,"))
		if len(got.Different) != different || got.Matched != 1-different {
			t.Errorf("%s: matched %d, different %+v", name, got.Matched, got.Different)
		}
		alone := "Receipt No.,Completion Time,Paid In,Withdrawn\nSJK0000004," + at + ",1,\n"
		if got := k.upload(t, apitest.Domain, apitest.Super, alone); leave != nil && len(got.MissingThere) != 0 {
			t.Errorf("%s: missing there %+v", name, got.MissingThere)
		}
	}
}

// A clerk reverses a payment here; the provider's statement has it, and nothing that sends it back: the money is at the
// provider and on no account.
func TestReconciliation_MoneyThatWasReversedHereAloneIsADifference(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 100)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt.String()+"/reverse", map[string]any{"reason": "x"}, 200)
	k.Quiet(t)
	file := k.statementOf(moneytest.PlatformShortcode)
	got := k.upload(t, apitest.Domain, apitest.Super, file)
	if got.Matched != 0 || len(got.MissingHere) != 0 || len(got.Different) != 1 ||
		got.Different[0].Why != "reversed_here" {
		t.Errorf("100 came and are on no account: matched %d, different %v, missing here %v",
			got.Matched, got.Different, got.MissingHere)
	}
	number := k.Sim.Transactions()[0].ReceiptNumber
	got = k.upload(t, apitest.Domain, apitest.Super,
		file+"SJK0000003,"+statedAt(k.Clock.Now())+",Reversal of "+number+",,-100.00,,")
	if got.Matched != 1 || len(got.Different) != 0 {
		t.Errorf("sent back by both: matched %d, different %v", got.Matched, got.Different)
	}
}
