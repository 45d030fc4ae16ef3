package paymentscases_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// reference is shown on the phone by the prompts of these tests.
const reference = "PONE"

// asked begins an attempt of 500 shillings.
func (k *kit) asked(t *testing.T, org id.Organization, of id.Subscriber) id.Payment {
	t.Helper()
	p := id.New[id.Payment]()
	k.run(t, commands.InitiatePayment{
		PaymentID: p, OrgID: org, SubscriberID: of, Amount: money.Major(500, money.KES),
		Phone: personal.Of("254712345678"), Environment: commands.EnvironmentSandbox, Shortcode: platformShortcode,
		AccountReference: reference,
	})
	return p
}

// provisional credits an attempt as a status query leads to it, and gives the provisional receipt.
func (k *kit) provisional(t *testing.T, p id.Payment, of id.Subscriber) id.Receipt {
	t.Helper()
	r := commands.ProvisionalReceiptID(p.String())
	amount := money.Major(500, money.KES)
	k.run(t, commands.RecordReceipt{
		ReceiptID: r, OrgID: k.org, Provider: commands.ProviderProvisional, Channel: commands.ChannelPrompt,
		Environment: commands.EnvironmentSandbox, Shortcode: platformShortcode, Amount: amount, PaidAt: k.clock.Now(),
		CheckoutRequestID: p.String(), PaymentID: p, Provisional: true, Sighting: commands.SightingQuery,
	})
	k.run(t, commands.SettlePayment{
		PaymentID: p, ReceiptID: r, Amount: amount, By: commands.ByQuery, Provisional: true,
	})
	k.run(t, commands.MatchReceipt{
		ReceiptID: r, OrgID: k.org, SubscriberID: of, PaymentID: p, By: commands.MatchedByPrompt,
	})
	k.run(t, commands.CreditReceipt{
		SubscriberID: of, OrgID: k.org, ReceiptID: r, Channel: commands.ChannelPrompt, Amount: amount,
		PaidAt: k.clock.Now(), MatchedAt: k.clock.Now(),
	})
	return r
}

// waiting is a receipt over shillings in suspense that came at the shared paybill with the reference, at an instant.
func (k *kit) waiting(t *testing.T, number, reason string, units int64, at time.Time) id.Receipt {
	t.Helper()
	r := commands.ReceiptID(commands.EnvironmentSandbox, number)
	k.run(t, commands.RecordReceipt{
		ReceiptID: r, Provider: commands.ProviderMobileMoney, ReceiptNumber: number, Channel: commands.ChannelPaybill,
		Environment: commands.EnvironmentSandbox, Shortcode: platformShortcode, Amount: money.Major(units, money.KES),
		PaidAt: at, BillRef: personal.Of(reference), Sighting: commands.SightingConfirmation,
	})
	k.run(t, commands.HoldReceipt{ReceiptID: r, Reason: reason})
	k.run(t, commands.AssignReceipt{ReceiptID: r, OrgID: k.org})
	return r
}

// attribute gives a receipt to a subscriber with a word about its attempt.
func (k *kit) attribute(t *testing.T, r id.Receipt, to id.Subscriber, said paymentscases.Word) error {
	t.Helper()
	_, err := k.receipts.Attribute(t.Context(), coretest.Keyed(k.org), paymentscases.AttributeInput{
		ReceiptID: r, SubscriberID: to, Word: said,
	})
	return err
}

// offered has the attempts that a refusal lists.
func offered(t *testing.T, err error) (list []id.Payment) {
	t.Helper()
	coretest.Refused(t, "unnamed", err, "attempt_not_named")
	var refusal *failure.Error
	if !errors.As(err, &refusal) {
		return nil
	}
	attempts, _ := refusal.Details["attempts"].([]paymentscases.OpenAttempt)
	for _, a := range attempts {
		list = append(list, a.PaymentID)
	}
	return list
}

// An attempt without a success may still have one, so the provisional credit alone does not tell. Attempts of another
// organization are not shown to anybody.
func TestAttribute_MoneyOfSeveralAttemptsNeedsAWord(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	first, second := k.asked(t, k.org, k.amina), k.asked(t, k.org, k.chege)
	foreign := k.asked(t, k.other, k.brian)
	carrier := k.provisional(t, first, k.amina)
	r := k.waiting(t, "SJK4X7Q2A0", commands.HeldConflictingPrompt, 500, k.clock.Now())
	k.WaitForAll(t, k.show(t), paymentsviews.PaymentsName, paymentsviews.ReceiptsName)
	for _, to := range []id.Subscriber{k.amina, k.chege} {
		if list := offered(t, k.attribute(t, r, to, paymentscases.Word{})); len(list) != 2 || list[0] != first ||
			list[1] != second {
			t.Errorf("offered are %v, want %v and %v", list, first, second)
		}
	}
	for name, c := range map[string]struct {
		said paymentscases.Word
		code string
	}{
		"another organization's": {paymentscases.Word{PaymentID: foreign}, "payment_not_found"},
		"both":                   {paymentscases.Word{PaymentID: first, NoPrompt: true}, "invalid_input"},
	} {
		coretest.Refused(t, name, k.attribute(t, r, k.amina, c.said), c.code)
	}
	for range 2 {
		coretest.Refused(t, "named", k.attribute(t, r, k.amina, paymentscases.Word{PaymentID: first}), "")
	}
	if list := recorded[events.ReceiptMatched](t, k, commands.ReceiptCategory, r.String()); len(list) != 0 {
		t.Errorf("the account that has the provisional credit gets another one: %+v", list)
	}
	if got := k.receipt(t, r); got.Payment != first || got.Standing != payments.StandingHeld {
		t.Errorf("the receipt is %+v", got)
	}
	coretest.Refused(t, "then another's", k.attribute(t, r, k.chege, paymentscases.Word{PaymentID: second}),
		"receipt_of_other_payment")
	coretest.Refused(t, "then none's", k.attribute(t, r, k.amina, paymentscases.Word{NoPrompt: true}),
		"receipt_of_other_payment")
	// What takes up the named attempt takes the provisional credit for the receipt's.
	k.run(t, commands.SettlePayment{
		PaymentID: first, ReceiptID: r, ReceiptNumber: "SJK4X7Q2A0", Amount: money.Major(500, money.KES),
		By: commands.ByC2B,
	})
	claimed := recorded[events.ProvisionalClaimed](t, k, commands.PaymentCategory, first.String())
	if len(claimed) != 1 || claimed[0].ReceiptID != r || claimed[0].ProvisionalReceiptID != carrier {
		t.Errorf("claimed %+v", claimed)
	}
	again := func() {
		t.Helper()
		coretest.Refused(t, "again", k.attribute(t, r, k.amina, paymentscases.Word{PaymentID: first}), "")
		if list := recorded[events.ReceiptMatched](t, k, commands.ReceiptCategory, r.String()); len(list) != 0 {
			t.Errorf("a repeat gives the account another credit: %+v", list)
		}
	}
	again()
	k.run(t, commands.ClaimProvisional{ReceiptID: carrier, ClaimedBy: r, ReceiptNumber: "SJK4X7Q2A0"})
	again()
}

func TestAttribute_TheNamedAttemptMustBeAbleToHaveTheMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.asked(t, k.org, k.amina)
	now := k.clock.Now()
	for n, c := range []struct {
		units int64
		at    time.Time
		code  string
	}{
		{499, now, "attempt_does_not_fit"},
		{500, now.Add(-time.Minute), "attempt_does_not_fit"},
		{500, now.Add(48 * time.Hour), "attempt_does_not_fit"},
		{500, now.Add(47 * time.Hour), ""},
	} {
		r := k.waiting(t, "SJK4X7Q2A"+string(rune('0'+n)), commands.HeldNoMatch, c.units, c.at)
		coretest.Refused(t, c.at.String(), k.attribute(t, r, k.amina, paymentscases.Word{PaymentID: p}), c.code)
	}
	cash, till := id.New[id.Receipt](), commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2Z0")
	k.run(t, commands.RecordCash{
		ReceiptID: cash, OrgID: k.org, SubscriberID: k.amina, Amount: money.Major(500, money.KES), Reference: "book 1",
	})
	k.run(t, commands.RecordReceipt{
		ReceiptID: till, OrgID: k.org, Provider: commands.ProviderMobileMoney, ReceiptNumber: "SJK4X7Q2Z0",
		Channel: commands.ChannelPaybill, Environment: commands.EnvironmentSandbox, Shortcode: "777777",
		Amount: money.Major(500, money.KES), PaidAt: now, BillRef: personal.Of(reference),
		Sighting: commands.SightingConfirmation,
	})
	k.run(t, commands.HoldReceipt{ReceiptID: till, Reason: commands.HeldNoMatch})
	for name, r := range map[string]id.Receipt{"cash": cash, "money of the organization's own till": till} {
		coretest.Refused(t, name, k.attribute(t, r, k.amina, paymentscases.Word{PaymentID: p}), "attempt_does_not_fit")
	}
	k.run(t, commands.SettlePayment{
		PaymentID: p, ReceiptID: id.New[id.Receipt](), ReceiptNumber: "SJK4X7Q2B0", Amount: money.Major(500, money.KES),
		By: commands.ByC2B,
	})
	r := k.waiting(t, "SJK4X7Q2B1", commands.HeldNoMatch, 500, now)
	coretest.Refused(t, "settled", k.attribute(t, r, k.amina, paymentscases.Word{PaymentID: p}), "payment_settled")
}

// Only a provisional credit that may be the same money asks for a word.
func TestAttribute_OtherMoneyThanTheProvisionalCreditNeedsNoWord(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.asked(t, k.org, k.amina)
	carrier := k.provisional(t, p, k.amina)
	now := k.clock.Now()
	equal := k.waiting(t, "SJK4X7Q2A0", commands.HeldNoMatch, 500, now)
	if list := offered(t, k.attribute(t, equal, k.amina, paymentscases.Word{})); len(list) != 1 || list[0] != p {
		t.Errorf("offered are %v, want %v", list, p)
	}
	for name, r := range map[string]id.Receipt{
		"another amount": k.waiting(t, "SJK4X7Q2A1", commands.HeldNoMatch, 501, now),
		"another time":   k.waiting(t, "SJK4X7Q2A2", commands.HeldNoMatch, 500, now.Add(49*time.Hour)),
	} {
		coretest.Refused(t, name, k.attribute(t, r, k.amina, paymentscases.Word{}), "")
	}
	coretest.Refused(t, "another account", k.attribute(t, k.waiting(t, "SJK4X7Q2A3", commands.HeldNoMatch, 500, now),
		k.chege, paymentscases.Word{}), "")
	coretest.Refused(t, "said to be none's", k.attribute(t, equal, k.amina, paymentscases.Word{NoPrompt: true}), "")
	k.run(t, commands.ClaimProvisional{
		ReceiptID: carrier, ClaimedBy: id.New[id.Receipt](), ReceiptNumber: "SJK4X7Q2B0",
	})
	coretest.Refused(t, "claimed", k.attribute(t, k.waiting(t, "SJK4X7Q2A4", commands.HeldNoMatch, 500, now), k.amina,
		paymentscases.Word{}), "")
}

func TestReattribute_ToAnAccountWithAProvisionalCreditNeedsAWord(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.asked(t, k.org, k.amina)
	k.provisional(t, p, k.amina)
	r := k.waiting(t, "SJK4X7Q2A0", commands.HeldNoMatch, 500, k.clock.Now())
	coretest.Refused(t, "attribute", k.attribute(t, r, k.chege, paymentscases.Word{}), "")
	move := func(said paymentscases.Word) error {
		_, err := k.receipts.Reattribute(t.Context(), coretest.Keyed(k.org), paymentscases.ReattributeInput{
			ReceiptID: r, SubscriberID: k.amina, Reason: "typing error", Word: said,
		})
		return err
	}
	if list := offered(t, move(paymentscases.Word{})); len(list) != 1 || list[0] != p {
		t.Errorf("offered are %v, want %v", list, p)
	}
	coretest.Refused(t, "named", move(paymentscases.Word{PaymentID: p}), "")
	moved := recorded[events.ReceiptReattributed](t, k, commands.ReceiptCategory, r.String())
	if len(moved) != 1 || moved[0].PaymentID != p || moved[0].To != k.amina {
		t.Errorf("moved %+v", moved)
	}
}

// Money that was given to an account without a word is tied to its attempt later, which ends the second credit.
func TestAttribute_ALateWordEndsTheProvisionalCredit(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.asked(t, k.org, k.amina)
	k.provisional(t, p, k.amina)
	r := k.waiting(t, "SJK4X7Q2A0", commands.HeldNoMatch, 500, k.clock.Now())
	coretest.Refused(t, "none's", k.attribute(t, r, k.amina, paymentscases.Word{NoPrompt: true}), "")
	for range 2 {
		coretest.Refused(t, "its attempt's", k.attribute(t, r, k.amina, paymentscases.Word{PaymentID: p}), "")
	}
	said := recorded[events.ReceiptMatched](t, k, commands.ReceiptCategory, r.String())
	if len(said) != 2 || !said[1].Confirms || said[1].PaymentID != p {
		t.Errorf("recorded %+v", said)
	}
}
