package paymentsapi_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// laterHeader is that of the smallest statement.
const laterHeader = "Receipt No.,Completion Time,Details,Paid In,Withdrawn,Other Party Info,A/C No.\n"

// sendsBack is the statement of a day that has nothing but the reversal of a payment of the day before.
func sendsBack(number, amount string, at time.Time) string {
	return laterHeader + "SJK0000003," + statedAt(at) + ",Reversal of " + number + ",,-" + amount + ",,\n"
}

// TestReconciliation_APaymentThatIsSentBackOnALaterDayIsADifference: the statement of its day has the payment, that of
// the next day the reversal alone. As soon as the receipt is reversed here, both agree, whichever is compared again.
func TestReconciliation_APaymentThatIsSentBackOnALaterDayIsADifference(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 100)
	number := k.Sim.Transactions()[0].ReceiptNumber
	first := k.statementOf(moneytest.PlatformShortcode)
	if got := k.upload(t, apitest.Domain, apitest.Super, first); got.Matched != 1 || len(got.Different) != 0 {
		t.Fatalf("before: %+v", got)
	}
	next := sendsBack(number, "100.00", k.Clock.Now().Add(time.Hour))
	got := k.upload(t, apitest.Domain, apitest.Super, next)
	if len(got.Different) != 1 || got.Different[0].Why != "reversed" || got.Different[0].ReceiptNumber != number {
		t.Errorf("the next day: %+v", got)
	}
	if got := k.upload(t, apitest.Domain, apitest.Super, first); len(got.Different) != 1 {
		t.Errorf("its own day, compared again: %+v", got)
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt.String()+"/reverse", map[string]any{"reason": "x"}, 200)
	k.Quiet(t)
	for _, statement := range []string{first, next} {
		if got := k.upload(t, apitest.Domain, apitest.Super, statement); len(got.Different) != 0 {
			t.Errorf("reversed on both sides: %+v", got.Different)
		}
	}
}

// TestReconciliation_WhatALaterStatementSendsBackIsNotAdopted: the callback of a payment was lost, and the statement of
// its day comes after that of the day on which the provider sent it back.
func TestReconciliation_WhatALaterStatementSendsBackIsNotAdopted(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	now := k.Clock.Now()
	k.upload(t, apitest.Domain, apitest.Super, sendsBack("SJK0000002", "70.00", now.Add(-time.Hour)))
	first := k.upload(t, apitest.Domain, apitest.Super, laterHeader+"SJK0000002,"+statedAt(now.Add(-25*time.Hour))+
		",Pay Bill,70.00,,254700000000 - X,"+commands.AccountNumber(1_000_000)+"\n")
	if len(first.MissingHere) != 0 || len(first.Different) != 0 {
		t.Errorf("a payment that came and went: %+v", first)
	}
}

// TestReconciliation_AStatementThatHasPaymentAndReversalTellsTheOthers: the statement of a week has both, and says
// nothing; that of the first day has the payment alone. It is not taken in, and agrees with a receipt that is reversed.
func TestReconciliation_AStatementThatHasPaymentAndReversalTellsTheOthers(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	now := k.Clock.Now()
	line := "SJK0000002," + statedAt(now.Add(-25*time.Hour)) + ",Pay Bill,70.00,,254700000000 - X," +
		commands.AccountNumber(1_000_000) + "\n"
	back := "SJK0000003," + statedAt(now.Add(-time.Hour)) + ",Reversal of SJK0000002,,-70.00,,\n"
	if got := k.upload(t, apitest.Domain, apitest.Super, laterHeader+line+back); len(got.MissingHere) != 0 {
		t.Errorf("the week: %+v", got.MissingHere)
	}
	day := k.upload(t, apitest.Domain, apitest.Super, laterHeader+line)
	k.Post(t, apitest.Domain, apitest.Super, "/reconciliations/"+day.ID+"/adopt", map[string]any{}, 202)
	k.Quiet(t)
	if have, n := k.Credited(t, k.Amina); have != 0 || len(day.MissingHere) != 0 {
		t.Errorf("credited %d in %d receipts, missing here %+v", have, n, day.MissingHere)
	}
}

// TestReconciliation_BothSidesHaveReversedForEveryStatement: that of the day agrees as well, after one that has both.
func TestReconciliation_BothSidesHaveReversedForEveryStatement(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 100)
	number := k.Sim.Transactions()[0].ReceiptNumber
	day := k.statementOf(moneytest.PlatformShortcode)
	week := day + "SJK0000003," + statedAt(k.Clock.Now().Add(time.Hour)) + ",Reversal of " + number + ",,-100.00,,\n"
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt.String()+"/reverse", map[string]any{"reason": "x"}, 200)
	k.Quiet(t)
	for _, statement := range []string{week, day} {
		if got := k.upload(t, apitest.Domain, apitest.Super, statement); len(got.Different) != 0 {
			t.Errorf("reversed on both sides: %+v", got.Different)
		}
	}
}
