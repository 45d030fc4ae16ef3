package bookscases_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// operation is something that a customer or a clerk does.
type operation struct {
	name   string
	weight int // how often, compared with the others
	// command gives their wish; nil when nothing can be wished now. The subscriber and the units of money are drawn,
	// and so is anything else.
	command func(s *simulation, who id.Subscriber, units int64) commands.Command
}

// operations lists all that can happen to the money of two subscribers.
func operations() []operation {
	return []operation{
		{"cash", 3, cashIn},
		{"reverse a receipt", 1, reverse},
		{"move a receipt to another account", 1, reattribute},
		{"withdraw a part of a receipt", 1, withdrawPart},
		{"credit note", 2, creditNote},
		{"reissue an invoice", 1, reissue},
		{"void an invoice", 1, void},
		{"manual invoice", 1, manualInvoice},
		{"order", 1, order},
		{"refund", 1, setAside},
		{"end a refund", 1, endRefund},
		{"write off a debt", 1, writeOff},
		{"pause", 1, pause},
		{"resume", 2, resume},
		{"change a plan", 2, changePlan},
		{"move to a version of a plan", 1, movePlan},
		{"end a subscription", 1, end},
		{"close a stream", 2, closeStream},
	}
}

// weighted has each operation as often as its weight says.
func weighted(list []operation) []operation {
	var all []operation
	for _, o := range list {
		for range o.weight {
			all = append(all, o)
		}
	}
	return all
}

// operate does one operation that chance chooses. A refusal is a possible answer.
func (s *simulation) operate(all []operation) {
	o := all[rapid.IntRange(0, len(all)-1).Draw(s.draw, "operation")]
	who := s.who[rapid.IntRange(0, 1).Draw(s.draw, "who")]
	units := rapid.SampledFrom([]int64{200, 500, 1000, 1000, 1000, 1500, 3000}).Draw(s.draw, "units")
	s.note("at %s: %s", s.now.Format(time.DateTime), o.name)
	if c := o.command(s, who, units); c != nil {
		_ = s.execute(c)
	}
}

// newest is how many of the latest things an operation chooses from: older ones are seldom touched.
const newest = 6

// pick chooses one of the newest. It is false when there is none.
func pick[T any](s *simulation, list []T, label string) (T, bool) {
	if len(list) == 0 {
		var none T
		return none, false
	}
	return list[rapid.IntRange(max(0, len(list)-newest), len(list)-1).Draw(s.draw, label)], true
}

// one is true once in n times.
func (s *simulation) one(n int, label string) bool {
	return rapid.IntRange(1, n).Draw(s.draw, label) == n
}

// cashIn is money, sometimes with the invoice that it is for.
func cashIn(s *simulation, who id.Subscriber, units int64) commands.Command {
	c := s.cash(who, units)
	if s.one(4, "named") {
		c.InvoiceID, _ = pick(s, s.invoices, "invoice")
	}
	return c
}

// mayLeave chooses a receipt that its account can give up, as paymentscases.Receipts asks before a correction. It is
// false when there is none.
func (s *simulation) mayLeave() (id.Receipt, bool) {
	receipt, found := pick(s, s.payments, "receipt")
	if !found {
		return id.Receipt{}, false
	}
	return receipt, s.account(s.receipt(receipt).Subscriber).MayWithdraw(receipt) == nil
}

// reverse takes a receipt back.
func reverse(s *simulation, _ id.Subscriber, _ int64) commands.Command {
	if receipt, ok := s.mayLeave(); ok {
		return commands.ReverseReceipt{ReceiptID: receipt, OrgID: s.org, Reason: "returned"}
	}
	return nil
}

// reattribute moves a receipt to an account, which can be the one that has it.
func reattribute(s *simulation, who id.Subscriber, _ int64) commands.Command {
	if receipt, ok := s.mayLeave(); ok {
		return commands.ReattributeReceipt{ReceiptID: receipt, OrgID: s.org, SubscriberID: who, Reason: "wrong account"}
	}
	return nil
}

// withdrawPart takes a part of a receipt back that is not on its way to or from an account. A part that left while the
// whole is under way would stop the move, which is told and left to a person.
func withdrawPart(s *simulation, who id.Subscriber, units int64) commands.Command {
	receipt, ok := pick(s, s.payments, "receipt")
	if !ok || s.moving.busy(receipt.String()) {
		return nil
	}
	return commands.WithdrawReceipt{
		SubscriberID: who, ReceiptID: receipt, WithdrawalID: made[id.Withdrawal](s), Amount: kes(units / 2),
		Reason: "too much",
	}
}

// setAside begins a refund of the unused money of a receipt, or of a part of it. The receipt is not on its way, since
// money that waits for a refund holds a move up, until a person ends one of the two.
func setAside(s *simulation, who id.Subscriber, units int64) commands.Command {
	receipt, ok := pick(s, s.payments, "receipt")
	if !ok || s.moving.busy(receipt.String()) {
		return nil
	}
	c := commands.SetCreditAside{
		SubscriberID: who, RefundID: made[id.Refund](s), ReceiptID: receipt, Reason: "asked for",
	}
	if s.one(2, "part") {
		c.Amount = kes(units / 2)
	}
	return c
}

// endRefund pays a refund out, or finds that it failed.
func endRefund(s *simulation, who id.Subscriber, _ int64) commands.Command {
	refund, found := pick(s, s.setAside, "refund")
	switch {
	case !found:
		return nil
	case s.one(2, "paid out"):
		return commands.PayOutSetAside{SubscriberID: who, RefundID: refund}
	}
	return commands.ReturnSetAside{SubscriberID: who, RefundID: refund, Reason: "no such phone"}
}

// writeOff gives up all that a subscriber owes.
func writeOff(s *simulation, who id.Subscriber, _ int64) commands.Command {
	return commands.WriteOffDebt{SubscriberID: who, WriteOffID: made[id.Receipt](s), Reason: "gone away"}
}

// creditNote gives an invoice back, whole or in part.
func creditNote(s *simulation, who id.Subscriber, units int64) commands.Command {
	invoice, found := pick(s, s.invoices, "invoice")
	switch {
	case !found:
		return nil
	case s.one(2, "part"):
		return s.givesBack(who, invoice, units)
	}
	return s.givesBack(who, invoice, 0)
}

// reissue corrects the price of an invoice. Whatever comes next may come between the numbers of its two documents.
func reissue(s *simulation, who id.Subscriber, units int64) commands.Command {
	invoice, found := pick(s, s.invoices, "invoice")
	if !found {
		return nil
	}
	return commands.ReissueInvoice{
		InvoiceID: invoice, Corrected: s.draft(made[id.Invoice](s), who, kes(units), s.now),
		CreditNoteID: made[id.Receipt](s), NotePrefix: "ACME-CN", Reason: "wrong price",
	}
}

// void is the mistake of a clerk that is undone.
func void(s *simulation, who id.Subscriber, _ int64) commands.Command {
	if invoice, found := pick(s, s.invoices, "invoice"); found {
		return commands.VoidInvoice{SubscriberID: who, InvoiceID: invoice, Reason: "mistake"}
	}
	return nil
}

// manualInvoice is for something that is no period.
func manualInvoice(s *simulation, who id.Subscriber, units int64) commands.Command {
	return s.draft(made[id.Invoice](s), who, kes(units), s.now)
}

// order is for something that a subscription gets when it is paid.
func order(s *simulation, who id.Subscriber, units int64) commands.Command {
	of, _ := pick(s, s.subscriptions, "subscription")
	if s.line(of).SubscriberID != who {
		return nil
	}
	return s.orders(of, units)
}

// pause stops a subscription.
func pause(s *simulation, _ id.Subscriber, _ int64) commands.Command {
	of, _ := pick(s, s.subscriptions, "subscription")
	return commands.PauseSubscription{SubscriptionID: of, Reason: "holiday"}
}

// resume goes on with a subscription.
func resume(s *simulation, _ id.Subscriber, _ int64) commands.Command {
	of, _ := pick(s, s.subscriptions, "subscription")
	return commands.ResumeSubscription{SubscriptionID: of, Reason: "back"}
}

// newPlan is a plan of some price, under which all else is as it is.
func newPlan(line subscribers.Subscription, units int64) commands.NewPlan {
	to := commands.NewPlan{PlanID: line.PlanID, Version: int(units), Terms: line.Terms}
	to.Terms.Price = kes(units)
	return to
}

// changePlan changes to a plan that costs more or less, as its preview tells.
func changePlan(s *simulation, _ id.Subscriber, units int64) commands.Command {
	of, _ := pick(s, s.subscriptions, "subscription")
	to := newPlan(s.line(of), units)
	preview, err := s.line(of).PlanChange(to, s.now)
	if err != nil {
		return nil
	}
	return commands.ChangePlan{SubscriptionID: of, NewPlan: to, Preview: preview.Preview}
}

// movePlan gives the next periods to another version of the plan.
func movePlan(s *simulation, _ id.Subscriber, units int64) commands.Command {
	of, _ := pick(s, s.subscriptions, "subscription")
	return commands.MovePlan{SubscriptionID: of, NewPlan: newPlan(s.line(of), units)}
}

// draftChange is the invoice over a change of plan.
func (s *simulation) draftChange(c commands.DraftPeriodInvoice) commands.DraftInvoice {
	var minor int64
	for _, l := range c.Change {
		minor += l.Amount.Minor
	}
	draft := s.draft(c.InvoiceID, c.SubscriberID, money.Of(minor, money.KES), c.DueAt)
	draft.SoldTo = c.SubscriptionID
	return draft
}

// end ends a subscription. That is rare, since little happens afterwards.
func end(s *simulation, _ id.Subscriber, _ int64) commands.Command {
	if of, _ := pick(s, s.subscriptions, "subscription"); s.one(2, "end") {
		return commands.EndSubscription{SubscriptionID: of, Reason: "moved away"}
	}
	return nil
}

// closeStream closes the period of a stream, as the bus does with a full one.
func closeStream(s *simulation, who id.Subscriber, _ int64) commands.Command {
	of, _ := pick(s, s.subscriptions, "subscription")
	switch {
	case s.one(2, "subscription's"):
		s.subs.closePeriod(id.As[id.Any](of))
	case s.account(who).Exists():
		s.accounts.closePeriod(id.As[id.Any](who))
	}
	return nil
}
