package payments_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The commands about the receipt of these tests.
var (
	toSub       = commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, InvoiceID: invoice}
	toSub2      = commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub2}
	move        = commands.ReattributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub2, Reason: "typing"}
	takeBack    = commands.ReverseReceipt{ReceiptID: realReceipt, OrgID: org, Reason: "fraud"}
	wasAbsorbed = events.ReceiptAbsorbed{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, ProvisionalReceiptID: provisional, Amount: kes(1500),
		At: now,
	}
	wasReversed = events.ReceiptReversed{
		ReceiptID: realReceipt, OrgID: org, Amount: kes(1500), Reason: personal.Of("x"), At: now,
	}
)

func TestAttribute_OnlyMoneyInSuspenseIsGivenAway(t *testing.T) {
	t.Parallel()
	own := recorded
	own.OrgID = org
	receipt(t).given(own, matchedTo(sub, "phone", 0)).
		when(toSub2).thenFails("receipt_matched").
		when(commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub}).thenNothing()
	receipt(t).given(own, wasReversed).when(toSub).thenFails("receipt_reversed")
	receipt(t).given(own, wasAbsorbed).when(toSub).thenFails("receipt_absorbed")
	receipt(t).given(own, held("no_match")).when(commands.AttributeReceipt{
		ReceiptID: realReceipt, OrgID: other, SubscriberID: sub,
	}).thenFails("receipt_not_found")
}

func TestAttribute_PaysTheInvoiceThatWasNamed(t *testing.T) {
	t.Parallel()
	own, want := recorded, matchedTo(sub, "operator", 0)
	own.OrgID, want.InvoiceID = org, invoice
	receipt(t).given(own, held("no_match")).when(toSub).then(want)
}

// A repeat that names another invoice would move nothing, so it must not be answered as if it had.
func TestAttribute_ARepeatWithAnotherInvoiceIsRefused(t *testing.T) {
	t.Parallel()
	own, first := recorded, matchedTo(sub, "operator", 0)
	own.OrgID, first.InvoiceID = org, invoice
	another := commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub}
	receipt(t).given(own, held("no_match")).when(toSub).then(first).
		when(toSub).thenNothing().
		when(another).thenNothing() // names none: the money stays where it is
	another.InvoiceID = id.Must[id.Invoice]("0195a000-0000-7000-8000-000000000099")
	receipt(t).given(own, first).when(another).thenFails("receipt_attributed")
	receipt(t).given(own, matchedTo(sub, "phone", 0)).when(another).thenFails("receipt_attributed")
	byNumber := matchedTo(sub, "invoice_number", 0)
	byNumber.InvoiceID = invoice
	receipt(t).given(own, byNumber).
		when(commands.AttributeReceipt{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub}).thenNothing()
	disputed := events.ReceiptDisputed{ReceiptID: realReceipt, Amount: kes(9999), At: now}
	confirmed := first
	confirmed.Confirms = true
	receipt(t).given(own, first, disputed).when(another).thenFails("receipt_attributed")
	another.InvoiceID = id.Invoice{}
	receipt(t).given(own, first, disputed).when(another).then(confirmed)
}

func TestMatch_MoneyOfAnotherSubscriberStaysThere(t *testing.T) {
	t.Parallel()
	receipt(t).given(recorded, matchedTo(sub, "phone", 0)).
		when(match(sub2)).thenFails("receipt_matched").
		when(match(sub)).thenNothing()
}

func TestMatch_PaysTheInvoiceThatTheCustomerNamed(t *testing.T) {
	t.Parallel()
	named, want := match(sub), matchedTo(sub, "account_number", 0)
	named.InvoiceID, named.PaymentID = invoice, attempt
	want.InvoiceID, want.PaymentID = invoice, attempt
	s := receipt(t).given(recorded).when(named).then(want)
	if s.state.Invoice != invoice {
		t.Errorf("the invoice is lost: %+v", s.state)
	}
	s.given(events.ReceiptReattributed{ReceiptID: realReceipt, From: sub, To: sub2, Move: 1})
	if !s.state.Invoice.IsZero() {
		t.Error("another subscriber's account would pay the invoice")
	}
}

func TestMatch_MoneyOfAPromptIsTold_AsPromptMoney(t *testing.T) {
	t.Parallel()
	byPrompt, want := match(sub), matchedTo(sub, "prompt", 0)
	byPrompt.By, want.Channel = commands.MatchedByPrompt, "stk"
	receipt(t).given(recorded).when(byPrompt).then(want)
}

func TestClaim_OnlyAProvisionalReceiptIsCompleted(t *testing.T) {
	t.Parallel()
	claim := commands.ClaimProvisional{ReceiptID: realReceipt, ClaimedBy: otherReceipt, ReceiptNumber: "SJK4X7Q2P2"}
	receipt(t).given(recorded, matchedTo(sub, "phone", 0)).when(claim).thenFails("receipt_not_provisional")
}

func TestReattribute_MoneyThatAnotherReceiptCarriesIsMovedThere(t *testing.T) {
	t.Parallel()
	own := recorded
	own.OrgID = org
	receipt(t).given(own, wasAbsorbed).when(move).thenFails("receipt_absorbed")
	receipt(t).given(own, matchedTo(sub, "phone", 0)).when(commands.ReattributeReceipt{
		ReceiptID: realReceipt, OrgID: other, SubscriberID: sub2, Reason: "typing",
	}).thenFails("receipt_not_found")
	receipt(t).given(own, held("no_match")).when(move).thenFails("receipt_not_matched")
}

func TestReverse_OnlyTheOrganizationOfTheMoneyTakesItBack(t *testing.T) {
	t.Parallel()
	foreign := takeBack
	foreign.OrgID = other
	receipt(t).given(recorded, matchedTo(sub, "phone", 0)).when(foreign).thenFails("receipt_not_found")
	receipt(t).given(recorded, held("no_match")).when(takeBack).thenFails("receipt_not_found") // it has no organization
}

func TestReceipt_BelongsToWhoeverItWasRecordedMatchedOrAssignedFor(t *testing.T) {
	t.Parallel()
	owner := payments.Receipts().Owner
	own := recorded
	own.OrgID = other
	for name, c := range map[string]struct {
		want id.Organization
		list []events.ReceiptEvent
	}{
		"recorded on the platform": {id.Organization{}, []events.ReceiptEvent{recorded}},
		"recorded on a shortcode":  {other, []events.ReceiptEvent{own}},
		"matched":                  {org, []events.ReceiptEvent{recorded, matchedTo(sub, "phone", 0)}},
		"absorbed":                 {org, []events.ReceiptEvent{recorded, wasAbsorbed}},
		"assigned": {
			org, []events.ReceiptEvent{
				recorded, held("no_match"), events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: org},
			},
		},
	} {
		if got := owner(receipt(t).given(c.list...).state); got != c.want {
			t.Errorf("%s: belongs to %v, want %v", name, got, c.want)
		}
	}
}

func TestContradiction_OfAnotherOrganizationIsThatOnesToSee(t *testing.T) {
	t.Parallel()
	own, foreign := recorded, confirmation()
	own.OrgID, foreign.OrgID, foreign.Shortcode = org, other, "600888"
	s := receipt(t).given(own, matchedTo(sub, "phone", 0)).when(foreign).then(events.ReceiptDisputed{
		ReceiptID: realReceipt, OrgID: other, Sighting: "c2b_confirmation", Amount: kes(1500), Shortcode: "600888",
		At: now,
	})
	if !s.state.Elsewhere(foreign) {
		t.Error("the other organization loses sight of its money")
	}
	mine := confirmation()
	mine.OrgID, mine.Amount = org, kes(7)
	if s.state.Elsewhere(mine) {
		t.Error("a contradiction within one organization is two receipts")
	}
	nobodys := confirmation()
	nobodys.Amount = kes(7)
	if s.state.Elsewhere(nobodys) {
		t.Error("a contradiction on the receipt's own shortcode is two receipts")
	}
	nobodys.Shortcode = "600999"
	if !s.state.Elsewhere(nobodys) {
		t.Error("money on the platform's shortcode is lost sight of")
	}
	agreeing := confirmation()
	agreeing.OrgID = other
	if (payments.Receipt{}).Elsewhere(foreign) || s.state.Elsewhere(agreeing) {
		t.Error("without a contradiction there are two receipts")
	}
}

func TestContradiction_WaitsInSuspenseUntilAPersonDecides(t *testing.T) {
	t.Parallel()
	c, first := confirmation(), recorded
	c.OrgID, c.Contradicts, c.Environment = org, otherReceipt, "production"
	first.OrgID, first.Contradicts, first.Environment = org, otherReceipt, "production"
	receipt(t).when(c).then(first, held("disputed")).
		when(c).thenNothing().
		when(match(sub)).thenFails("receipt_disputed").
		when(toSub2).then(matchedTo(sub2, "operator", 0))
}

func TestMoneyThatTheAccountRefuses_GoesBackToSuspense(t *testing.T) {
	t.Parallel()
	refused := commands.HoldReceipt{ReceiptID: realReceipt, Reason: commands.HeldNotCredited, SubscriberID: sub}
	other := refused
	other.SubscriberID = sub2
	receipt(t).given(recorded, matchedTo(sub, "phone", 0)).
		when(other).thenNothing(). // the money was moved meanwhile
		when(commands.HoldReceipt{ReceiptID: realReceipt, Reason: "no_match", SubscriberID: sub}).thenNothing().
		when(refused).then(held("not_credited")).
		when(refused).thenNothing().
		when(toSub2).then(matchedTo(sub2, "operator", 0))
	receipt(t).given(recorded, wasReversed).when(refused).thenNothing()
}

func TestReceipt_LearnsItsAttemptFromAnySighting(t *testing.T) {
	t.Parallel()
	another := confirmation()
	another.PaymentID = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000032")
	for name, learns := range map[string]events.ReceiptEvent{
		"a sighting": events.ReceiptSighted{ReceiptID: realReceipt, Sighting: "stk_callback", PaymentID: attempt},
		"a match":    events.ReceiptMatched{ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, PaymentID: attempt},
	} {
		s := receipt(t).given(recorded, learns)
		if s.state.Payment != attempt {
			t.Errorf("%s: attempt %v", name, s.state.Payment)
		}
		if s.when(another); len(s.made) == 0 {
			t.Errorf("%s: another attempt's claim on the money is no dispute", name)
		}
	}
}

func TestReceipt_KeepsAllThatWasTold(t *testing.T) {
	t.Parallel()
	c := confirmation()
	c.Environment, c.PayerName, c.InvoiceNumber = "production", personal.Of("JANE"), personal.Of("ACME-0007")
	c.ThirdPartyTransID, c.OrgAccountBalance, c.CheckoutRequestID, c.PaymentID = "t-1", "49197.00", "ws_CO_1", attempt
	want := recorded
	want.Environment, want.PayerName, want.InvoiceNumber = c.Environment, c.PayerName, c.InvoiceNumber
	want.ThirdPartyTransID, want.OrgAccountBalance = c.ThirdPartyTransID, c.OrgAccountBalance
	want.CheckoutRequestID, want.PaymentID = c.CheckoutRequestID, c.PaymentID
	s := receipt(t).when(c).then(want)
	if s.state.Environment != "production" || s.state.Payment != attempt {
		t.Errorf("state %+v", s.state)
	}
	c.Provisional, c.ReceiptNumber, c.ReceiptID = true, "", provisional
	if receipt(t).when(c).state.Provisional != true {
		t.Error("a provisional receipt is taken for a real one")
	}
}

func TestUnclaimed_OnlyAStandingProvisionalCreditIsAnAlarm(t *testing.T) {
	t.Parallel()
	mark := commands.MarkUnclaimed{ReceiptID: realReceipt}
	receipt(t).given(recorded, matchedTo(sub, "phone", 0)).when(mark).thenNothing()
	temporary := recorded
	temporary.Provisional = true
	receipt(t).given(temporary).when(mark).thenNothing()
	receipt(t).given(temporary, matchedTo(sub, "prompt", 0), wasReversed).when(mark).thenNothing()
}

func TestAssign_MoneyThatHasItsPlaceIsGivenToNobody(t *testing.T) {
	t.Parallel()
	assign := commands.AssignReceipt{ReceiptID: realReceipt, OrgID: org}
	receipt(t).given(recorded, wasReversed).when(assign).thenFails("receipt_reversed")
	receipt(t).given(recorded, wasAbsorbed).when(assign).thenFails("receipt_matched")
	own := recorded
	own.OrgID = org
	receipt(t).given(own).when(assign).thenFails("receipt_assigned")
	receipt(t).when(assign).thenFails("receipt_not_found")
}

// What an organization has done something with is its own, also when the money waits in suspense again.
func TestAssign_MoneyThatItsOrganizationHasUsedStays(t *testing.T) {
	t.Parallel()
	given := []events.ReceiptEvent{
		recorded, held("no_match"), events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: org},
	}
	move := commands.AssignReceipt{ReceiptID: realReceipt, OrgID: other, From: org}
	aside := events.ReceiptSetAside{ReceiptID: realReceipt, OrgID: org, RefundID: id.New[id.Refund]()}
	for name, c := range map[string]struct {
		code string
		then []events.ReceiptEvent
	}{
		"credited": {"receipt_matched", []events.ReceiptEvent{matchedTo(sub, "operator", 0)}},
		"not credited": {"receipt_assigned", []events.ReceiptEvent{
			matchedTo(sub, "operator", 0), held("not_credited"),
		}},
		"being refunded": {"receipt_refunded", []events.ReceiptEvent{aside}},
		"not refunded": {"receipt_assigned", []events.ReceiptEvent{
			aside, events.ReceiptReturned{ReceiptID: realReceipt, RefundID: aside.RefundID},
		}},
		"named": {"receipt_assigned", []events.ReceiptEvent{
			events.ReceiptSighted{ReceiptID: realReceipt, Sighting: commands.SightingOperator, PaymentID: attempt},
		}},
		"reported": {"receipt_assigned", []events.ReceiptEvent{
			events.ReceiptDisputed{ReceiptID: realReceipt, OrgID: org, Amount: kes(9)},
		}},
		"reversed": {"receipt_reversed", []events.ReceiptEvent{wasReversed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receipt(t).given(append(given[:3:3], c.then...)...).when(move).thenFails(c.code)
		})
	}
	sightedAgain := events.ReceiptSighted{ReceiptID: realReceipt, Sighting: commands.SightingStatement}
	receipt(t).given(append(given[:3:3], sightedAgain)...).when(move).
		then(events.ReceiptAssigned{ReceiptID: realReceipt, OrgID: other, From: org, At: now})
}

func TestReversedMoney_IsAbsorbedAndMatchedNoMore(t *testing.T) {
	t.Parallel()
	receipt(t).given(recorded, wasReversed).when(commands.AbsorbReceipt{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, CarriedBy: provisional,
	}).thenNothing()
	receipt(t).given(recorded, matchedTo(sub, "phone", 0), events.ReceiptReattributed{
		ReceiptID: realReceipt, From: sub, To: sub2, Move: 1,
	}, events.ReceiptDisputed{ReceiptID: realReceipt, Amount: kes(1)}).when(toSub2).
		then(confirmed(sub2, 1)) // the number of moves stays with the money
}

func TestAttribute_MoneyOfAPromptStaysWithItsAttempt(t *testing.T) {
	t.Parallel()
	own, want := recorded, matchedTo(sub, "operator", 0)
	own.OrgID, own.PaymentID, want.InvoiceID, want.PaymentID = org, attempt, invoice, attempt
	receipt(t).given(own, held("conflicting_prompt")).when(toSub).then(want)
}

func TestCash_BelongsToNoAttemptAndIsRecordedOncePerReference(t *testing.T) {
	t.Parallel()
	cash := commands.RecordCash{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, Reference: "desk-1",
		Amount: kes(500),
	}
	receipt(t).when(cash).then(
		events.ReceiptRecorded{
			ReceiptID: realReceipt, OrgID: org, Provider: "cash", ReceiptNumber: "desk-1", Channel: "cash",
			Amount: kes(500), PaidAt: now, Sighting: "cash", RecordedAt: now,
		},
		events.ReceiptMatched{
			ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptNumber: "desk-1",
			Channel: "cash", Amount: kes(500), PaidAt: now, By: "cash", At: now,
		},
	).when(cash).thenFails("reference_used")
}

func TestNameAttempt_TiesMoneyInSuspenseToOneAttempt(t *testing.T) {
	t.Parallel()
	own, matched := recorded, matchedTo(sub, "operator", 0)
	own.OrgID, matched.PaymentID = org, attempt
	another := id.Must[id.Payment]("0195a000-0000-7000-8000-000000000032")
	name := commands.NameAttempt{ReceiptID: realReceipt, OrgID: org, PaymentID: attempt}
	named := events.ReceiptSighted{ReceiptID: realReceipt, Sighting: "operator", PaymentID: attempt, At: now}
	receipt(t).given(own, held("conflicting_prompt")).when(name).then(named).when(name).thenNothing()
	receipt(t).given(own, held("conflicting_prompt"), named, wasAbsorbed).when(name).thenNothing()
	receipt(t).given(own, held("conflicting_prompt"), named).when(commands.NameAttempt{
		ReceiptID: realReceipt, OrgID: org, PaymentID: another,
	}).thenFails("receipt_of_other_payment")
	for code, given := range map[string][]events.ReceiptEvent{
		"receipt_not_found": {recorded, held("no_match")},
		"receipt_matched":   {own, matchedTo(sub, "phone", 0)},
		"receipt_reversed":  {own, wasReversed},
		"receipt_absorbed":  {own, wasAbsorbed},
		"receipt_disputed":  {own, events.ReceiptDisputed{ReceiptID: realReceipt, Amount: kes(1)}},
	} {
		receipt(t).given(given...).when(name).thenFails(code)
	}
}

func TestAttribute_TheNamedAttemptIsTheReceiptsForGood(t *testing.T) {
	t.Parallel()
	own, want := recorded, matchedTo(sub2, "operator", 0)
	own.OrgID, want.PaymentID = org, attempt
	named, moved := toSub2, move
	named.PaymentID = attempt
	receipt(t).given(own, held("no_match")).when(named).then(want).when(named).thenNothing()
	another := named
	another.PaymentID = id.Must[id.Payment]("0195a000-0000-7000-8000-000000000032")
	receipt(t).given(own, held("no_match")).when(named).when(another).thenFails("receipt_of_other_payment")
	moved.PaymentID = another.PaymentID
	moved.SubscriberID = sub
	receipt(t).given(own, held("no_match")).when(named).when(moved).thenFails("receipt_of_other_payment")
	receipt(t).given(own, matchedTo(sub2, "phone", 0)).when(moved).when(another).thenFails("receipt_matched")
	moved.PaymentID, moved.SubscriberID = attempt, sub2
	receipt(t).given(own, matchedTo(sub2, "phone", 0)).when(moved).thenNothing()
}
