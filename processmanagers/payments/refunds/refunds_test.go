package refunds_test

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
	"github.com/lastmile-isp/lastmile/processmanagers/payments/refunds"
)

// The ids and the amount of these tests.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org     = id.Must[id.Organization]("0195a000-0000-7000-8000-000000000001")
	sub     = id.Must[id.Subscriber]("0195a000-0000-7000-8000-000000000011")
	refund  = id.Must[id.Refund]("0195a000-0000-7000-8000-000000000041")
	receipt = id.Must[id.Receipt]("0195a000-0000-7000-8000-000000000051")
	amount  = money.Major(400, money.KES)
)

// The events of a refund of money on an account.
var (
	asked = events.RefundRequested{
		RefundID: refund, OrgID: org, ReceiptID: receipt, SubscriberID: sub, Amount: amount, By: "manual",
		Reason: personal.Of("paid twice"), At: now,
	}
	aside     = events.CreditSetAside{SubscriberID: sub, RefundID: refund, ReceiptID: receipt, Amount: amount, At: now}
	completed = events.RefundCompleted{RefundID: refund, ReceiptID: receipt, SubscriberID: sub, Amount: amount, At: now}
	failed    = events.RefundFailed{
		RefundID: refund, ReceiptID: receipt, SubscriberID: sub, Amount: amount, Code: "cancelled", At: now,
	}
	paidOut  = events.SetAsidePaidOut{SubscriberID: sub, RefundID: refund, ReceiptID: receipt, Amount: amount, At: now}
	returned = events.SetAsideReturned{SubscriberID: sub, RefundID: refund, ReceiptID: receipt, Amount: amount, At: now}
)

// The commands about it.
var (
	setsAside = commands.SetCreditAside{
		SubscriberID: sub, RefundID: refund, ReceiptID: receipt, Amount: amount, Reason: "a refund was asked for",
	}
	secures = commands.SecureRefund{RefundID: refund}
	returns = commands.ReturnSetAside{SubscriberID: sub, RefundID: refund, Reason: "the refund was not paid"}
	leaves  = commands.RefundReceipt{ReceiptID: receipt, RefundID: refund, SubscriberID: sub, Amount: amount}
)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[refunds.State] {
	t.Helper()
	return processtest.For(t, refunds.Process(), now).Given(list...)
}

// does is an output without jobs and timers.
func does(c ...commands.Command) processmanagers.Output { return processmanagers.Output{Commands: c} }

func TestRefund_MoneyIsSetAsideThenPaidOutAndTheReceiptIsToldLast(t *testing.T) {
	t.Parallel()
	waits := after(t).When(asked).Then(does(setsAside)).ThenGoesOn().When(aside).Then(does(secures)).ThenGoesOn()
	waits.When(completed).Then(does(commands.PayOutSetAside{SubscriberID: sub, RefundID: refund})).ThenGoesOn().
		When(paidOut).Then(does(leaves)).ThenGoesOn().
		When(events.ReceiptRefunded{RefundID: refund, ReceiptID: receipt}).ThenNothing().ThenEnded()
	waits.When(failed).Then(does(returns)).ThenGoesOn().When(returned).ThenNothing().ThenEnded()
}

func TestRefund_WhoseMoneyIsNotThereFails(t *testing.T) {
	t.Parallel()
	refused := after(t, asked).WhenRefused(setsAside, "refund_too_large").
		Then(does(commands.RefuseRefund{RefundID: refund, Code: "refund_too_large"})).ThenGoesOn()
	refused.When(failed).Then(does(returns)).ThenGoesOn().WhenRefused(returns, "refund_not_found").ThenNothing().
		ThenEnded()
}

// The refund is cancelled while the account is still asked to set the money aside.
func TestRefund_CancelledBeforeItsMoneyWaitsGivesItBack(t *testing.T) {
	t.Parallel()
	early := after(t, asked).When(failed).Then(does(returns)).ThenGoesOn().
		WhenRefused(returns, "refund_not_found").ThenNothing().ThenGoesOn()
	early.When(aside).Then(does(secures)).ThenGoesOn().WhenRefused(secures, "refund_ended").Then(does(returns)).
		ThenGoesOn().When(returned).ThenNothing().ThenEnded()
	early.WhenRefused(setsAside, "refund_too_large").
		Then(does(commands.RefuseRefund{RefundID: refund, Code: "refund_too_large"})).ThenEnded()
	after(t, asked, failed, returned).WhenRefused(secures, "refund_ended").ThenNothing().ThenEnded()
}

func TestRefund_OfMoneyInSuspenseIsDecidedByTheReceipt(t *testing.T) {
	t.Parallel()
	held, paid, unpaid := asked, completed, failed
	held.SubscriberID, paid.SubscriberID, unpaid.SubscriberID = id.Subscriber{}, id.Subscriber{}, id.Subscriber{}
	sets := commands.SetReceiptAside{ReceiptID: receipt, OrgID: org, RefundID: refund, Amount: amount}
	waits := after(t).When(held).Then(does(sets)).ThenGoesOn().
		When(events.ReceiptSetAside{ReceiptID: receipt, RefundID: refund}).Then(does(secures)).ThenGoesOn()
	sent := leaves
	sent.SubscriberID = id.Subscriber{}
	waits.When(paid).Then(does(sent)).ThenGoesOn().
		When(events.ReceiptRefunded{RefundID: refund, ReceiptID: receipt}).ThenNothing().ThenEnded()
	waits.When(unpaid).Then(does(commands.ReturnReceipt{ReceiptID: receipt, RefundID: refund})).ThenGoesOn().
		When(events.ReceiptReturned{ReceiptID: receipt, RefundID: refund}).ThenNothing().ThenEnded()
	after(t, held).WhenRefused(sets, "receipt_matched").
		Then(does(commands.RefuseRefund{RefundID: refund, Code: "receipt_matched"})).ThenGoesOn()
}

func TestProcess_EveryHandledEventBelongsToTheRefund(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, refunds.Process(), refund.String(), asked, completed, failed, aside, returned, paidOut,
		events.ReceiptSetAside{RefundID: refund}, events.ReceiptReturned{RefundID: refund},
		events.ReceiptRefunded{RefundID: refund})
}
