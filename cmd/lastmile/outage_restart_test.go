package main

import (
	"context"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestOutage_OfTheProviderLastsThroughARestart: the breaker of a program that was started again opens anew, and knows
// nothing of the time before.
func TestOutage_OfTheProviderLastsThroughARestart(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true", "HTTP_ADDR="+freePort(t), "RATE_LIMIT_PROMPT=100").start().signIn()
	k.paybillReady()
	customer, _ := k.subscriber("254711000667")
	org := k.organizationID("acme")
	k.faults(provider.Faults{Down: true, C2BAlso: true})
	k.refusedPrompts(customer)
	k.advance(map[string]any{"advance": "6m"})
	k.eventually("the outage to be noted", func(ctx context.Context) (bool, error) {
		since, err := k.app.paymentOutage(ctx, org)
		return !since.IsZero(), err
	})
	began, err := k.app.paymentOutage(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	k.app.Stop()
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	lasts := func(when string) {
		t.Helper()
		if since, err := k.app.providerAway(t.Context(), org); err != nil || !since.Equal(began) {
			t.Errorf("%s it is away since %v (%v), want %v", when, since, err, began)
		}
	}
	lasts("before the first call")
	k.refusedPrompts(customer)
	lasts("when the breaker has opened again")
	k.faults(provider.Faults{C2BAlso: true})
	k.advance(map[string]any{"advance": coolDown})
	k.eventually("the provider to be reached", func(ctx context.Context) (bool, error) {
		err := k.prompted(ctx, customer, 1500)
		return err == nil, err
	})
	if since, err := k.app.providerAway(t.Context(), org); err != nil || !since.IsZero() {
		t.Errorf("it is away since %v (%v)", since, err)
	}
}
