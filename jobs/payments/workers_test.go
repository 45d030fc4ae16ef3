package paymentsjobs_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// silent makes phones ignore prompts, so that attempts stay open.
func silent(t *testing.T, k *kit) {
	t.Helper()
	if err := k.sim.SetPhone("default", provider.Phone{Behaviour: "silent"}); err != nil {
		t.Fatal(err)
	}
}

func TestSubmitPrompt_AfterACrashIsInDoubtAndNeverSentAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p, position := k.initiate(t, "PCRASH")
	k.execute(t, commands.BeginSubmission{PaymentID: p}) // and then the program was killed
	job := newCause()
	for job.Attempt = 2; job.Attempt < 4; job.Attempt++ {
		if err := k.workers.SubmitPrompt(t.Context(), commands.SubmitPrompt{PaymentID: p, Position: position},
			job); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"payments.PaymentInitiated.v1", "payments.PromptSubmitting.v1", "payments.PromptInDoubt.v1"}
	if diff := cmp.Diff(want, k.history(t, commands.PaymentCategory, id.Any(p))); diff != "" {
		t.Error(diff)
	}
	if n := len(k.sim.Prompts()); n != 0 {
		t.Errorf("%d prompts were sent", n)
	}
}

func TestSubmitPrompt_ManyTimesIsSentOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	silent(t, k)
	p, position := k.initiate(t, "PONCE")
	job := newCause()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := k.workers.SubmitPrompt(t.Context(), commands.SubmitPrompt{PaymentID: p, Position: position},
				job); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(k.sim.Prompts()); n != 1 {
		t.Errorf("%d prompts were sent", n)
	}
	state := k.history(t, commands.PaymentCategory, id.Any(p))
	if !slices.Contains(state, "payments.PromptAccepted.v1") {
		t.Errorf("history %v", state)
	}
}

func TestToken_IsSharedByReplicasAndSurvivesInvalidation(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	silent(t, k)
	p, position := k.initiate(t, "PTOKEN")
	if err := k.workers.SubmitPrompt(t.Context(), commands.SubmitPrompt{PaymentID: p, Position: position},
		newCause()); err != nil {
		t.Fatal(err)
	}
	checkout := k.sim.Prompts()[0].CheckoutRequestID
	var replicas []paymentsjobs.Provider
	for range 3 {
		replicas = append(replicas, k.client(t, commands.EnvironmentSandbox))
	}
	for round := range 3 {
		if round == 1 {
			if err := k.sim.SetFaults(provider.Faults{InvalidateTokens: true}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for _, replica := range replicas {
			for range 4 {
				all.Go(func() {
					if _, err := replica.QueryPrompt(t.Context(), k.access.Platform, checkout); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
		}
		all.Wait()
	}
}

func TestQueryPrompt_NoVerdictAndUnreachableLeaveItPending(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	silent(t, k)
	p, position := k.initiate(t, "PQUERY")
	if err := k.workers.SubmitPrompt(t.Context(), commands.SubmitPrompt{PaymentID: p, Position: position},
		newCause()); err != nil {
		t.Fatal(err)
	}
	ask := func() {
		t.Helper()
		head, err := k.Store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := k.workers.QueryPrompt(t.Context(), commands.QueryPrompt{PaymentID: p, Position: head},
			newCause()); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	ask()
	if err := k.sim.SetFaults(provider.Faults{Down: true}); err != nil {
		t.Fatal(err)
	}
	ask()
	k.clock.Advance(25 * time.Hour)
	_, err := k.Bus.Execute(t.Context(), commands.ExpirePayment{PaymentID: p}, commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	})
	coretest.Refused(t, "the prompt", err, "payment_unanswered")
	if err := k.sim.SetFaults(provider.Faults{}); err != nil {
		t.Fatal(err)
	}
	ask()
	k.execute(t, commands.ExpirePayment{PaymentID: p})
	row, err := paymentsviews.PaymentsQuery{Views: k.views}.Get(t.Context(), k.org, p)
	if err != nil || row.Status() != "FAILED" || row.Reason() != "expired" || row.Checks != 4 {
		t.Errorf("payment %+v, %v", row, err)
	}
}

// stored puts a callback into the inbox as the receiver does.
func (k *kit) stored(t *testing.T, c vault.Callback) {
	t.Helper()
	if _, err := k.Vault.Inbox.Store(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// success makes the callback of a prompt of 1500 shillings that was paid.
func success(checkout, number string) []byte {
	return []byte(`{"Body":{"stkCallback":{"MerchantRequestID":"m","CheckoutRequestID":"` + checkout +
		`","ResultCode":0,"ResultDesc":"ok",
		"CallbackMetadata":{"Item":[{"Name":"Amount","Value":1500.00},{"Name":"MpesaReceiptNumber","Value":"` + number +
		`"},{"Name":"Balance"},
		{"Name":"TransactionDate","Value":20260302120000},{"Name":"PhoneNumber","Value":254712345678}]}}}}`)
}

func TestCallback_OfAnUnknownPromptIsKeptUntilItIsKnown(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p, _ := k.initiate(t, "PEARLY")
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackPrompt, Verified: true, Body: success("ws_CO_early", "SJK4X7Q2P1"),
	})
	if n, _ := k.workers.HandleDue(t.Context(), nil); n != 1 {
		t.Fatalf("%d handled", n)
	}
	if list := k.history(t, commands.ReceiptCategory,
		id.Any(commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1"))); len(list) != 0 {
		t.Fatalf("too early: %v", list)
	}
	k.execute(t, commands.AcceptPrompt{PaymentID: p, CheckoutRequestID: "ws_CO_early"})
	k.clock.Advance(10 * time.Second)
	if n, _ := k.workers.HandleDue(t.Context(), nil); n != 1 {
		t.Fatalf("%d handled again", n)
	}
	if list := k.history(t, commands.ReceiptCategory,
		id.Any(commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1"))); len(list) != 1 {
		t.Errorf("receipt %v", list)
	}
	if list, err := k.Vault.Inbox.Pending(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("pending %v, %v", list, err)
	}
}

func TestCallback_WithATokenWaitsForTheReadModelHoweverLong(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackPrompt, Ref: id.New[id.Payment]().UUID(), Shortcode: "600777", Verified: true,
		Body: success("ws_CO_behind", "SJK4X7Q2P7"),
	})
	for range 5 {
		_, _ = k.workers.HandleDue(t.Context(), nil)
		k.clock.Advance(3 * time.Minute)
	}
	if list := k.history(t, commands.ReceiptCategory,
		id.Any(commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P7"))); len(list) != 0 {
		t.Errorf("taken for money of the shared paybill: %v", list)
	}
	if list, err := k.Vault.Inbox.Pending(t.Context(), 10); err != nil || len(list) != 1 {
		t.Errorf("pending %v, %v", list, err)
	}
}

func TestCallback_WithoutReceiptNumberOnlyMakesUsAsk(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p, _ := k.initiate(t, "PNONUM")
	k.execute(t, commands.AcceptPrompt{PaymentID: p, CheckoutRequestID: "ws_CO_1"})
	body := []byte(`{"Body":{"stkCallback":{"CheckoutRequestID":"ws_CO_1","ResultCode":"0","ResultDesc":"ok"}}}`)
	k.stored(t, vault.Callback{Kind: paymentsjobs.CallbackPrompt, Ref: p.UUID(), Verified: true, Body: body})
	// At another attempt's address, the token proves nothing about this prompt.
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackPrompt, Ref: p.UUID(), Verified: true, Body: success("ws_CO_2", "SJK4X7Q2P3"),
	})
	_, _ = k.workers.HandleDue(t.Context(), nil)
	want := []string{
		"payments.PaymentInitiated.v1", "payments.PromptAccepted.v1", "payments.PromptCheckRequested.v1",
		"payments.PromptCheckRequested.v1",
	}
	if diff := cmp.Diff(want, k.history(t, commands.PaymentCategory, id.Any(p))); diff != "" {
		t.Error(diff)
	}
}
