package payments_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// What contradicts money that has left for good is kept, but nobody could settle a dispute about it.
func TestContradiction_AboutMoneyThatHasLeftIsNoDispute(t *testing.T) {
	t.Parallel()
	second := confirmation()
	second.Amount = kes(1600)
	told := events.ReceiptDisputed{
		ReceiptID: realReceipt, Sighting: "c2b_confirmation", Amount: kes(1600), Shortcode: "600100", At: now,
	}
	for name, left := range map[string]events.ReceiptEvent{"reversed": wasReversed, "absorbed": wasAbsorbed} {
		s := receipt(t).given(recorded, left).when(second).then(told).when(second).thenNothing()
		if s.state.Disputed {
			t.Errorf("%s money is disputed for ever", name)
		}
	}
	s := receipt(t).given(recorded, matchedTo(sub, "phone", 0), told, wasAbsorbed)
	if s.state.Disputed {
		t.Error("a dispute outlives the money that it was about")
	}
}

func TestStall_IsRecordedTheRarerTheLongerItLasts(t *testing.T) {
	t.Parallel()
	def, s, at, times := payments.Receipts(), payments.Receipt{}, now, 0
	for _, e := range []events.ReceiptEvent{recorded, matchedTo(sub, "phone", 0)} {
		s = def.Evolve(s, e)
	}
	stalled := commands.MarkStalled{ReceiptID: realReceipt}
	for range 30 * 24 { // hourly, for a month
		at = at.Add(time.Hour)
		list, err := def.Decide(s, stalled, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			s, times = def.Evolve(s, e), times+1
		}
	}
	if times < 30 || times > 36 {
		t.Errorf("recorded %d times in a month", times)
	}
}

func TestStall_TellsWhereTheMoneyShouldBeAndWhereItIs(t *testing.T) {
	t.Parallel()
	moved := events.ReceiptReattributed{
		ReceiptID: realReceipt, OrgID: org, From: sub, To: sub2, Amount: kes(1500), Move: 1, At: now,
	}
	want := events.ReceiptStalled{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub2, HeldBy: sub, ReceiptNumber: "SJK4X7Q2P1",
		Channel: "c2b", Amount: kes(1500), PaidAt: now, Move: 1, Since: now, At: now,
	}
	receipt(t).given(recorded, matchedTo(sub, "phone", 0), moved).
		when(commands.MarkStalled{ReceiptID: realReceipt, HeldBy: sub2}).thenNothing(). // it is in its place
		when(commands.MarkStalled{ReceiptID: realReceipt, HeldBy: sub}).then(want)
	receipt(t).given(recorded).when(commands.MarkStalled{ReceiptID: realReceipt, HeldBy: sub}).thenNothing()
	receipt(t).given(recorded, held("no_match")).when(commands.MarkStalled{ReceiptID: realReceipt}).thenNothing()
	receipt(t).when(commands.MarkStalled{ReceiptID: realReceipt}).thenFails("receipt_not_found")
	receipt(t).given(recorded, matchedTo(sub, "phone", 0), events.ReceiptDisputed{
		ReceiptID: realReceipt, Amount: kes(1), At: now,
	}, events.ReceiptMatched{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, Confirms: true, At: now.Add(time.Hour),
	}).when(commands.MarkStalled{ReceiptID: realReceipt}).then(events.ReceiptStalled{
		ReceiptID: realReceipt, OrgID: org, SubscriberID: sub, ReceiptNumber: "SJK4X7Q2P1", Channel: "c2b",
		Amount: kes(1500), PaidAt: now, Since: now, At: now, // a confirmed place is as old as before
	})
}

// Older logs have the alarm also after a person's attribution. It is ended like every other one.
func TestUnclaimedMoney_AnAlarmAfterAPersonsAttributionIsConfirmedAway(t *testing.T) {
	t.Parallel()
	temporary := recorded
	temporary.ReceiptID, temporary.OrgID, temporary.ReceiptNumber = provisional, org, ""
	temporary.PaymentID, temporary.Provisional = attempt, true
	byHand := matchedTo(sub, "operator", 0)
	byHand.ReceiptID, byHand.ReceiptNumber, byHand.PaymentID = provisional, "", attempt
	word := byHand
	word.Confirms = true
	confirm := commands.AttributeReceipt{ReceiptID: provisional, OrgID: org, SubscriberID: sub}
	receipt(t).given(temporary, byHand, events.ReceiptUnclaimed{ReceiptID: provisional, At: now}).
		when(confirm).then(word).when(confirm).thenNothing().
		when(commands.MarkUnclaimed{ReceiptID: provisional}).thenNothing()
}
