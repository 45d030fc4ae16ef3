package bookscases_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// paid is a prompt of Amina over 1,000 shillings, and what the program may learn of the one payment that answers it: by
// a status query (provisional), and by the provider's reports (real).
type paid struct {
	*lanes
	attempt           id.Payment
	provisional, real id.Receipt
	unnamed           bool // the paybill's report says nothing by which the attempt could be found
}

// newPaid has an open prompt whose money nobody has told of yet.
func newPaid(t *testing.T, seed uint64) *paid {
	p := &paid{lanes: newLanes(t, seed)}
	p.attempt = p.prompt(1000)
	p.provisional = id.Derive[id.Receipt]("provisional", fmt.Sprint(seed))
	p.real = id.Derive[id.Receipt]("real", fmt.Sprint(seed))
	p.read, p.search = len(p.log), p.findPayer
	return p
}

// findPayer does what the job does, with the present states in the place of read models.
func (p *paid) findPayer(of id.Receipt) {
	r, x := p.receipts.states[id.As[id.Any](of)], p.prompts.states[id.As[id.Any](p.attempt)]
	placed := r.Standing != payments.StandingRecorded && r.Standing != payments.StandingHeld
	switch {
	case r.Disputed:
	case !r.Payment.IsZero() || !p.unnamed && (x.Stage != payments.StageSucceeded || x.Provisional):
		settle := commands.SettlePayment{
			PaymentID: p.attempt, ReceiptID: of, ReceiptNumber: r.Number, Amount: r.Amount, By: commands.ByC2B,
		}
		if p.try(settle) == nil {
			return
		}
		if r.Standing == payments.StandingMatched {
			settle.By, settle.SubscriberID = commands.ByOperator, r.Subscriber
			_ = p.try(settle)
			return
		}
		_ = p.try(commands.HoldReceipt{ReceiptID: of, Reason: commands.HeldConflictingPrompt})
	case !placed:
		_ = p.try(commands.MatchReceipt{
			ReceiptID: of, OrgID: p.org, SubscriberID: p.amina, By: "account_number",
		})
	}
}

// told is a report about the payment over an amount in whole shillings.
func (p *paid) told(kind string, units int64) commands.RecordReceipt {
	c := commands.RecordReceipt{
		ReceiptID: p.real, OrgID: p.org, Provider: commands.ProviderMobileMoney, ReceiptNumber: "R00000000A",
		Channel: commands.ChannelPaybill, Shortcode: "600100", Amount: kes(units), PaidAt: p.now, Sighting: kind,
	}
	switch kind {
	case commands.SightingCallback:
		c.Channel, c.PaymentID, c.CheckoutRequestID = commands.ChannelPrompt, p.attempt, "co"
	case commands.SightingQuery:
		c.Channel, c.PaymentID, c.CheckoutRequestID = commands.ChannelPrompt, p.attempt, "co"
		c.ReceiptID, c.ReceiptNumber, c.Provisional = p.provisional, "", true
		c.Provider = commands.ProviderProvisional
	}
	return c
}

// must decides commands one after the other, and has everything follow each.
func (p *paid) must(list ...commands.Command) {
	p.t.Helper()
	for _, c := range list {
		if err := p.try(c); err != nil {
			p.t.Fatalf("%s: %v", c.CommandName(), err)
		}
		p.run(-1)
	}
}

func TestPaidPrompt_IsOnePaymentWhereverAPersonPutsItsMoney(t *testing.T) {
	t.Parallel()
	type story func(p *paid) []commands.Command
	query := func(p *paid) commands.Command { return p.told(commands.SightingQuery, 1000) }
	report := func(p *paid) commands.Command { return p.told(commands.SightingCallback, 1100) }
	to := func(p *paid, s id.Subscriber) commands.Command {
		return commands.AttributeReceipt{ReceiptID: p.real, OrgID: p.org, SubscriberID: s}
	}
	for name, c := range map[string]struct {
		story story
		brian bool // the money is his at the end
	}{
		"the query first, then its own account": {func(p *paid) []commands.Command {
			return []commands.Command{query(p), report(p), to(p, p.amina)}
		}, false},
		"the query first, then another account": {func(p *paid) []commands.Command {
			return []commands.Command{query(p), report(p), to(p, p.brian)}
		}, true},
		"its own account, then the query": {func(p *paid) []commands.Command {
			return []commands.Command{report(p), to(p, p.amina), query(p)}
		}, false},
		"another account, then the query": {func(p *paid) []commands.Command {
			return []commands.Command{report(p), to(p, p.brian), query(p)}
		}, true},
		"another account, then the query, then its own": {func(p *paid) []commands.Command {
			return []commands.Command{report(p), to(p, p.brian), query(p), commands.ReattributeReceipt{
				ReceiptID: p.real, OrgID: p.org, SubscriberID: p.amina, Reason: "typing error",
			}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaid(t, 1)
			p.must(c.story(p)...)
			owner := p.amina
			if c.brian {
				owner = p.brian
			}
			if p.holder(p.real) != owner || !p.holder(p.provisional).IsZero() {
				t.Errorf("on Amina's account are provisional %v, real %v", p.account(p.amina).Holds(p.provisional),
					p.account(p.amina).Holds(p.real))
			}
			if x := p.prompts.states[id.As[id.Any](p.attempt)]; x.Stage != payments.StageSucceeded ||
				x.Provisional || x.Receipt != p.real {
				t.Errorf("the attempt is %+v", x)
			}
			p.inOrder()
		})
	}
}

// inOrder fails for books with a fault, other than that the processes of prompts and subscriptions do not run here.
func (p *paid) inOrder() {
	p.t.Helper()
	for _, f := range p.books(p.org, p.log).Faults(p.now.Add(72*time.Hour), time.Hour) {
		if f.Code != bookscases.ReservationStale && f.Code != bookscases.PeriodStateDiffers {
			p.t.Errorf("%v", f)
		}
	}
}

// The paybill's report names no attempt. That of the prompt contradicts it, which is where the receipt hears of the
// attempt.
func TestPaidPrompt_DisputedMoneyThatOnlyTheSecondReportTiesToItIsOnePayment(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]string{
		"the query, then the person":                    {"report", "dispute", "query", "person"},
		"the person, then the query":                    {"report", "dispute", "person", "query"},
		"another account, then the query":               {"report", "dispute", "neighbour", "query"},
		"matched by its account number, then confirmed": {"report", "match", "dispute", "query", "person"},
		"matched by its account number, then moved":     {"report", "match", "dispute", "query", "move"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaid(t, 1)
			p.search = nil // the job leaves disputed money to a person
			for _, step := range order {
				p.must(map[string]commands.Command{
					"report": p.told(commands.SightingConfirmation, 1000),
					"match": commands.MatchReceipt{
						ReceiptID: p.real, OrgID: p.org, SubscriberID: p.amina, By: "account_number",
					},
					"dispute":   p.told(commands.SightingCallback, 1100),
					"query":     p.told(commands.SightingQuery, 1000),
					"person":    commands.AttributeReceipt{ReceiptID: p.real, OrgID: p.org, SubscriberID: p.amina},
					"neighbour": commands.AttributeReceipt{ReceiptID: p.real, OrgID: p.org, SubscriberID: p.brian},
					"move": commands.ReattributeReceipt{
						ReceiptID: p.real, OrgID: p.org, SubscriberID: p.brian, Reason: "typing error",
					},
				}[step])
			}
			if !p.holder(p.provisional).IsZero() || p.holder(p.real).IsZero() {
				t.Errorf("one payment of 1000: Amina has a credit of %v, Brian of %v", p.account(p.amina).Credit(),
					p.account(p.brian).Credit())
			}
			p.inOrder()
		})
	}
}

// The first report was over another amount than the prompt's, and was matched before the second one named the prompt.
func TestPaidPrompt_MoneyThatWasMatchedWithoutItIsOnePayment(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]string{
		"the query last":        {"report", "sighting", "query"},
		"the query in between":  {"report", "query", "sighting"},
		"moved after the query": {"report", "sighting", "query", "move"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaid(t, 1)
			p.unnamed = true
			for _, step := range order {
				p.must(map[string]commands.Command{
					"report":   p.told(commands.SightingConfirmation, 1100),
					"sighting": p.told(commands.SightingCallback, 1100),
					"query":    p.told(commands.SightingQuery, 1000),
					"move": commands.ReattributeReceipt{
						ReceiptID: p.real, OrgID: p.org, SubscriberID: p.brian, Reason: "typing error",
					},
				}[step])
			}
			if !p.holder(p.provisional).IsZero() || p.holder(p.real).IsZero() {
				t.Errorf("one payment: Amina has a credit of %v, Brian of %v", p.account(p.amina).Credit(),
					p.account(p.brian).Credit())
			}
			p.inOrder()
		})
	}
}

// The customer pays at the paybill, too, with the same reference and amount and a hidden phone: that money completes
// the provisional receipt, and the prompt's own comes later, as a payment of its own.
func TestPaidPrompt_BesideAnotherPaymentLikeItIsNoFault(t *testing.T) {
	t.Parallel()
	p := newPaid(t, 1)
	other := p.told(commands.SightingConfirmation, 1000)
	other.ReceiptID, other.ReceiptNumber = id.Derive[id.Receipt]("other", "1"), "R00000000B"
	p.must(p.told(commands.SightingQuery, 1000), other)
	p.unnamed = true
	p.must(p.told(commands.SightingConfirmation, 1000), p.told(commands.SightingCallback, 1000))
	if p.holder(p.provisional) != p.amina || p.holder(p.real) != p.amina || !p.holder(other.ReceiptID).IsZero() {
		t.Errorf("two payments of 1000: Amina has a credit of %v", p.account(p.amina).Credit())
	}
	p.inOrder()
	log := slices.Clone(p.log)
	for i, e := range log { // the other payment is credited beside the provisional receipt that stands for it
		if gone, ok := e.Event.(events.ReceiptAbsorbed); ok && gone.ReceiptID == other.ReceiptID {
			log[i].Event = events.ReceiptMatched{ReceiptID: gone.ReceiptID, OrgID: p.org, SubscriberID: p.amina}
		}
	}
	faults := p.books(p.org, log).Faults(p.now.Add(72*time.Hour), time.Hour)
	twice := func(f bookscases.Fault) bool { return f.Code == bookscases.PaymentCreditedTwice }
	if !slices.ContainsFunc(faults, twice) {
		t.Error("three credits of two payments are in order")
	}
}

// anything has the program learn something of the payment, or a person decide about its money.
func (p *paid) anything() {
	of := []id.Receipt{p.provisional, p.real}[p.rand.IntN(2)]
	who := []id.Subscriber{p.amina, p.amina, p.brian}[p.rand.IntN(3)]
	switch p.rand.IntN(13) {
	case 0, 1:
		_ = p.try(p.told(commands.SightingQuery, 1000))
	case 2:
		_ = p.try(p.told(commands.SightingCallback, 1000))
	case 3:
		_ = p.try(p.told(commands.SightingConfirmation, 1000))
	case 4:
		_ = p.try(p.told(commands.SightingCallback, 1100))
	case 5:
		_ = p.try(commands.AttributeReceipt{ReceiptID: of, OrgID: p.org, SubscriberID: who})
	case 6:
		if p.allowed(of) {
			_ = p.try(commands.ReattributeReceipt{ReceiptID: of, OrgID: p.org, SubscriberID: who, Reason: "x"})
		}
	case 7:
		_ = p.try(commands.RecordVerdict{
			PaymentID: p.attempt, CheckoutRequestID: "co", Code: "1037", By: commands.ByQuery,
		})
	case 8:
		_ = p.try(commands.ExpirePayment{PaymentID: p.attempt})
	case 9:
		_ = p.try(p.told(commands.SightingConfirmation, 1100))
	case 10:
		_ = p.try(commands.NameAttempt{ReceiptID: p.real, OrgID: p.org, PaymentID: p.attempt})
	case 11:
		_ = p.try(commands.AttributeReceipt{
			ReceiptID: p.real, OrgID: p.org, SubscriberID: who, PaymentID: p.attempt,
		})
	case 12:
		if p.allowed(p.real) {
			_ = p.try(commands.ReattributeReceipt{
				ReceiptID: p.real, OrgID: p.org, SubscriberID: who, PaymentID: p.attempt, Reason: "x",
			})
		}
	}
}

// settled has a person end disputes, everything follow, and what is astray asked for again, as the sweep does.
func (p *paid) settled() {
	p.run(-1)
	for _, of := range []id.Receipt{p.provisional, p.real} {
		if r := p.receipts.states[id.As[id.Any](of)]; r.Disputed {
			to := r.Subscriber
			if to.IsZero() {
				to = p.amina
			}
			_ = p.try(commands.AttributeReceipt{
				ReceiptID: of, OrgID: p.org, SubscriberID: to, InvoiceID: r.Invoice,
			})
		}
	}
	for range 3 {
		p.run(-1)
		p.now = p.now.Add(30 * time.Hour)
		for _, of := range []id.Receipt{p.provisional, p.real} {
			_ = p.try(commands.MarkStalled{ReceiptID: of, HeldBy: p.holder(of)})
		}
	}
	p.run(-1)
}

// No course of reports and decisions credits the money of a prompt twice, nor loses it: it is on one account or in
// suspense, once a person has ended disputes.
func TestPaidPrompt_IsOnePaymentInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		p := newPaid(t, seed)
		p.unnamed = seed%2 == 1
		for range 25 {
			p.now = p.now.Add(20 * time.Minute)
			p.anything()
			p.run(p.rand.IntN(6))
		}
		p.settled()
		stands := func(of id.Receipt, in ...payments.Standing) bool {
			return slices.Contains(in, p.receipts.states[id.As[id.Any](of)].Standing)
		}
		told := p.receipts.states[id.As[id.Any](p.real)]
		tied := !told.Payment.IsZero() || len(told.Disputing) > 0 // otherwise nobody can know that it is the prompt's
		twice := tied && !p.holder(p.provisional).IsZero() && !p.holder(p.real).IsZero()
		lost := p.holder(p.provisional).IsZero() && p.holder(p.real).IsZero() &&
			!stands(p.provisional, payments.StandingHeld) && !stands(p.real, payments.StandingHeld) &&
			!(stands(p.provisional, payments.StandingNone) && stands(p.real, payments.StandingNone))
		if twice || lost {
			t.Errorf("seed %d: the money is on two accounts %v, lost %v; the attempt is %+v", seed, twice, lost,
				p.prompts.states[id.As[id.Any](p.attempt)])
		}
	}
}

// bothMatched has a receipt matched that another one carries.
func bothMatched(w *world) []events.Envelope {
	log := slices.Clone(w.log)
	at := where(w, log, all[events.ReceiptAbsorbed])
	gone, _ := log[at].Event.(events.ReceiptAbsorbed)
	log[at].Event = events.ReceiptMatched{
		ReceiptID: gone.ReceiptID, OrgID: w.org, SubscriberID: w.amina, PaymentID: gone.PaymentID,
	}
	return log
}
