package payments_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The bill of these tests, its references, what happens to it, and the commands.
var (
	billOrg  = id.Derive[id.Organization]("test", "bill org")
	billed   = id.Must[id.Invoice]("0195a000-0000-7000-8000-000000000001")
	billTime = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	billOf   = events.BillSubject{
		OrgID: billOrg, SubscriberID: id.Derive[id.Subscriber]("test", "amina"), InvoiceID: billed, Number: "ACME-0001",
	}
	asks    = money.Major(1160, money.KES)
	paying  = id.Derive[id.Receipt]("test", "paying")
	firstID = "0195a000000070008000000000000001-1"
	nextID  = "0195a000000070008000000000000001-2"

	billWaits    = events.BillQueued{BillSubject: billOf, At: billTime}
	billOffered  = offeredAs(firstID, 1)
	billOffered2 = offeredAs(nextID, 2)
	billFreed    = events.BillFreed{BillSubject: billOf, Reference: firstID, Doubted: true, At: billTime}
	billSent     = events.BillSent{BillSubject: billOf, Reference: firstID, At: billTime}
	billFailed   = events.BillFailed{
		BillSubject: billOf, Code: "400", Message: personal.Of("no such phone"), At: billTime,
	}
	billSettled = events.BillSettled{BillSubject: billOf, At: billTime}
	billPaid    = events.BillPaid{
		BillSubject: billOf, ReceiptID: paying, ReceiptNumber: "SJK4H7L2P9", Amount: asks, PaidAt: billTime,
		At: billTime,
	}
	billKnown = events.BillAcknowledged{
		BillSubject: billOf, ReceiptID: paying, ReceiptNumber: "SJK4H7L2P9", Amount: asks, At: billTime,
	}

	queueBill = commands.QueueBill{BillSubject: billOf}
	againBill = commands.QueueBill{BillSubject: billOf, Again: true}
	offerBill = commands.OfferBill{InvoiceID: billed, Try: 1, Size: 3, Amount: asks}
	payBill   = commands.PayBill{
		InvoiceID: billed, ReceiptID: paying, ReceiptNumber: "SJK4H7L2P9", Amount: asks, PaidAt: billTime,
	}
)

// offeredAs is a call with the bill.
func offeredAs(reference string, try int) events.BillOffered {
	return events.BillOffered{
		BillSubject: billOf, Reference: reference, Try: try, Size: 3, Amount: asks, At: billTime,
	}
}

// offerOf is a call with the bill in a round.
func offerOf(round, try int) commands.OfferBill {
	offer := offerBill
	offer.Round, offer.Try = round, try
	return offer
}

// cancelledFor ends the bill for a reason, and recalledFor has it taken back.
func cancelledFor(reason string) events.BillCancelled {
	return events.BillCancelled{BillSubject: billOf, Reason: reason, At: billTime}
}

// recalledFor says that the bill manager is to give the bill up.
func recalledFor(reason string) events.BillRecalled {
	return events.BillRecalled{BillSubject: billOf, Reason: reason, At: billTime}
}

// aBill begins an example of one bill.
func aBill(
	t *testing.T, list ...events.BillEvent,
) *decidertest.Scenario[payments.Bill, commands.BillCommand, events.BillEvent] {
	t.Helper()
	return decidertest.For(t, payments.Bills(), billTime).Given(list...)
}

func TestBill_IsOfferedOnceUnderAReferenceThatIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	aBill(t).When(offerBill).ThenFails("bill_not_found")
	aBill(t).When(queueBill).Then(billWaits)
	aBill(t, billWaits).When(queueBill).ThenNothing()
	aBill(t, billWaits).When(offerBill).Then(billOffered)
	aBill(t, billWaits, billOffered).When(offerBill).ThenFails("bill_not_waiting")
	aBill(t, billWaits, billOffered).
		When(commands.FreeBill{InvoiceID: billed, Reference: firstID, Doubted: true}).Then(billFreed)
	aBill(t, billWaits, billOffered, billFreed).When(offerBill).ThenFails("bill_not_waiting") // of the first reference
	aBill(t, billWaits, billOffered, billFreed).When(offerOf(0, 2)).Then(billOffered2)
	aBill(t, billWaits, billOffered, billFreed, billOffered2).
		When(commands.ConfirmBill{InvoiceID: billed, Reference: firstID}).ThenNothing()
	aBill(t, billWaits, billOffered, billFreed, billOffered2).
		When(commands.FreeBill{InvoiceID: billed, Reference: firstID}).ThenNothing()
	aBill(t, billWaits, billOffered).When(commands.ConfirmBill{InvoiceID: billed, Reference: firstID}).Then(billSent)
	aBill(t, billWaits, billOffered, billSent).When(queueBill).ThenNothing()
	aBill(t, billWaits, billOffered, billSent).When(offerBill).ThenFails("bill_not_waiting")
	aBill(t, billWaits, billOffered, billSent).
		When(commands.FreeBill{InvoiceID: billed, Reference: firstID}).ThenNothing()
}

func TestBill_AFailureIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	fails := commands.FailBill{
		InvoiceID: billed, Reference: firstID, Code: "400", Message: "no such phone", Gone: true,
	}
	unsent := fails // without a call
	unsent.Reference = ""
	gone := events.BillFreed{BillSubject: billOf, Reference: firstID, At: billTime}
	second := events.BillQueued{BillSubject: billOf, Round: 1, At: billTime}
	aBill(t, billWaits, billOffered).When(fails).Then(gone, billFailed)
	aBill(t, billWaits).When(unsent).Then(billFailed)
	aBill(t, billWaits, billOffered, billSent).When(fails).ThenNothing()
	aBill(t, billWaits, billOffered, gone, billFailed).When(queueBill).Then(second)
	offer := offerOf(1, 2)
	aBill(t, billWaits, billOffered, gone, billFailed, second).When(offer).Then(billOffered2)
	for _, reason := range []string{events.BillByPerson, events.BillVoided} { // it was cancelled during the call
		aBill(t, billWaits, billOffered, recalledFor(reason)).When(fails).Then(cancelledFor(reason))
	}
	aBill(t, billWaits, billOffered, recalledFor(events.BillChanged)).When(fails).
		Then(cancelledFor(events.BillChanged), second)
	// so is one that was cancelled while nothing could be sent
	frees := commands.FreeBill{InvoiceID: billed, Reference: firstID}
	aBill(t, billWaits, billOffered, recalledFor(events.BillVoided)).When(frees).Then(cancelledFor(events.BillVoided))
	aBill(t, billWaits, billOffered, recalledFor(events.BillChanged)).When(frees).
		Then(cancelledFor(events.BillChanged), second)
	changes := commands.RecallBill{InvoiceID: billed, Reason: events.BillChanged}
	aBill(t, billWaits, billOffered, recalledFor(events.BillChanged), gone).When(changes). // as older programs left it
												Then(cancelledFor(events.BillChanged), second)
	// one that may still be there is taken back first
	aBill(t, billWaits, billOffered, billFailed, second).When(offer).ThenFails("bill_not_waiting")
}

func TestBill_IsTakenBackOnlyWhereItMayBe(t *testing.T) {
	t.Parallel()
	voids := commands.RecallBill{InvoiceID: billed, Reason: events.BillVoided}
	confirms := commands.ConfirmRecall{InvoiceID: billed, Reference: firstID}
	aBill(t, billWaits).When(voids).Then(cancelledFor(events.BillVoided))
	aBill(t, billWaits, billOffered).When(voids).Then(recalledFor(events.BillVoided))
	aBill(t, billWaits, billOffered, billSent).When(voids).Then(recalledFor(events.BillVoided))
	aBill(t, billWaits, billOffered, billSent, recalledFor(events.BillVoided)).When(voids).ThenNothing()
	aBill(t, billWaits, billOffered, billSent, recalledFor(events.BillVoided)).When(confirms).
		Then(cancelledFor(events.BillVoided))
	aBill(t, billWaits, billOffered, billSent).When(confirms).ThenNothing()
	aBill(t, billWaits, cancelledFor(events.BillVoided)).When(voids).ThenNothing()
	aBill(t, billWaits, cancelledFor(events.BillVoided)).When(queueBill).ThenNothing()
	aBill(t, billWaits, cancelledFor(events.BillByPerson)).When(againBill).
		Then(events.BillQueued{BillSubject: billOf, Round: 1, At: billTime})
	// a failure to take it back is tried again as such
	aBill(t, billWaits, billOffered, billSent, recalledFor(events.BillVoided), billFailed).When(queueBill).
		Then(events.BillQueued{BillSubject: billOf, Round: 1, At: billTime}, recalledFor(events.BillVoided))
	aBill(t, billWaits, billOffered, billSent, billPaid).When(voids).ThenNothing()
}

func TestBill_MoneyIsOneWhateverToldOfIt(t *testing.T) {
	t.Parallel()
	settles := commands.SettleBill{InvoiceID: billed}
	aBill(t, billWaits).When(settles).Then(billSettled, cancelledFor(events.BillElsewhere))
	aBill(t, billWaits, billOffered, billSent).When(settles).Then(billSettled)
	aBill(t, billWaits, billOffered, billSent, billSettled).When(settles).ThenNothing()
	aBill(t, billWaits, billOffered, billSent, billSettled).When(payBill).Then(billPaid)
	aBill(t, billWaits, billOffered, billSent, billSettled, billPaid).When(payBill).ThenNothing()
	aBill(t, billWaits).When(payBill).ThenNothing() // it never left the house
	acknowledges := commands.AcknowledgeBill{InvoiceID: billed, ReceiptID: paying}
	aBill(t, billWaits, billOffered, billSent, billPaid).When(acknowledges).Then(billKnown)
	aBill(t, billWaits, billOffered, billSent, billPaid, billKnown).When(acknowledges).ThenNothing()
	aBill(t, billWaits, billOffered, billSent, billPaid, billKnown).When(queueBill).ThenFails("bill_over")
	// the report comes after the bill was taken back
	late := []events.BillEvent{
		billWaits, billOffered, billSent, billSettled, recalledFor(events.BillElsewhere),
		cancelledFor(events.BillElsewhere),
	}
	aBill(t, late...).When(payBill).Then(billPaid)
}

func TestBill_DueAgainIsAskedForAgain(t *testing.T) {
	t.Parallel()
	reopens := commands.ReopenBill{InvoiceID: billed}
	reopened := events.BillReopened{BillSubject: billOf, At: billTime}
	second := events.BillQueued{BillSubject: billOf, Round: 1, At: billTime}
	aBill(t).When(reopens).ThenNothing()
	aBill(t, billWaits).When(reopens).ThenNothing()
	aBill(t, billWaits, billOffered, billSent, billSettled).When(reopens).Then(reopened) // it is still there
	aBill(t, billWaits, billOffered, billSent, billSettled, billPaid, billKnown).When(reopens).Then(reopened,
		events.BillFreed{BillSubject: billOf, Reference: firstID, At: billTime}, second)
	aBill(t, billWaits, billSettled, cancelledFor(events.BillElsewhere)).When(reopens).Then(reopened, second)
	recalled := recalledFor(events.BillElsewhere)
	aBill(t, billWaits, billOffered, billSent, billSettled, recalled).When(reopens).Then(reopened)
	aBill(t, billWaits, billOffered, billSent, billSettled, recalled, reopened).
		When(commands.ConfirmRecall{InvoiceID: billed, Reference: firstID}).
		Then(cancelledFor(events.BillElsewhere), second)
}

func TestBillManager_LeavingTurnsItOffUntilItIsTurnedOnAgain(t *testing.T) {
	t.Parallel()
	on := commands.ConfigureBillManager{OrgID: billOrg, On: true, Reminders: true}
	leaves := commands.LeaveBillManager{OrgID: billOrg}
	isOn := events.BillManagerConfigured{OrgID: billOrg, On: true, Reminders: true, At: billTime}
	left := events.BillManagerConfigured{OrgID: billOrg, Reminders: true, Left: true, At: billTime}
	manager := func(list ...events.BillManagerEvent) *decidertest.Scenario[
		payments.BillManager, commands.BillManagerCommand, events.BillManagerEvent] {
		return decidertest.For(t, payments.BillManagers(), billTime).Given(list...)
	}
	manager().When(leaves).ThenNothing()
	manager().When(on).Then(isOn)
	manager(isOn).When(on).ThenNothing()
	manager(isOn).When(leaves).Then(left)
	manager(left).When(leaves).ThenNothing()
	manager(left).When(on).Then(isOn)
}

func TestBill_AnotherSumIsSentAgain(t *testing.T) {
	t.Parallel()
	changes := commands.RecallBill{InvoiceID: billed, Reason: events.BillChanged}
	confirms := commands.ConfirmRecall{InvoiceID: billed, Reference: firstID}
	again := events.BillQueued{BillSubject: billOf, Round: 1, At: billTime}
	aBill(t, billWaits, billOffered, billSent).When(changes).Then(recalledFor(events.BillChanged))
	changed := []events.BillEvent{billWaits, billOffered, billSent, recalledFor(events.BillChanged)}
	aBill(t, changed...).When(changes).ThenNothing()
	aBill(t, changed...).When(confirms).Then(cancelledFor(events.BillChanged), again)
	aBill(t, append(changed, billSettled)...).When(confirms).Then(cancelledFor(events.BillChanged))
	aBill(t, billWaits, billOffered, billFailed).When(changes).ThenNothing() // a person decides
	aBill(t, billWaits).When(changes).Then(again)
	aBill(t, billWaits, again).When(offerBill).ThenFails("bill_not_waiting") // the old sum was about to go
}

// TestBill_WhoCancelsOneThatWouldBeSentAgainCancelsIt: it is being taken back for another sum, or because it was paid
// elsewhere; the reason that would have it sent again is over then.
func TestBill_WhoCancelsOneThatWouldBeSentAgainCancelsIt(t *testing.T) {
	t.Parallel()
	confirms := commands.ConfirmRecall{InvoiceID: billed, Reference: firstID}
	for _, before := range []string{events.BillChanged, events.BillElsewhere} {
		for _, reason := range []string{events.BillByPerson, events.BillVoided, events.BillTurnedOff} {
			recalls := commands.RecallBill{InvoiceID: billed, Reason: reason}
			s := aBill(t, billWaits, billOffered, billSent, recalledFor(before))
			s.When(recalls).Then(recalledFor(reason))
			s.When(recalls).ThenNothing()
			for _, again := range []string{events.BillChanged, events.BillElsewhere} {
				s.When(commands.RecallBill{InvoiceID: billed, Reason: again}).ThenNothing()
			}
			s.When(confirms).Then(cancelledFor(reason))
			// so it is when nothing of the call had left the house
			aBill(t, billWaits, billOffered, recalledFor(before), recalledFor(reason)).
				When(commands.FreeBill{InvoiceID: billed, Reference: firstID}).Then(cancelledFor(reason))
		}
	}
}

// TestBill_AFailureOfAnotherCallChangesNothing: two programs are at work, and the answer to the call of the first one
// comes when the second one has made its own, or has freed the bill.
func TestBill_AFailureOfAnotherCallChangesNothing(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{true, false} {
		first := commands.FailBill{InvoiceID: billed, Reference: firstID, Code: "400", Message: "no", Gone: gone}
		unsent := first
		unsent.Reference = ""
		aBill(t, billWaits, billOffered, billFreed).When(first).ThenNothing()
		aBill(t, billWaits, billOffered, billFreed, billOffered2).When(first).ThenNothing()
		aBill(t, billWaits, billOffered, billFreed, billOffered2, recalledFor(events.BillVoided)).When(first).
			ThenNothing()
		aBill(t, billWaits, billOffered).When(unsent).ThenNothing()
	}
}

// TestBill_OneThatWaitsForItsSignatureGoesWhenItIsQueuedAgain, at once, in another round. One that does not wait to be
// sent waits for no signature.
func TestBill_OneThatWaitsForItsSignatureGoesWhenItIsQueuedAgain(t *testing.T) {
	t.Parallel()
	unsigned := commands.DelayBill{
		InvoiceID: billed, Until: billTime.Add(time.Minute), Reason: events.BillNotSigned,
	}
	delayed := events.BillDelayed{
		BillSubject: billOf, Until: unsigned.Until, Reason: events.BillNotSigned, At: billTime,
	}
	again := events.BillQueued{BillSubject: billOf, Round: 1, At: billTime}
	aBill(t, billWaits).When(unsigned).Then(delayed)
	s := aBill(t, billWaits, delayed)
	s.When(queueBill).Then(again)
	if got := s.State(); got.WaitsFor != "" || !got.RetryAt.IsZero() {
		t.Errorf("queued again it is %+v", got)
	}
	s.When(queueBill).ThenNothing()
	aBill(t, billWaits, billOffered).When(unsigned).ThenNothing()
	aBill(t, billWaits, billOffered, billSent).When(unsigned).ThenNothing()
	aBill(t, billWaits, delayed, billOffered).When(queueBill).ThenNothing()
}

// TestBill_HowLongItMayBeInWorkIsOfTheLastCall, and no doubt says so.
func TestBill_HowLongItMayBeInWorkIsOfTheLastCall(t *testing.T) {
	t.Parallel()
	waits := commands.DelayBill{InvoiceID: billed, Until: billTime.Add(time.Minute)}
	doubts := commands.DelayBill{InvoiceID: billed, Until: billTime.Add(time.Hour), Doubted: true}
	s := aBill(t, billWaits, billOffered)
	s.When(waits).Then(events.BillDelayed{BillSubject: billOf, Until: waits.Until, At: billTime})
	s.When(doubts).Then(events.BillDelayed{BillSubject: billOf, Until: doubts.Until, Doubted: true, At: billTime})
	s.When(commands.RecallBill{InvoiceID: billed, Reason: events.BillChanged}).Then(recalledFor(events.BillChanged))
	if got := s.State().WorksUntil; !got.Equal(waits.Until) {
		t.Errorf("it is in work until %v", got)
	}
	s.When(commands.ConfirmRecall{InvoiceID: billed, Reference: firstID}).Then(cancelledFor(events.BillChanged),
		events.BillQueued{BillSubject: billOf, Round: 1, At: billTime})
	s.When(offerOf(1, 2)).Then(billOffered2)
	if got := s.State().WorksUntil; !got.IsZero() {
		t.Errorf("the next one is in work until %v", got)
	}
}

func TestBill_UnclearAnswersAreCountedUntilSomethingIsKnown(t *testing.T) {
	t.Parallel()
	later := commands.DelayBill{InvoiceID: billed, Until: billTime.Add(time.Minute), Doubted: true}
	delayed := events.BillDelayed{BillSubject: billOf, Until: later.Until, Doubted: true, At: billTime}
	s := aBill(t, billWaits, billOffered)
	s.When(later).Then(delayed)
	s.When(later).Then(delayed)
	if got := s.State(); got.Unclear != 2 || !got.RetryAt.Equal(later.Until) {
		t.Errorf("%+v", got)
	}
	s.When(commands.RecallBill{InvoiceID: billed, Reason: events.BillVoided}).Then(recalledFor(events.BillVoided))
	if got := s.State(); got.Unclear != 0 || !got.RetryAt.IsZero() {
		t.Errorf("a person waits for it: %+v", got)
	}
}
