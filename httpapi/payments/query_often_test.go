package paymentsapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/simulators/provider"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/coretest"
)

// TestQuery_ACustomerWhoAsksAgainAndAgainAsksTheProviderOnce: an attempt has failed for good. Its customer asks about
// it twenty times at the same moment; the provider, whose calls all organizations share, is asked a few times at most.
func TestQuery_ACustomerWhoAsksAgainAndAgainAsksTheProviderOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "cancel", provider.Faults{})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	if shown := k.payment(t, p.PaymentID); shown.Status == "PENDING" || shown.Status == "SUCCESS" {
		t.Fatalf("payment %+v", shown)
	}
	k.CustomerSees(k.Amina)
	coretest.AtOnce(20, func(int) error {
		k.Do(t, apitest.Request{Method: "POST", Path: "/payments/query", As: apitest.Subscriber,
			Body: map[string]any{"paymentId": p.PaymentID}})
		return nil
	})
	k.Quiet(t)
	var again struct{ ProviderAsked *bool }
	k.Do(t, apitest.Request{Method: "POST", Path: "/payments/query", As: apitest.Subscriber,
		Body: map[string]any{"paymentId": p.PaymentID}}).Into(t, &again)
	if again.ProviderAsked == nil || *again.ProviderAsked {
		t.Error("the answer does not say that the provider was not asked again")
	}
	asked, _, err := k.Core.Store.ReadAll(t.Context(), 0, 1000, []string{events.PromptCheckRequested{}.EventType()})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) > 5 {
		t.Errorf("the provider was asked %d times", len(asked))
	}
}
