package paymentsjobs_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

func TestLost_APromptThatWasNotSentFreesItsAmountAndABegunOneIsInDoubt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	unsent, _ := k.initiate(t, "PONE")
	begun, _ := k.initiate(t, "PTWO")
	accepted, _ := k.initiate(t, "PTHREE")
	for _, p := range []id.Payment{begun, accepted} {
		k.execute(t, commands.BeginSubmission{PaymentID: p})
	}
	k.execute(t, commands.AcceptPrompt{PaymentID: accepted, CheckoutRequestID: "ws_CO_1"})
	k.clock.Advance(commands.PromptPatience)
	for p, want := range map[id.Payment]string{
		unsent: "payments.PaymentFailed.v1", begun: "payments.PromptInDoubt.v1", accepted: "payments.PromptAccepted.v1",
	} {
		cause := newCause()
		for range 2 { // a report may be repeated
			if err := k.workers.PromptLost(t.Context(), commands.SubmitPrompt{PaymentID: p}, cause, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got := k.history(t, commands.PaymentCategory, id.Any(p)); got[len(got)-1] != want {
			t.Errorf("got %v, want %s last", got, want)
		}
	}
}

func TestLost_MoneyWhoseJobWasDiscardedIsInSuspense(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "nobody", 1500))
	r := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
	cause := newCause()
	for range 2 {
		if err := k.workers.PayerLost(t.Context(), commands.FindPayer{ReceiptID: r}, cause, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.receipt(t, r); got.Standing != payments.StandingHeld {
		t.Errorf("got %+v", got)
	}
}

func TestLost_ARegistrationIsReportedAsFailedOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.execute(t, commands.ConfigureGateway{
		OrgID: k.org, Direct: true, Environment: commands.EnvironmentSandbox, Shortcode: "600222",
		CredentialsRef: id.New[id.Secret](),
	})
	g, err := paymentsviews.GatewaysQuery{Views: k.views}.Get(t.Context(), k.org)
	if err != nil || g == nil {
		t.Fatal(g, err)
	}
	for _, ref := range []id.Secret{g.CredentialsRef, id.New[id.Secret]()} { // the second is of settings of before
		err := k.workers.RegistrationLost(t.Context(), commands.RegisterShortcode{OrgID: k.org, CredentialsRef: ref},
			newCause(), "")
		if err != nil {
			t.Fatal(err)
		}
	}
	list := k.history(t, commands.GatewayCategory, id.Any(k.org))
	failed := slices.DeleteFunc(list, func(e string) bool { return e != "payments.GatewayRegistrationFailed.v2" })
	if len(failed) != 1 {
		t.Errorf("%d failures", len(failed))
	}
}
