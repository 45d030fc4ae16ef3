package payments_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

func TestPrompt_NotSentForTwoMinutesIsNotSentAnyMore(t *testing.T) {
	t.Parallel()
	begin, abandon := commands.BeginSubmission{PaymentID: attempt}, commands.AbandonPrompt{PaymentID: attempt}
	soon, late := now.Add(2*time.Minute-time.Nanosecond), now.Add(2*time.Minute)
	payment(t).given(initiated).at(soon).when(abandon).thenNothing().
		when(begin).then(events.PromptSubmitting{PaymentID: attempt, At: soon}).
		at(late).when(abandon).thenNothing() // it is on its way
	s := payment(t).given(initiated).at(late).when(begin).thenFails("prompt_too_late").
		when(abandon).then(events.PaymentFailed{
		PaymentID: attempt, SubscriberID: sub, Code: "not_sent",
		Message: "The phone was not asked in time. Start a new payment.", By: "platform", At: late,
	})
	s.when(abandon).thenNothing().when(begin).thenNothing()
}

func TestRefusal_ThatComesLateChangesNoAcceptedPrompt(t *testing.T) {
	t.Parallel()
	refuse := commands.RefusePrompt{PaymentID: attempt, Code: "500.001.1001", Message: "no"}

	payment(t).given(initiated, accepted).when(refuse).thenNothing()
	payment(t).given(initiated, events.PaymentCancelled{PaymentID: attempt}).when(refuse).thenNothing()
	payment(t).given(initiated).when(refuse).then(events.PaymentFailed{
		PaymentID: attempt, SubscriberID: sub, Code: "500.001.1001", Message: "no", By: "provider", At: now,
	})
}

func TestCancelledPrompt_IsCancelledForGood(t *testing.T) {
	t.Parallel()
	s := payment(t).given(initiated, events.PaymentCancelled{PaymentID: attempt})
	if s.state.Stage != payments.StageCancelled {
		t.Errorf("stage %d", s.state.Stage)
	}
	s.when(commands.RecordVerdict{PaymentID: attempt, Code: "1", By: "query"}).thenNothing().
		when(commands.RecordCheck{PaymentID: attempt, Code: "4999", Answered: true}).thenNothing().
		at(now.Add(25 * time.Hour)).when(commands.ExpirePayment{PaymentID: attempt}).thenNothing()
}

func TestPrompt_OnADirectShortcodeNamesItsCredentials(t *testing.T) {
	t.Parallel()
	want := initiated
	want.Direct, want.CredentialsRef = true, keys
	payment(t).when(commands.InitiatePayment{
		PaymentID: attempt, OrgID: org, SubscriberID: sub, InvoiceID: invoice, Amount: kes(1500),
		Phone: personal.Of("254712345678"), Direct: true, Environment: "sandbox", Shortcode: "600100",
		CredentialsRef: keys, AccountReference: "P7K2M9QX4RTW",
	}).then(want)
}

func TestPrompt_KeepsTheProvidersWords(t *testing.T) {
	t.Parallel()
	told := accepted
	told.CustomerMessage = "Success. Request accepted for processing"
	s := payment(t).given(initiated, submitting).when(commands.AcceptPrompt{
		PaymentID: attempt, MerchantRequestID: "m", CheckoutRequestID: "ws_CO_1",
		CustomerMessage: "Success. Request accepted for processing",
	}).then(told)
	ended := cancelled
	ended.Message = "Request cancelled by user"
	s.when(commands.RecordVerdict{
		PaymentID: attempt, Code: "1032", Message: "Request cancelled by user", By: "callback",
	}).then(ended)
}

func TestAbsent_AttemptsReceiptsAndGatewaysAreNotFound(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"payment_not_found": payments.Payments().Missing(), "receipt_not_found": payments.Receipts().Missing(),
		"gateway_not_found": payments.Gateways().Missing(),
	} {
		if failure.CodeOf(err) != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestPrompt_BelongsToItsOrganization(t *testing.T) {
	t.Parallel()
	if got := payments.Payments().Owner(payment(t).given(initiated).state); got != org {
		t.Errorf("belongs to %v", got)
	}
}

func TestPromptInDoubt_IsStillPaidByItsReceipt(t *testing.T) {
	t.Parallel()
	s := payment(t).given(initiated, events.PromptInDoubt{PaymentID: attempt}).at(now.Add(6 * time.Hour))
	s.when(commands.SettlePayment{
		PaymentID: attempt, ReceiptID: realReceipt, ReceiptNumber: "SJK4X7Q2P1", Amount: kes(1500), By: "c2b",
	})
	if s.err != nil || s.state.Stage != payments.StageSucceeded {
		t.Errorf("%v, stage %d", s.err, s.state.Stage)
	}
}

func TestCheck_WithoutAVerdictIsRecordedWhileTheAttemptIsOpen(t *testing.T) {
	t.Parallel()
	check := commands.RecordCheck{PaymentID: attempt, Code: "4999", Answered: true}
	payment(t).given(initiated, accepted).when(check).then(checked)
	payment(t).given(initiated, accepted, cancelled).when(check).thenNothing()
	payment(t).when(check).thenFails("payment_not_found")
}

func TestCallback_TeachesThePromptsNameOnce(t *testing.T) {
	t.Parallel()
	verdict := commands.RecordVerdict{
		PaymentID: attempt, CheckoutRequestID: "ws_CO_1", Code: "2001", Message: "Wrong PIN", By: "callback",
	}
	wrong := failed
	wrong.Message = "Wrong PIN"
	payment(t).given(initiated, submitting).when(verdict).
		then(events.PromptAccepted{PaymentID: attempt, CheckoutRequestID: "ws_CO_1", At: now}, wrong)
	payment(t).given(initiated, accepted).when(verdict).then(wrong)
	verdict.CheckoutRequestID = ""
	payment(t).given(initiated, submitting).when(verdict).then(wrong)
}

func TestDoubt_IsAStageOfItsOwn(t *testing.T) {
	t.Parallel()
	s := payment(t).given(initiated, submitting, doubted)
	if s.state.Stage != payments.StageInDoubt || s.state.Environment != "sandbox" {
		t.Errorf("state %+v", s.state)
	}
	s.when(commands.DoubtPrompt{PaymentID: attempt, Cause: "timeout"}).thenNothing()
}
