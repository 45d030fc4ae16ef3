package bookscases_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// lanes run the process of receipts over a world: each receipt in order, all of them in an order of chance.
type lanes struct {
	*world
	rand   *rand.Rand
	def    processmanagers.Process[receipts.State]
	states map[string]receipts.State // of the instances that have a row
	inputs map[string][]processmanagers.Input
	asked  map[string][]commands.Command
	read   int // length of the log that the process has read
	// search looks for the payer of a receipt as the job does; nil = nobody searches.
	search func(id.Receipt)
	jobs   []id.Receipt // receipts whose payer is to be searched for
}

// newLanes begins without any receipt.
func newLanes(t *testing.T, seed uint64) *lanes {
	return &lanes{
		world: newWorld(t), rand: rand.New(rand.NewPCG(seed, seed)), def: receipts.Process(),
		states: map[string]receipts.State{}, inputs: map[string][]processmanagers.Input{},
		asked: map[string][]commands.Command{},
	}
}

// try decides a command and records its events; what follows from them is the business of the process.
func (l *lanes) try(c commands.Command) error {
	var err error
	switch c := c.(type) {
	case commands.AccountCommand:
		err = decided(l.accounts, c)
	case commands.ReceiptCommand:
		err = decided(l.receipts, c)
	case commands.PaymentCommand:
		if len(l.prompts.states) > 0 { // most stories have no attempts
			err = decided(l.prompts, c)
		}
	default: // the process asks for no others
	}
	for ; l.read < len(l.log); l.read++ {
		e := l.log[l.read]
		if key := l.def.Key(e); key != "" {
			l.inputs[key] = append(l.inputs[key], processmanagers.Input{Event: &e})
		}
	}
	return err
}

// decided decides a command and records its events.
func decided[S any, C commands.Command, E events.Event](r *rules[S, C, E], c C) error {
	of := c.Target().ID
	list, err := r.def.Decide(r.states[of], c, r.w.now)
	if err == nil && len(list) > 0 {
		r.record(of, list)
	}
	return err
}

// waiting lists the instances that have something to do.
func (l *lanes) waiting() []string {
	var keys []string
	for key, list := range l.inputs {
		if len(list) > 0 || len(l.asked[key]) > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// run has instances take inputs or carry out commands, and jobs search, n times at most, or until they rest when n is
// below zero.
func (l *lanes) run(n int) {
	for ; n != 0; n-- {
		keys := l.waiting()
		if len(l.jobs) > 0 && (len(keys) == 0 || l.rand.IntN(3) == 0) {
			of := l.jobs[0]
			l.jobs = l.jobs[1:]
			l.search(of)
			continue
		}
		if len(keys) == 0 {
			return
		}
		key := keys[l.rand.IntN(len(keys))]
		if asked := l.asked[key]; len(asked) > 0 && (len(l.inputs[key]) == 0 || l.rand.IntN(2) == 0) {
			l.asked[key] = asked[1:]
			if err := l.try(asked[0]); err != nil {
				l.take(key, processmanagers.Input{Refusal: &processmanagers.Refusal{
					Command: asked[0].CommandName(), Code: failure.CodeOf(err), Target: asked[0].Target(),
					Asked: asked[0],
				}})
			}
			continue
		}
		in := l.inputs[key][0]
		l.inputs[key] = l.inputs[key][1:]
		l.take(key, in)
	}
}

// take gives an instance one input, as the runner does.
func (l *lanes) take(key string, in processmanagers.Input) {
	state, has := l.states[key]
	out, err := l.def.Decide(state, in, l.now)
	if err != nil {
		l.t.Fatal(err)
	}
	after := l.def.Evolve(state, in)
	follows := in.Event == nil || slices.ContainsFunc(l.def.On, func(h processmanagers.Handled) bool {
		return h.Follows && h.Type == in.Event.Event.EventType()
	})
	delete(l.states, key)
	if !l.def.Ended(after) && (has || !follows) {
		l.states[key] = after
	}
	l.asked[key] = append(l.asked[key], out.Commands...)
	for _, j := range out.Jobs {
		if find, ok := j.(commands.FindPayer); ok && l.search != nil {
			l.jobs = append(l.jobs, find.ReceiptID)
		}
	}
}

// account has the money of a subscriber, as the rules decided so far.
func (l *lanes) account(s id.Subscriber) billing.Account { return l.accounts.states[id.As[id.Any](s)] }

// allowed asks the account of a receipt whether it may leave, as the use cases do before they correct a receipt.
func (l *lanes) allowed(r id.Receipt) bool {
	at := l.receipts.states[id.As[id.Any](r)].Subscriber
	return at.IsZero() || !l.account(at).Exists() || l.account(at).MayWithdraw(r) == nil
}

// holder is the account that has money of a receipt; zero = none has.
func (l *lanes) holder(r id.Receipt) id.Subscriber {
	for _, s := range []id.Subscriber{l.amina, l.brian} {
		if l.account(s).Holds(r) {
			return s
		}
	}
	return id.Subscriber{}
}

// act does something by chance to one of the receipts, as persons and the provider do.
func (l *lanes) act(list []id.Receipt) {
	r := list[l.rand.IntN(len(list))]
	who := []id.Subscriber{l.amina, l.brian}[l.rand.IntN(2)]
	of := l.receipts.states[id.As[id.Any](r)]
	refund := id.Derive[id.Refund]("refund", fmt.Sprint(l.rand.IntN(6)))
	var err error
	switch l.rand.IntN(12) {
	case 0, 1, 2:
		if l.allowed(r) {
			err = l.try(commands.ReattributeReceipt{ReceiptID: r, OrgID: l.org, SubscriberID: who, Reason: "x"})
		}
	case 3:
		if l.allowed(r) {
			err = l.try(commands.ReverseReceipt{ReceiptID: r, OrgID: l.org, Reason: "x"})
		}
	case 4, 5:
		err = l.try(commands.SetCreditAside{
			SubscriberID: who, RefundID: refund, ReceiptID: r, Amount: kes(l.rand.Int64N(3) * 300), Reason: "x",
		})
	case 6:
		err = l.try(commands.PayOutSetAside{SubscriberID: who, RefundID: refund})
	case 7:
		err = l.try(commands.ReturnSetAside{SubscriberID: who, RefundID: refund, Reason: "x"})
	case 8:
		err = l.try(commands.WithdrawReceipt{
			SubscriberID: who, ReceiptID: r, WithdrawalID: id.Derive[id.Withdrawal]("part", fmt.Sprint(l.rand.Int())),
			Amount: kes(100 + l.rand.Int64N(2)*900), Reason: "x",
		})
	case 9:
		err = l.try(commands.RecordReceipt{
			ReceiptID: r, OrgID: l.org, Provider: commands.ProviderMobileMoney, ReceiptNumber: of.Number,
			Channel: commands.ChannelPaybill, Shortcode: "600100", Amount: kes(1100), Sighting: "c2b_confirmation",
		})
	case 10:
		err = l.try(commands.AttributeReceipt{ReceiptID: r, OrgID: l.org, SubscriberID: who})
	case 11:
		held := l.holder(r)
		l.run(l.rand.IntN(6)) // the sweep acts on what it has read a moment ago
		err = l.try(commands.MarkStalled{ReceiptID: r, HeldBy: held})
	}
	_ = err // what is refused changes nothing
}

// sweep finds money that is not where its receipt says.
func (l *lanes) sweep(list []id.Receipt) {
	for _, r := range list {
		if err := l.try(commands.MarkStalled{ReceiptID: r, HeldBy: l.holder(r)}); err != nil {
			l.t.Fatal(err)
		}
	}
}

// moneyTwice lists the faults by which money comes out of nothing.
func (l *lanes) moneyTwice() []bookscases.Fault {
	return slices.DeleteFunc(l.books(l.org, l.log).Faults(l.now.Add(72*time.Hour), time.Hour),
		func(f bookscases.Fault) bool {
			return f.Code != bookscases.ReceiptExceeded && f.Code != bookscases.ReceiptCreditedTwice &&
				f.Code != bookscases.ReceiptOverspent && f.Code != bookscases.BalanceDiffers
		})
}

// TestMovedMoney_IsNeverTwiceInAnyOrder has persons move, refund, withdraw and dispute money while its process is at
// work, in orders of chance. No money may come out of nothing, and in the end all of it is where its receipt says, or
// the account that keeps it says why.
func TestMovedMoney_IsNeverTwiceInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		l := newLanes(t, seed)
		var list []id.Receipt
		for n := range 3 {
			r := id.Derive[id.Receipt]("moves", fmt.Sprint(seed, n))
			list = append(list, r)
			for _, c := range []commands.Command{
				commands.RecordReceipt{
					ReceiptID: r, OrgID: l.org, Provider: commands.ProviderMobileMoney, ReceiptNumber: r.String()[26:],
					Channel: commands.ChannelPaybill, Shortcode: "600100", Amount: kes(1000), PaidAt: l.now,
					Sighting: commands.SightingConfirmation,
				},
				commands.MatchReceipt{ReceiptID: r, OrgID: l.org, SubscriberID: l.amina, By: "phone"},
			} {
				if err := l.try(c); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 40 {
			l.now = l.now.Add(time.Hour)
			l.act(list)
			l.run(l.rand.IntN(4))
		}
		for range 3 {
			l.run(-1)
			l.now = l.now.Add(30 * time.Hour)
			l.sweep(list)
		}
		l.run(-1)
		if found := l.moneyTwice(); len(found) > 0 {
			t.Fatalf("seed %d: %v", seed, found)
		}
		for _, r := range list {
			should, has := l.receipts.states[id.As[id.Any](r)].Subscriber, l.holder(r)
			parts := l.account(should).MayWithdraw(r) != nil
			if should != has && !parts && (has.IsZero() || l.account(has).MayWithdraw(r) == nil) {
				t.Errorf("seed %d: a receipt should be at %s and is at %s, with nothing in its way", seed, should, has)
			}
		}
	}
}

// The refund is asked for between the move of the receipt and the account's booking of it.
func TestRefund_AskedForWhileTheReceiptMovesIsNotMoneyTwice(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 1)
	receipt, refund := l.pay(l.amina, 1000), id.New[id.Refund]()
	l.read = len(l.log)
	do := func(c commands.Command) {
		t.Helper()
		if err := l.try(c); err != nil {
			t.Fatal(err)
		}
	}
	do(commands.VoidInvoice{
		SubscriberID: l.amina, InvoiceID: commands.PeriodInvoice(l.sub, 1), Reason: "x", ReleaseMoney: true,
	})
	do(commands.ReattributeReceipt{ReceiptID: receipt, OrgID: l.org, SubscriberID: l.brian, Reason: "x"})
	do(commands.SetCreditAside{SubscriberID: l.amina, RefundID: refund, ReceiptID: receipt, Reason: "x"})
	l.run(-1)
	if l.account(l.brian).Exists() {
		t.Errorf("the other account has %s of money that is being refunded", l.account(l.brian).Credit())
	}
	do(commands.ReturnSetAside{SubscriberID: l.amina, RefundID: refund, Reason: "declined"})
	l.sweep([]id.Receipt{receipt})
	l.run(-1)
	if got := l.account(l.brian).Credit(); got != kes(1000) || l.account(l.amina).Credit().Positive() {
		t.Errorf("a refund failed, and its money did not follow the receipt: %s", got)
	}
	if found := l.moneyTwice(); len(found) > 0 {
		t.Error(found)
	}
}
