package payments_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Receipts of these tests: two real ones and a provisional one.
var (
	realReceipt  = commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	otherReceipt = commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P2")
	provisional  = commands.ProvisionalReceiptID("ws_CO_1")
)

// initiated is the first event of the attempt.
var initiated = events.PaymentInitiated{
	PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, Amount: kes(1500),
	Phone: personal.Of("254712345678"), Environment: "sandbox", Shortcode: "600100", AccountReference: "P7K2M9QX4RTW",
	InitiatedAt: now, ExpiresAt: now.Add(24 * time.Hour),
}

// Events that can follow.
var (
	submitting = events.PromptSubmitting{PaymentID: attempt, At: now}
	accepted   = events.PromptAccepted{
		PaymentID: attempt, MerchantRequestID: "m", CheckoutRequestID: "ws_CO_1", At: now,
	}
	doubted   = events.PromptInDoubt{PaymentID: attempt, Cause: "timeout", At: now}
	failed    = events.PaymentFailed{PaymentID: attempt, SubscriberID: sub, Code: "2001", By: "callback", At: now}
	cancelled = events.PaymentCancelled{PaymentID: attempt, SubscriberID: sub, Code: "1032", By: "callback", At: now}
	expired   = events.PaymentExpired{PaymentID: attempt, SubscriberID: sub, At: now}
	checked   = events.PromptChecked{PaymentID: attempt, Code: "4999", Answered: true, At: now}
	unreached = events.PromptChecked{PaymentID: attempt, Code: "unreachable", At: now}
)

// succeeded is the success of the attempt by a receipt of the provider or a provisional one.
func succeeded(r id.Receipt, number, by string, provisional bool) events.PaymentSucceeded {
	return events.PaymentSucceeded{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, Amount: kes(1500), ReceiptID: r,
		ReceiptNumber: number, Provisional: provisional, By: by, At: now,
	}
}

// settle reports a receipt of 1,500 shillings for the attempt; one without a number is provisional.
func settle(r id.Receipt, number, by string) commands.SettlePayment {
	return commands.SettlePayment{
		PaymentID: attempt, ReceiptID: r, ReceiptNumber: number, Amount: kes(1500), By: by, Provisional: number == "",
	}
}

// payment begins a story about the attempt.
func payment(t *testing.T) *story[payments.Payment, commands.PaymentCommand, events.PaymentEvent] {
	return &story[payments.Payment, commands.PaymentCommand, events.PaymentEvent]{
		t: t, evolve: payments.Payments().Evolve, decide: payments.Payments().Decide, now: now,
	}
}

func TestInitiatePayment_BeginsAnAttemptForADay(t *testing.T) {
	t.Parallel()
	initiate := commands.InitiatePayment{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, Amount: kes(1500),
		Phone: personal.Of("254712345678"), Environment: "sandbox", Shortcode: "600100",
		AccountReference: "P7K2M9QX4RTW",
	}
	if err := initiate.Validate(); err != nil {
		t.Fatal(err)
	}
	payment(t).when(initiate).then(initiated).when(initiate).thenFails("payment_exists")
}

func TestInitiatePayment_FormIsChecked(t *testing.T) {
	t.Parallel()
	good := commands.InitiatePayment{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, Amount: kes(1), Phone: personal.Of("254712345678"),
		Shortcode: "600100", AccountReference: "P7K2M9QX4RTW",
	}
	for name, spoil := range map[string]func(*commands.InitiatePayment){
		"nothing":          func(c *commands.InitiatePayment) { c.Amount = kes(0) },
		"more than 250000": func(c *commands.InitiatePayment) { c.Amount = kes(250_001) },
		"cents":            func(c *commands.InitiatePayment) { c.Amount.Minor++ },
		"dollars":          func(c *commands.InitiatePayment) { c.Amount.Currency = "USD" },
		"phone with plus":  func(c *commands.InitiatePayment) { c.Phone = personal.Of("+254712345678") },
		"long reference":   func(c *commands.InitiatePayment) { c.AccountReference = "1234567890123" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := good
			spoil(&bad)
			if bad.Validate() == nil {
				t.Error("was taken")
			}
		})
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

func TestBeginSubmission_OnlyOneCallerMayCall(t *testing.T) {
	t.Parallel()
	begin := commands.BeginSubmission{PaymentID: attempt}
	payment(t).given(initiated).when(begin).then(submitting).when(begin).thenNothing()
	payment(t).given(initiated, failed).when(begin).thenNothing()
	payment(t).when(begin).thenFails("payment_not_found")
}

func TestInDoubt_IsResolvedByAVerdictAndNeverByASecondPrompt(t *testing.T) {
	t.Parallel()
	doubt := commands.DoubtPrompt{PaymentID: attempt, Cause: "timeout"}
	payment(t).given(initiated, submitting).when(doubt).then(doubted).
		when(commands.BeginSubmission{PaymentID: attempt}).thenNothing().
		when(commands.RecordVerdict{PaymentID: attempt, CheckoutRequestID: "ws_CO_1", Code: "2001", By: "callback"}).
		then(events.PromptAccepted{PaymentID: attempt, CheckoutRequestID: "ws_CO_1", At: now}, failed)
	payment(t).given(initiated, submitting, accepted).when(doubt).thenNothing()
}

func TestCallbackBeforeTheAnswer_BothAreKept(t *testing.T) {
	t.Parallel()
	accept := commands.AcceptPrompt{PaymentID: attempt, MerchantRequestID: "m", CheckoutRequestID: "ws_CO_1"}
	payment(t).given(initiated, submitting).when(settle(realReceipt, "SJK4X7Q2P1", "callback")).
		then(succeeded(realReceipt, "SJK4X7Q2P1", "callback", false)).
		when(accept).then(accepted).
		when(commands.RecordVerdict{PaymentID: attempt, Code: "1032", By: "query"}).thenNothing()
}

func TestVerdict_CodesMapAsSpecified(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]events.PaymentEvent{
		"1032":         cancelled,
		"2001":         failed,
		"1019":         events.PromptChecked{PaymentID: attempt, Code: "1019", Answered: true, At: now},
		"1025":         events.PromptChecked{PaymentID: attempt, Code: "1025", Answered: true, At: now},
		"1037":         events.PromptChecked{PaymentID: attempt, Code: "1037", Answered: true, At: now},
		"4999":         events.PromptChecked{PaymentID: attempt, Code: "4999", Answered: true, At: now},
		"500.001.1001": events.PromptChecked{PaymentID: attempt, Code: "500.001.1001", Answered: true, At: now},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			payment(t).given(initiated, submitting, accepted).
				when(commands.RecordVerdict{PaymentID: attempt, Code: code, By: "callback"}).then(want)
		})
	}
	for _, code := range []string{"1", "1001", "17", "2028", "8006", "9999", "-1", "odd"} {
		if payments.OutcomeOf(code) != payments.OutcomeFailed {
			t.Errorf("code %s is no failure", code)
		}
	}
	if (commands.RecordVerdict{PaymentID: attempt, Code: "0"}).Validate() == nil {
		t.Error("a success was taken without a receipt")
	}
}

func TestQueryVerdict_NeverOverwritesASuccess(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"1032", "2001", "1037", "4999"} {
		payment(t).given(initiated, accepted, succeeded(realReceipt, "SJK4X7Q2P1", "callback", false)).
			when(commands.RecordVerdict{PaymentID: attempt, Code: code, By: "query"}).thenNothing()
	}
}

func TestSuccess_IsAbsorbingAndFollowsEveryOtherEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]events.PaymentEvent{
		"failed": failed, "cancelled": cancelled, "expired": expired, "in doubt": doubted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payment(t).given(initiated, submitting, accepted, end).
				when(settle(realReceipt, "SJK4X7Q2P1", "callback")).then(succeeded(realReceipt, "SJK4X7Q2P1",
				"callback", false)).
				when(settle(realReceipt, "SJK4X7Q2P1", "c2b")).thenNothing()
		})
	}
	payment(t).given(initiated, succeeded(realReceipt, "SJK4X7Q2P1", "callback", false)).
		when(settle(otherReceipt, "SJK4X7Q2P2", "c2b")).thenFails("payment_settled")
}

func TestSettle_AnotherAmountIsNotThisPayment(t *testing.T) {
	t.Parallel()
	wrong := settle(realReceipt, "SJK4X7Q2P1", "callback")
	wrong.Amount = kes(15)
	payment(t).given(initiated, accepted).when(wrong).thenFails("amount_mismatch")
	payment(t).given(initiated, accepted,
		succeeded(provisional, "", "query", true)).when(wrong).thenFails("amount_mismatch")
}

func TestSettleByHand_MoneyOnTheAttemptsOwnAccountIsItsSuccess(t *testing.T) {
	t.Parallel()
	byHand := func(account id.Subscriber, units int64) commands.SettlePayment {
		return commands.SettlePayment{
			PaymentID: attempt, ReceiptID: realReceipt, ReceiptNumber: "SJK4X7Q2P1", Amount: kes(units),
			By: commands.ByOperator, SubscriberID: account,
		}
	}
	came := succeeded(realReceipt, "SJK4X7Q2P1", "operator", false)
	came.Amount = kes(1000)
	elsewhere := events.PaymentPaidElsewhere{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, ReceiptID: realReceipt, ReceiptNumber: "SJK4X7Q2P1",
		Amount: kes(1000), PaidTo: sub2, At: now,
	}
	superseded := events.ProvisionalSuperseded{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, ReceiptID: realReceipt,
		ProvisionalReceiptID: provisional, At: now,
	}
	for name, before := range map[string][]events.PaymentEvent{
		"created": {initiated}, "open": {initiated, submitting, accepted}, "in doubt": {initiated, submitting, doubted},
		"failed": {initiated, failed}, "cancelled": {initiated, cancelled}, "expired": {initiated, expired},
	} {
		t.Log(name)
		payment(t).given(before...).when(byHand(sub2, 1000)).then(elsewhere).when(byHand(sub2, 1000)).then().
			when(byHand(sub, 1000)).then(came).when(byHand(sub, 1000)).then()
		payment(t).given(before...).when(byHand(sub2, 1000)).then(elsewhere).
			when(settle(provisional, "", "query")).then(came, superseded).
			when(settle(provisional, "", "query")).then(superseded) // only an absorbed receipt is told again
	}
	for _, account := range []id.Subscriber{sub, sub2} {
		payment(t).given(initiated, succeeded(otherReceipt, "SJK4X7Q2P2", "callback", false)).
			when(byHand(account, 1500)).then() // another real receipt keeps the success, and nothing is refused
		payment(t).given(initiated, succeeded(provisional, "", "query", true)).
			when(byHand(account, 1000)).then(came, superseded).
			when(byHand(account, 1000)).then().when(settle(realReceipt, "SJK4X7Q2P1", "callback")).thenNothing()
	}
	if byHand(id.Subscriber{}, 1).Validate() == nil || byHand(sub, 1).Validate() != nil {
		t.Error("an act by hand needs the account")
	}
	other := settle(realReceipt, "SJK4X7Q2P1", "callback")
	other.SubscriberID = sub
	if other.Validate() == nil {
		t.Error("a report has no account")
	}
}

func TestProvisionalSuccess_IsClaimedByTheFirstRealReceipt(t *testing.T) {
	t.Parallel()
	claimed := events.ProvisionalClaimed{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, ReceiptID: realReceipt,
		ReceiptNumber: "SJK4X7Q2P1", ProvisionalReceiptID: provisional, At: now,
	}
	payment(t).given(initiated, accepted).
		when(settle(provisional, "", "query")).then(succeeded(provisional, "", "query", true)).
		when(settle(provisional, "", "query")).thenNothing().
		when(settle(realReceipt, "SJK4X7Q2P1", "c2b")).then(claimed).
		when(settle(realReceipt, "SJK4X7Q2P1", "callback")).thenNothing().
		when(settle(provisional, "", "query")).thenNothing().
		when(settle(otherReceipt, "SJK4X7Q2P2", "c2b")).thenFails("payment_settled")
}

func TestProvisionalSuccess_AfterTheRealReceiptIsTheSameMoney(t *testing.T) {
	t.Parallel()
	payment(t).given(initiated, accepted, succeeded(realReceipt, "SJK4X7Q2P1", "callback", false)).
		when(settle(provisional, "", "query")).
		then(events.ProvisionalSuperseded{
			PaymentID: attempt, OrgID: org, SubscriberID: sub, ReceiptID: realReceipt,
			ProvisionalReceiptID: provisional, At: now,
		})
}

func TestExpiry_NeverByTimeAloneWhileTheQueryFails(t *testing.T) {
	t.Parallel()
	expire, late := commands.ExpirePayment{PaymentID: attempt}, now.Add(24*time.Hour)
	gone := expired
	gone.At = late
	payment(t).given(initiated, accepted, checked).at(late.Add(-time.Second)).when(expire).thenFails("payment_not_due")
	payment(t).given(initiated, accepted, checked, unreached).at(late).when(expire).thenFails("payment_unanswered")
	payment(t).given(initiated, accepted, unreached,
		checked).at(late).when(expire).then(gone).when(expire).thenNothing()
	payment(t).given(initiated, submitting, doubted).at(late).when(expire).then(gone)
}

func TestRequestCheck_AsksWhileThereIsAQuestion(t *testing.T) {
	t.Parallel()
	check := commands.RequestCheck{PaymentID: attempt}
	requested := events.PromptCheckRequested{PaymentID: attempt, At: now}
	payment(t).given(initiated, accepted).when(check).then(requested)
	payment(t).given(initiated, accepted, failed).when(check).then(requested)
	payment(t).given(initiated, submitting, doubted).when(check).thenNothing()
	payment(t).given(initiated, accepted,
		succeeded(realReceipt, "SJK4X7Q2P1", "callback", false)).when(check).thenNothing()
}
