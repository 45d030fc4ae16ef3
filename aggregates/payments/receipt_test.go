package payments_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// confirmation is a paybill payment on a platform shortcode.
func confirmation() commands.RecordReceipt {
	return commands.RecordReceipt{
		ReceiptID: realReceipt, Provider: commands.ProviderMobileMoney, ReceiptNumber: "SJK4X7Q2P1",
		Channel: commands.ChannelPaybill, Shortcode: "600100", Amount: kes(1500), PaidAt: now,
		PayerPhone: personal.Of("254712345678"), BillRef: personal.Of("12345674"),
		Sighting: commands.SightingConfirmation,
	}
}

// recorded is the event of the first confirmation.
var recorded = events.ReceiptRecorded{
	ReceiptID: realReceipt, Provider: "mobile_money", ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b", Shortcode: "600100",
	Amount: kes(1500), PaidAt: now, PayerPhone: personal.Of("254712345678"), BillRef: personal.Of("12345674"),
	Sighting: "c2b_confirmation", RecordedAt: now,
}

// matchedTo is the event that gives the money to a subscriber.
func matchedTo(s id.Subscriber, by string, move int) events.ReceiptMatched {
	return events.ReceiptMatched{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: s, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Amount: kes(1500), PaidAt: now, By: by, Move: move, At: now,
	}
}

// confirmed is the event by which a person leaves disputed money with its subscriber.
func confirmed(s id.Subscriber, move int) events.ReceiptMatched {
	e := matchedTo(s, "operator", move)
	e.Confirms = true
	return e
}

// held is the event that puts the money into suspense.
func held(reason string) events.ReceiptHeld {
	return events.ReceiptHeld{ReceiptID: realReceipt, Reason: reason, At: now}
}

// match reports that the rules found a subscriber.
func match(s id.Subscriber) commands.MatchReceipt {
	return commands.MatchReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: s, By: "account_number"}
}

// receipt begins a story about one receipt.
func receipt(t *testing.T) *story[payments.Receipt, commands.ReceiptCommand, events.ReceiptEvent] {
	return &story[payments.Receipt, commands.ReceiptCommand, events.ReceiptEvent]{
		t: t, evolve: payments.Receipts().Evolve, decide: payments.Receipts().Decide, now: now,
	}
}

func TestReceipt_IsTheIdentityOfMoneyHoweverOftenItIsSeen(t *testing.T) {
	t.Parallel()
	callback := confirmation()
	callback.Sighting, callback.CheckoutRequestID, callback.PaymentID = commands.SightingCallback, "ws_CO_1", attempt
	sighted := events.ReceiptSighted{
		ReceiptID: realReceipt, Sighting: "stk_callback", CheckoutRequestID: "ws_CO_1", PaymentID: attempt, At: now,
	}
	receipt(t).when(confirmation()).then(recorded).
		when(confirmation()).thenNothing().
		when(callback).then(sighted).
		when(callback).thenNothing().
		when(match(sub)).then(matchedTo(sub, "account_number", 0)).
		when(callback).thenNothing().
		when(match(sub)).thenNothing()
	const number = "SJK4X7Q2P1"
	if commands.ReceiptID(commands.EnvironmentSandbox, number) != realReceipt ||
		commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P2") == realReceipt {
		t.Error("the id does not follow from the number")
	}
	if commands.ReceiptID(commands.EnvironmentProduction, number) == realReceipt ||
		commands.LegacyReceiptID(number) == realReceipt {
		t.Error("play money and real money of one number are one receipt")
	}
}

func TestDisputedReceipt_WaitsInSuspenseForAPerson(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*commands.RecordReceipt){
		"another amount":    func(c *commands.RecordReceipt) { c.Amount = kes(9999) },
		"another shortcode": func(c *commands.RecordReceipt) { c.Shortcode = "700700" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := confirmation()
			change(&second)
			disputed := events.ReceiptDisputed{
				ReceiptID: realReceipt, Sighting: "c2b_confirmation", Amount: second.Amount,
				Shortcode: second.Shortcode, At: now,
			}
			receipt(t).given(recorded).when(second).then(disputed, held("disputed")).
				when(second).thenNothing().
				when(match(sub)).thenFails("receipt_disputed").
				when(commands.AssignReceipt{ReceiptID: realReceipt,
					OrgID: org}).then(events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: org, At: now}).
				when(commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org,
					SubscriberID: sub}).then(matchedTo(sub, "operator", 0))
			receipt(t).given(recorded, matchedTo(sub, "phone", 0)).when(second).then(disputed).
				when(second).thenNothing().
				when(commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org,
								SubscriberID: sub}).then(confirmed(sub, 0)).
				when(second).thenNothing(). // a repeated message is no new dispute, also after a person decided
				when(commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub}).thenNothing()
		})
	}
}

func TestDisputedReceipt_AnotherAttemptOfTheSameMoney(t *testing.T) {
	t.Parallel()
	own, foreign := recorded, confirmation()
	own.PaymentID = attempt
	foreign.PaymentID = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000032")
	receipt(t).given(own).when(foreign).
		then(events.ReceiptDisputed{ReceiptID: realReceipt, PaymentID: foreign.PaymentID, Sighting: "c2b_confirmation",
			Amount: kes(1500), Shortcode: "600100", At: now}, held("disputed")).
		when(foreign).thenNothing()
}

// The attempt that a contradicting report names is the receipt's when the report is about money of its organization.
func TestDisputedReceipt_TellsTheAttemptOfItsOwnOrganization(t *testing.T) {
	t.Parallel()
	theirs := id.Must[id.Payment]("0195a000-0000-7000-8000-000000000032")
	told := func(of id.Organization, p id.Payment) events.ReceiptDisputed {
		return events.ReceiptDisputed{
			ReceiptID: realReceipt, OrgID: of, PaymentID: p, Sighting: "stk_callback", Amount: kes(9), At: now,
		}
	}
	assigned := events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: org, At: now}
	attribute := commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub}
	for name, c := range map[string]struct {
		past []events.ReceiptEvent
		want id.Payment
	}{
		"its organization's": {
			[]events.ReceiptEvent{recorded, assigned, told(org, attempt), held("disputed")}, attempt,
		},
		"another organization's": {
			[]events.ReceiptEvent{recorded, assigned, told(other, theirs), held("disputed")}, id.Payment{},
		},
		"of both, before it was assigned": {
			[]events.ReceiptEvent{recorded, told(other, theirs), told(org, attempt), held("disputed"), assigned},
			attempt,
		},
		"the first one of its organization": {
			[]events.ReceiptEvent{recorded, assigned, told(org, attempt), told(org, theirs)}, attempt,
		},
	} {
		s := receipt(t).given(c.past...).when(attribute)
		if matched, ok := s.made[0].(events.ReceiptMatched); s.err != nil || !ok || matched.PaymentID != c.want {
			t.Errorf("%s: %v, %v", name, s.made, s.err)
		}
		s.when(commands.ReattributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub2, Reason: "x"})
		if moved, ok := s.made[0].(events.ReceiptReattributed); s.err != nil || !ok || moved.PaymentID != c.want {
			t.Errorf("%s, moved: %v, %v", name, s.made, s.err)
		}
	}
}

func TestSharedPaybill_UnmatchedMoneyIsNobodysUntilAssigned(t *testing.T) {
	t.Parallel()
	attribute := commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub}
	receipt(t).given(recorded).when(commands.AssignReceipt{ReceiptID: realReceipt,
		OrgID: org}).thenFails("receipt_being_matched").
		when(commands.HoldReceipt{ReceiptID: realReceipt, Reason: "no_match"}).then(held("no_match")).
		when(commands.HoldReceipt{ReceiptID: realReceipt, Reason: "no_match"}).thenNothing().
		when(attribute).thenFails("receipt_not_found").
		when(commands.AssignReceipt{ReceiptID: realReceipt, Currency: "USD",
			OrgID: org}).thenFails("currency_mismatch").
		when(commands.AssignReceipt{ReceiptID: realReceipt, Currency: "KES",
			OrgID: org}).then(events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: org, At: now}).
		when(commands.AssignReceipt{ReceiptID: realReceipt, OrgID: org}).thenNothing().
		when(commands.AssignReceipt{ReceiptID: realReceipt, OrgID: other}).thenFails("receipt_assigned").
		when(commands.AssignReceipt{ReceiptID: realReceipt, OrgID: other, From: org}).
		then(events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: other, From: org, At: now}).
		when(attribute).thenFails("receipt_not_found").
		when(commands.AssignReceipt{ReceiptID: realReceipt, OrgID: org, From: org}).thenFails("receipt_assigned").
		when(commands.AssignReceipt{ReceiptID: realReceipt, OrgID: org, From: other}).
		then(events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: org, From: other, At: now}).
		when(attribute).then(matchedTo(sub, "operator", 0)).
		when(commands.AssignReceipt{ReceiptID: realReceipt, OrgID: other}).thenFails("receipt_matched")
}

func TestCash_ARepeatedReferenceIsRefused(t *testing.T) {
	t.Parallel()
	r := commands.CashReceiptID(org, "BOOK-17")
	cash := commands.RecordCash{
		ReceiptID: r, OrgID: org, SubscriberID: sub, InvoiceID: invoice, Amount: kes(500), Reference: "BOOK-17",
	}
	receipt(t).when(cash).then(
		events.ReceiptRecorded{
			ReceiptID: r, OrgID: org, Provider: "cash", ReceiptNumber: "BOOK-17", Channel: "cash", Amount: kes(500),
			PaidAt: now, Sighting: "cash", RecordedAt: now,
		},
		events.ReceiptMatched{
			ReceiptID: r, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptNumber: "BOOK-17", Channel: "cash",
			Amount: kes(500), PaidAt: now, By: "cash", At: now,
		}).
		when(cash).thenFails("reference_used")
	if commands.CashReceiptID(other, "BOOK-17") == r {
		t.Error("two organizations share a cash book")
	}
}

func TestMistakes_ReverseAndReattribute(t *testing.T) {
	t.Parallel()
	moved := events.ReceiptReattributed{
		ReceiptID: realReceipt, OrgID: org, From: sub, To: sub2, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Amount: kes(1500), PaidAt: now, Move: 1, Reason: personal.Of("typing error"), At: now,
	}
	back := moved
	back.From, back.To, back.Move = sub2, sub, 2
	reversed := events.ReceiptReversed{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, Amount: kes(1500), Reason: personal.Of("fraud"), At: now,
	}
	move := commands.ReattributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub2, Reason: "typing error"}
	reverse := commands.ReverseReceipt{ReceiptID: realReceipt, OrgID: org, Reason: "fraud"}
	receipt(t).given(recorded).when(move).thenFails("receipt_not_found")
	receipt(t).given(recorded, matchedTo(sub, "phone", 0)).
		when(move).then(moved).when(move).thenNothing().
		when(commands.ReattributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub,
			Reason: "typing error"}).then(back).
		when(reverse).then(reversed).when(reverse).thenNothing().
		when(move).thenFails("receipt_reversed").
		when(match(sub)).thenFails("receipt_reversed")
}

func TestProvisionalReceipt_IsClaimedOnceAndAlarmsOtherwise(t *testing.T) {
	t.Parallel()
	temporary := events.ReceiptRecorded{
		ReceiptID: provisional, OrgID: org, Provider: "provisional", Channel: "stk", Shortcode: "600100",
		Amount: kes(1500), PaidAt: now, CheckoutRequestID: "ws_CO_1", PaymentID: attempt, Provisional: true,
		Sighting: "query", RecordedAt: now,
	}
	credited := events.ReceiptMatched{
		ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, Channel: "stk", Amount: kes(1500),
		PaidAt: now, By: "prompt", At: now,
	}
	claim := commands.ClaimProvisional{ReceiptID: provisional, ClaimedBy: realReceipt, ReceiptNumber: "SJK4X7Q2P1"}
	mark := commands.MarkUnclaimed{ReceiptID: provisional}
	receipt(t).given(temporary, credited).when(claim).then(events.ReceiptClaimed{
		ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, ClaimedBy: realReceipt,
		ReceiptNumber: "SJK4X7Q2P1", At: now,
	}).
		when(claim).thenNothing().
		when(commands.ClaimProvisional{ReceiptID: provisional, ClaimedBy: otherReceipt}).thenFails("receipt_claimed").
		when(mark).thenNothing()
	receipt(t).given(temporary, credited).when(mark).then(events.ReceiptUnclaimed{ReceiptID: provisional, At: now}).
		when(mark).thenNothing().
		when(commands.ReverseReceipt{ReceiptID: provisional, OrgID: org, Reason: "never came"}).
		then(events.ReceiptReversed{ReceiptID: provisional, OrgID: org, SubscriberID: sub, Amount: kes(1500),
			Reason: personal.Of("never came"), At: now}).
		when(claim).thenFails("receipt_reversed")
}

// An operator who found the money at the provider says so by naming the account that has it. That is asked for once,
// and takes nothing from a real receipt that comes later.
func TestUnclaimedMoney_IsConfirmedByAttributingItToItsAccount(t *testing.T) {
	t.Parallel()
	temporary := recorded
	temporary.ReceiptID, temporary.OrgID, temporary.ReceiptNumber = provisional, org, ""
	temporary.PaymentID, temporary.Provisional = attempt, true
	credited := matchedTo(sub, "prompt", 0)
	credited.ReceiptID, credited.ReceiptNumber, credited.PaymentID = provisional, "", attempt
	credited.InvoiceID = invoice
	alarm := events.ReceiptUnclaimed{ReceiptID: provisional, At: now}
	confirm := commands.AttributeReceipt{ReceiptID: provisional, OrgID: org, SubscriberID: sub}
	word := credited
	word.By, word.Confirms = "operator", true
	toOther := confirm
	toOther.SubscriberID = sub2
	receipt(t).given(temporary, credited, alarm).when(toOther).thenFails("receipt_matched").
		when(confirm).then(word).when(confirm).thenNothing().
		when(commands.MarkUnclaimed{ReceiptID: provisional}).thenNothing().
		when(commands.ClaimProvisional{ReceiptID: provisional, ClaimedBy: realReceipt, ReceiptNumber: "SJK4X7Q2P1"}).
		then(events.ReceiptClaimed{
			ReceiptID: provisional, OrgID: org, SubscriberID: sub, PaymentID: attempt, ClaimedBy: realReceipt,
			ReceiptNumber: "SJK4X7Q2P1", At: now,
		})
	late := events.ReceiptClaimed{ReceiptID: provisional, ClaimedBy: realReceipt, ReceiptNumber: "SJK4X7Q2P1"}
	receipt(t).given(temporary, credited, alarm, late).when(confirm).thenNothing()
	receipt(t).given(temporary, credited).when(confirm).thenNothing()
}

func TestAbsorbedReceipt_GivesBackWhatItWasCreditedToo(t *testing.T) {
	t.Parallel()
	absorb := commands.AbsorbReceipt{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, PaymentID: attempt, CarriedBy: provisional,
	}
	absorbed := events.ReceiptAbsorbed{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, PaymentID: attempt, ProvisionalReceiptID: provisional,
		Amount: kes(1500), At: now,
	}
	receipt(t).given(recorded).when(absorb).then(absorbed).when(absorb).thenNothing().
		when(commands.ReverseReceipt{ReceiptID: realReceipt, OrgID: org, Reason: "x"}).thenFails("receipt_absorbed").
		when(match(sub)).thenNothing()
	absorbed.CreditedTo = sub
	receipt(t).given(recorded, matchedTo(sub, "account_number", 0)).when(absorb).then(absorbed)
}
