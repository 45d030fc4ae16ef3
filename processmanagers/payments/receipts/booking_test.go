package receipts_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// third is one more subscriber.
var third = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000013")

// movedTo is a move of the receipt between accounts.
func movedTo(from, to id.Subscriber, move int) events.ReceiptReattributed {
	return events.ReceiptReattributed{
		ReceiptID: realMoney, OrgID: org, From: from, To: to, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Amount: amount, PaidAt: now, Move: move, Reason: personal.Of("typing error"), At: now,
	}
}

// leaves asks an account to give all of the money back, because another is to get it.
func leaves(from id.Subscriber) commands.WithdrawReceipt {
	return commands.WithdrawReceipt{
		SubscriberID: from, ReceiptID: realMoney, Whole: true, Reason: "the payment is another subscriber's",
	}
}

// goesTo asks an account to credit moved money.
func goesTo(to id.Subscriber, move int) commands.CreditReceipt {
	return commands.CreditReceipt{
		SubscriberID: to, OrgID: org, ReceiptID: realMoney, Number: "SJK4X7Q2P1", Channel: "c2b", Amount: amount,
		PaidAt: now, Move: move, MatchedAt: now,
	}
}

// gaveBack is the event of an account that gave the whole receipt back.
func gaveBack(from id.Subscriber) events.ReceiptWithdrawn {
	return events.ReceiptWithdrawn{SubscriberID: from, ReceiptID: realMoney, Amount: amount, At: now}
}

func TestMovedMoney_IsCreditedOnlyWhenTheOtherAccountHasGivenItBack(t *testing.T) {
	t.Parallel()
	waits := after(t).When(movedTo(sub, sub2, 1)).Then(does(leaves(sub))).ThenGoesOn()
	part := gaveBack(sub)
	part.WithdrawalID = id.New[id.Withdrawal]()
	waits.When(part).ThenNothing().ThenGoesOn()
	waits.When(gaveBack(third)).ThenNothing().ThenGoesOn()
	credited := waits.When(gaveBack(sub)).Then(credits(goesTo(sub2, 1))).ThenGoesOn()
	credited.When(events.ReceiptCredited{SubscriberID: sub2, ReceiptID: realMoney}).ThenNothing().ThenEnded()
	credited.WhenRefused(goesTo(sub2, 1), "currency_mismatch").
		Then(does(commands.HoldReceipt{ReceiptID: realMoney, Reason: "not_credited", SubscriberID: sub2}))
	credited.WhenRefused(goesTo(sub2, 1), "receipt_withdrawn").ThenNothing() // its money has left in parts
	less := gaveBack(sub)
	less.Amount = money.Major(1, money.KES)
	credit := goesTo(sub2, 1)
	credit.Amount = less.Amount
	waits.When(less).Then(credits(credit)) // never more than the account gave back
	less.Amount = money.Of(0, money.KES)
	waits.When(less).ThenNothing().ThenEnded()
	waits.WhenDue("credited", now.Add(24*time.Hour)).ThenNothing().ThenGoesOn()
}

func TestMovedMoney_ThatWasNeverOnTheAccountGoesOn(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"receipt_not_found", "account_not_found"} {
		after(t, movedTo(sub, sub2, 1)).WhenRefused(leaves(sub), code).Then(credits(goesTo(sub2, 1))).ThenGoesOn()
	}
}

func TestMovedMoney_ThatItsAccountKeepsIsOnNoOther(t *testing.T) {
	t.Parallel()
	kept := after(t, movedTo(sub, sub2, 1)).WhenRefused(leaves(sub), "receipt_refunded").ThenNothing().ThenGoesOn()
	kept.WhenRefused(leaves(sub2), "receipt_refunded").ThenNothing().ThenGoesOn()
	kept.When(events.ReceiptStalled{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub2, HeldBy: sub, Amount: amount, Move: 1, At: now,
	}).Then(does(leaves(sub))).When(gaveBack(sub)).Then(credits(goesTo(sub2, 1)))
	kept.When(movedTo(sub2, third, 2)).ThenNothing().When(gaveBack(sub)).Then(credits(goesTo(third, 2)))
	kept.When(movedTo(sub2, sub, 2)).ThenNothing().ThenEnded() // it has it all along
	reversed := commands.WithdrawReceipt{
		SubscriberID: sub, ReceiptID: realMoney, Reason: "the payment was reversed",
	}
	kept.When(events.ReceiptReversed{ReceiptID: realMoney, SubscriberID: sub2, At: now}).Then(does(reversed)).
		ThenGoesOn().When(gaveBack(sub)).ThenNothing().ThenEnded()
}

// The account refused the move because the money waited for a refund, which was paid afterwards.
func TestMovedMoney_ThatWentBackToThePayerMovesNoMore(t *testing.T) {
	t.Parallel()
	kept := after(t, movedTo(sub, sub2, 1)).WhenRefused(leaves(sub), "receipt_refunded").ThenNothing().ThenGoesOn()
	refunded := events.ReceiptRefunded{ReceiptID: realMoney, SubscriberID: sub, Amount: amount, Left: amount, At: now}
	kept.When(refunded).ThenNothing().ThenGoesOn() // a part: a person moves the rest back
	refunded.Left = money.Of(0, money.KES)
	kept.When(refunded).ThenNothing().ThenEnded()
}

func TestMovedMoney_ThatMovesAgainWaitsForTheFirstAccount(t *testing.T) {
	t.Parallel()
	waits := after(t, movedTo(sub, sub2, 1))
	waits.When(movedTo(sub2, third, 2)).ThenNothing().When(gaveBack(sub)).Then(credits(goesTo(third, 2)))
	waits.When(movedTo(sub2, sub, 2)).ThenNothing().When(gaveBack(sub)).Then(credits(goesTo(sub, 2)))
	waits.When(movedTo(sub2, sub, 2)).ThenNothing().WhenRefused(leaves(sub), "receipt_refunded").
		ThenNothing().ThenEnded()
	waits.When(events.ReceiptReversed{ReceiptID: realMoney, SubscriberID: sub2, At: now}).ThenGoesOn().
		When(gaveBack(sub)).ThenNothing().ThenEnded()
}

func TestReversedMoney_ThatItsAccountKeepsIsNotForgotten(t *testing.T) {
	t.Parallel()
	reversed := events.ReceiptReversed{ReceiptID: realMoney, SubscriberID: sub, At: now}
	asks := commands.WithdrawReceipt{SubscriberID: sub, ReceiptID: realMoney, Reason: "the payment was reversed"}
	waits := after(t).When(reversed).Then(does(asks)).ThenGoesOn()
	waits.When(gaveBack(sub)).ThenNothing().ThenEnded()
	waits.WhenRefused(asks, "receipt_not_found").ThenNothing().ThenEnded()
	waits.WhenRefused(asks, "receipt_archived").ThenNothing().ThenGoesOn().
		When(events.ReceiptStalled{ReceiptID: realMoney, OrgID: org, HeldBy: sub, Amount: amount, At: now}).
		Then(does(asks)).ThenGoesOn()
}

func TestStalledMoney_OfWhichTheProcessKnowsNothingFollowsTheLog(t *testing.T) {
	t.Parallel()
	stalled := events.ReceiptStalled{
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub2, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Amount: amount, PaidAt: now, Move: 1, Since: now, At: now,
	}
	after(t).When(stalled).Then(credits(goesTo(sub2, 1))).ThenGoesOn()
	elsewhere := stalled
	elsewhere.HeldBy = sub
	after(t).When(elsewhere).Then(does(leaves(sub))).ThenGoesOn().When(gaveBack(sub)).
		Then(credits(goesTo(sub2, 1))).ThenGoesOn()
	nowhere := elsewhere
	nowhere.SubscriberID = id.Subscriber{}
	after(t).When(nowhere).Then(does(commands.WithdrawReceipt{
		SubscriberID: sub, ReceiptID: realMoney, Reason: "the payment was reversed",
	})).ThenGoesOn().When(gaveBack(sub)).ThenNothing().ThenEnded()
	other := leaves(third)
	after(t, movedTo(sub, sub2, 1)).When(events.ReceiptStalled{ // the first account has given it back long ago
		ReceiptID: realMoney, OrgID: org, SubscriberID: sub2, HeldBy: third, Amount: amount, Move: 1, At: now,
	}).Then(does(other)).When(gaveBack(third)).Then(credits(goesTo(sub2, 1)))
	placed := stalled
	placed.HeldBy = sub2
	after(t).When(placed).ThenNothing().ThenEnded()
}
