package receipts_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
)

// The ids and the amount of these tests.
var (
	now         = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org         = id.Must[id.Organization]("0195a000-0000-7000-8000-000000000001")
	sub         = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000011")
	sub2        = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000012")
	attempt     = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000031")
	invoice     = id.Must[id.Invoice]("0195a000-0000-7000-8000-000000000021")
	realMoney   = commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	provisional = commands.ProvisionalReceiptID("ws_CO_1")
	amount      = money.Major(1500, money.KES)
)

// The events that bring or claim money.
var (
	byCallback = events.ReceiptRecorded{
		ReceiptID: realMoney, OrgID: org, ReceiptNumber: "SJK4X7Q2P1", Channel: "stk", Amount: amount,
		PaymentID: attempt, Sighting: "stk_callback", RecordedAt: now,
	}
	byPaybill = events.ReceiptRecorded{
		ReceiptID: realMoney, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b", Amount: amount, Sighting: "c2b_confirmation",
		RecordedAt: now,
	}
	byQuery = events.ReceiptRecorded{
		ReceiptID: provisional, OrgID: org, Channel: "stk", Amount: amount, PaymentID: attempt, Provisional: true,
		Sighting: "query", RecordedAt: now,
	}
	claimed = events.ProvisionalClaimed{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptID: realMoney,
		ReceiptNumber: "SJK4X7Q2P1", ProvisionalReceiptID: provisional,
	}
)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[receipts.State] {
	t.Helper()
	return processtest.For(t, receipts.Process(), now).Given(list...)
}

// does is an output without jobs and timers.
func does(c ...commands.Command) processmanagers.Output { return processmanagers.Output{Commands: c} }

// credits is an output of bookings whose last one is a credit; the instance waits for that until a day has passed.
func credits(c ...commands.Command) processmanagers.Output {
	return processmanagers.Output{
		Commands: c, Timers: []processmanagers.Timer{{Name: "credited", At: now.Add(24 * time.Hour)}},
	}
}

func TestReceipt_OfAKnownAttemptSettlesIt(t *testing.T) {
	t.Parallel()
	after(t).When(byCallback).Then(does(commands.SettlePayment{
		PaymentID: attempt, ReceiptID: realMoney, ReceiptNumber: "SJK4X7Q2P1", Amount: amount, By: "callback",
	}))
	after(t).When(events.PaymentSucceeded{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptID: realMoney,
	}).Then(does(commands.MatchReceipt{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, InvoiceID: invoice, PaymentID: attempt, By: "prompt",
	}))
}

func TestReceipt_OfAnUnknownPayerIsLookedFor(t *testing.T) {
	t.Parallel()
	find := processmanagers.Output{
		Jobs: []commands.Job{commands.FindPayer{ReceiptID: realMoney, Position: processtest.Position}},
	}
	after(t).When(byPaybill).Then(find)
	after(t, byPaybill).When(events.ReceiptSighted{
		ReceiptID: realMoney, Sighting: "stk_callback", CheckoutRequestID: "ws_CO_1",
	}).Then(find)
	after(t, byPaybill).When(events.ReceiptSighted{ReceiptID: realMoney, Sighting: "c2b_confirmation"}).ThenNothing()
}

func TestReceipt_ThatItsAttemptRefusesWaitsInSuspense(t *testing.T) {
	t.Parallel()
	hold := does(commands.HoldReceipt{ReceiptID: realMoney, Reason: "conflicting_prompt"})
	after(t, byCallback).WhenRefused(commands.SettlePayment{PaymentID: attempt}, "payment_settled").Then(hold)
	after(t, byCallback).WhenRefused(commands.SettlePayment{PaymentID: attempt}, "amount_mismatch").Then(hold)
}

func TestCreditOnce_MatchedMoneyGoesToOneAccount(t *testing.T) {
	t.Parallel()
	matched := events.ReceiptMatched{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptNumber: "SJK4X7Q2P1",
		Channel: "c2b", Amount: amount, PaidAt: now, At: now,
	}
	waits := after(t, byPaybill).When(matched).Then(credits(commands.CreditReceipt{
		SubscriberID: sub, OrgID: org, ReceiptID: realMoney, InvoiceID: invoice, Number: "SJK4X7Q2P1", Channel: "c2b",
		Amount: amount, PaidAt: now, MatchedAt: now,
	})).ThenGoesOn()
	waits.When(events.ReceiptCredited{SubscriberID: sub, ReceiptID: realMoney}).ThenNothing().ThenEnded()
	waits.When(events.ReceiptCredited{SubscriberID: sub2, ReceiptID: realMoney}).ThenNothing().ThenGoesOn()
	// The account has the money already, and says nothing.
	waits.WhenDue("credited", now.Add(24*time.Hour)).ThenNothing().ThenEnded()
}

func TestMoneyThatTheAccountRefuses_GoesBackToSuspense(t *testing.T) {
	t.Parallel()
	matched := events.ReceiptMatched{ReceiptID: realMoney, OrgID: org, SubscriberID: sub, Amount: amount, At: now}
	after(t, byPaybill, matched).WhenRefused(commands.CreditReceipt{SubscriberID: sub}, "currency_mismatch").
		Then(does(commands.HoldReceipt{ReceiptID: realMoney, Reason: "not_credited", SubscriberID: sub}))
	after(t, byPaybill, matched).WhenRefused(commands.CreditReceipt{SubscriberID: sub2}, "currency_mismatch").
		ThenNothing() // the money was moved meanwhile
	after(t, byPaybill, matched, events.ReceiptCredited{SubscriberID: sub, ReceiptID: realMoney}).
		WhenRefused(commands.CreditReceipt{SubscriberID: sub}, "currency_mismatch").ThenNothing().ThenEnded()
}

func TestReceipt_SeenAgainAfterItsMatchLeavesNoRow(t *testing.T) {
	t.Parallel()
	after(t).When(events.ReceiptSighted{
		ReceiptID: realMoney, Sighting: "c2b_confirmation", CheckoutRequestID: "ws_CO_1",
	}).Then(processmanagers.Output{
		Jobs: []commands.Job{commands.FindPayer{ReceiptID: realMoney, Position: processtest.Position}},
	}).ThenEnded()
	after(t).When(events.ReceiptSighted{ReceiptID: realMoney, Sighting: "c2b_confirmation"}).ThenNothing().ThenEnded()
}

func TestContradiction_WaitsForAPerson(t *testing.T) {
	t.Parallel()
	contradicting := byCallback
	contradicting.Contradicts = provisional
	after(t).When(contradicting).ThenNothing()
}

func TestProvisional_ClaimedMoneyIsNotCreditedAgain(t *testing.T) {
	t.Parallel()
	want := does(commands.SettlePayment{
		PaymentID: attempt, ReceiptID: provisional, Amount: amount, By: "query", Provisional: true,
	})
	want.Timers = []processmanagers.Timer{{Name: "unclaimed", At: now.Add(48 * time.Hour)}}
	after(t).When(byQuery).Then(want)
	after(t, byPaybill).When(claimed).Then(does(commands.ClaimProvisional{
		ReceiptID: provisional, ClaimedBy: realMoney, ReceiptNumber: "SJK4X7Q2P1",
	}))
	after(t, byPaybill, claimed).When(events.ReceiptClaimed{
		ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, ClaimedBy: realMoney,
	}).Then(does(commands.AbsorbReceipt{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, PaymentID: attempt, CarriedBy: provisional,
	}))
	after(t).When(events.ProvisionalSuperseded{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, ReceiptID: realMoney, ProvisionalReceiptID: provisional,
	}).Then(does(commands.AbsorbReceipt{
		ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, CarriedBy: realMoney,
	}))
}

func TestProvisional_ThatWasReversedLeavesTheRealReceiptItsCredit(t *testing.T) {
	t.Parallel()
	after(t, byPaybill, claimed).
		WhenRefused(commands.ClaimProvisional{ReceiptID: provisional}, "receipt_reversed").
		Then(does(commands.MatchReceipt{
			ReceiptID: realMoney, OrgID: org, SubscriberID: sub, InvoiceID: invoice, PaymentID: attempt, By: "prompt",
		}))
}

func TestProvisional_UnclaimedForTwoDaysIsAnAlarm(t *testing.T) {
	t.Parallel()
	matched := events.ReceiptMatched{ReceiptID: provisional, OrgID: org, SubscriberID: sub, Amount: amount}
	waits := after(t, byQuery).When(matched).ThenGoesOn() // the instance must live on for its timer
	waits.WhenDue("unclaimed", now.Add(48*time.Hour)).
		Then(does(commands.MarkUnclaimed{ReceiptID: provisional})).ThenEnded()
}

func TestMistakes_MoveMoneyBetweenAccounts(t *testing.T) {
	t.Parallel()
	after(t).When(events.ReceiptReversed{ReceiptID: realMoney, SubscriberID: sub, Reason: personal.Of("fraud")}).
		Then(does(commands.WithdrawReceipt{
			SubscriberID: sub, ReceiptID: realMoney, Reason: "the payment was reversed",
		}))
	after(t).When(events.ReceiptReversed{ReceiptID: realMoney, Reason: personal.Of("fraud")}).ThenNothing()
	after(t).When(events.ReceiptAbsorbed{ReceiptID: realMoney, CreditedTo: sub}).Then(does(commands.WithdrawReceipt{
		SubscriberID: sub, ReceiptID: realMoney, Reason: "credited by another receipt",
	}))
}

func TestAttributedMoney_OfAnAttemptIsToldToTheAttempt(t *testing.T) {
	t.Parallel()
	settles := func(r id.Receipt, number string, account id.Subscriber) commands.SettlePayment {
		return commands.SettlePayment{
			PaymentID: attempt, ReceiptID: r, ReceiptNumber: number, Amount: amount, By: "operator",
			Provisional: number == "", SubscriberID: account,
		}
	}
	matched := events.ReceiptMatched{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub, PaymentID: attempt, ReceiptNumber: "SJK4X7Q2P1",
		Channel: "stk", Amount: amount, PaidAt: now, By: "operator", At: now,
	}
	credit := commands.CreditReceipt{
		SubscriberID: sub, OrgID: org, ReceiptID: realMoney, Number: "SJK4X7Q2P1", Channel: "stk", Amount: amount,
		PaidAt: now, MatchedAt: now,
	}
	after(t, byCallback).When(matched).Then(credits(credit, settles(realMoney, "SJK4X7Q2P1", sub)))
	byRule := matched
	byRule.By = "prompt"
	after(t, byCallback).When(byRule).Then(credits(credit)) // its attempt knows it already
	unnamed, ofQuery := matched, matched
	unnamed.PaymentID = id.Payment{}
	after(t, byPaybill).When(unnamed).Then(credits(credit))
	ofQuery.ReceiptID, ofQuery.ReceiptNumber = provisional, ""
	credit.ReceiptID, credit.Number = provisional, ""
	after(t, byQuery).When(ofQuery).Then(credits(credit, settles(provisional, "", sub)))
	after(t).When(events.ReceiptReattributed{
		ReceiptID: realMoney, OrgID: org, From: sub, To: sub2, PaymentID: attempt, ReceiptNumber: "SJK4X7Q2P1",
		Channel: "stk", Amount: amount, PaidAt: now, Move: 1, Reason: personal.Of("typing error"), At: now,
	}).Then(does(
		commands.WithdrawReceipt{
			SubscriberID: sub, ReceiptID: realMoney, Whole: true, Reason: "the payment is another subscriber's",
		},
		settles(realMoney, "SJK4X7Q2P1", sub2),
	))
	confirmed := matched
	confirmed.Confirms = true
	after(t).When(confirmed).Then(does(settles(realMoney, "SJK4X7Q2P1", sub))).ThenEnded() // its account has the money
}

func TestReceipt_OfAPaybillSaysWhereItsVerdictIsFrom(t *testing.T) {
	t.Parallel()
	own := byCallback
	own.Sighting = "c2b_confirmation"
	after(t).When(own).Then(does(commands.SettlePayment{
		PaymentID: attempt, ReceiptID: realMoney, ReceiptNumber: "SJK4X7Q2P1", Amount: amount, By: "c2b",
	}))
	after(t, byPaybill).When(events.ReceiptSighted{
		ReceiptID: realMoney, Sighting: "stk_callback", PaymentID: attempt,
	}).Then(processmanagers.Output{
		Jobs: []commands.Job{commands.FindPayer{ReceiptID: realMoney, Position: processtest.Position}},
	})
}

func TestProvisional_ThatIsOverEnds(t *testing.T) {
	t.Parallel()
	for _, end := range []events.Event{
		events.ReceiptAbsorbed{ReceiptID: provisional}, events.ReceiptUnclaimed{ReceiptID: provisional},
		events.ReceiptReversed{ReceiptID: provisional},
	} {
		after(t, byQuery).When(end).ThenEnded()
	}
	matched := events.ReceiptMatched{ReceiptID: provisional, OrgID: org, SubscriberID: sub, Amount: amount, At: now}
	credited := events.ReceiptCredited{SubscriberID: sub, ReceiptID: provisional}
	after(t, byQuery, matched).When(credited).ThenNothing().ThenGoesOn() // its alarm is still armed
	after(t, byQuery, matched).WhenDue("credited", now).ThenNothing().ThenGoesOn()
}

func TestCash_NeedsNoLookingFor(t *testing.T) {
	t.Parallel()
	after(t).When(events.ReceiptRecorded{ReceiptID: realMoney, Channel: "cash"}).ThenNothing()
}

func TestProcess_EveryHandledEventBelongsToTheReceipt(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, receipts.Process(), realMoney.String(), byCallback, byPaybill, claimed,
		events.ReceiptSighted{ReceiptID: realMoney}, events.ReceiptMatched{ReceiptID: realMoney},
		events.ReceiptClaimed{ReceiptID: provisional, ClaimedBy: realMoney},
		events.ReceiptAbsorbed{ReceiptID: realMoney}, events.ReceiptUnclaimed{ReceiptID: realMoney},
		events.ReceiptReversed{ReceiptID: realMoney}, events.ReceiptReattributed{ReceiptID: realMoney},
		events.PaymentSucceeded{ReceiptID: realMoney}, events.ReceiptCredited{ReceiptID: realMoney},
		events.ReceiptStalled{ReceiptID: realMoney}, events.ReceiptWithdrawn{ReceiptID: realMoney},
		events.ReceiptRefunded{ReceiptID: realMoney},
		events.ProvisionalSuperseded{ReceiptID: provisional, ProvisionalReceiptID: realMoney})
}
