package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestCallbacks_RepeatedReorderedAndEarlyCreditOnce: the provider sends every callback three times, in reverse order,
// before it answers the prompt, and also as a paybill confirmation.
func TestCallbacks_RepeatedReorderedAndEarlyCreditOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	k.faults(provider.Faults{
		DuplicateCallbacks: 2, ReorderCallbacks: true, CallbackBeforeResponse: true, C2BAlso: true,
	})
	payers := map[string]string{}
	for _, phone := range []string{"254711000011", "254711000012", "254711000013"} {
		subscriber, account := k.subscriber(phone)
		payers[phone] = subscriber
		payment := k.prompt(subscriber, 700)
		k.pay(phone, account, 300)
		k.paid(payment, "SUCCESS")
	}
	k.settled()
	k.sameBooks(payers)
}

// TestSuspense_AttributedMoneyDoesWhatMatchedMoneyDoes: money with an unknown reference waits on the root host, is
// assigned to the organization and attributed to a subscriber, pays the invoice and extends the subscription.
func TestSuspense_AttributedMoneyDoesWhatMatchedMoneyDoes(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	subscriber, _ := k.subscriber("254711000021")
	subscription := k.must(k.admin, "POST", "/subscriptions",
		map[string]string{"subscriberId": subscriber, "planId": k.plan("home", 1000)}).text("id")
	k.issued(subscriber, 1)

	number := k.pay("254799000021", "nobody knows", 1000)
	var receipt string
	k.eventually("money in suspense", func(ctx context.Context) (bool, error) {
		page, err := k.root.call(ctx, http.MethodGet, "/receipts?state=suspense", "", nil)
		for _, r := range page.list("data") {
			if r.text("receiptNumber") == number {
				receipt = r.text("id")
			}
		}
		return receipt != "", err
	})
	k.refused(k.admin, "POST /receipts/"+receipt+"/attribute", map[string]string{"subscriberId": subscriber}, 404,
		"")
	dollars := k.must(k.root, "POST", "/orgs", map[string]any{
		"slug": "dollars", "name": "Dollars", "timezone": "Africa/Nairobi", "currency": "USD", "country": "KE",
		"admin": map[string]string{
			"email": "admin@dollars.example", "firstName": "D", "lastName": "A", "temporaryPassword": testPassword,
		},
	}).text("id")
	k.refused(k.root, "POST /receipts/"+receipt+"/assign", map[string]string{"orgId": dollars}, 409,
		"currency_mismatch")
	k.must(k.root, "POST", "/receipts/"+receipt+"/assign", map[string]string{"orgId": k.org()})
	k.must(k.admin, "POST", "/receipts/"+receipt+"/attribute", map[string]string{"subscriberId": subscriber})
	k.paidUntil(subscription, "")
	if invoice := k.issued(subscriber, 1)[0]; invoice.text("state") != "paid" {
		t.Errorf("invoice is %s after attribution, want paid", invoice.text("state"))
	}
	k.balanceIsItsEvents(subscriber)
}

// TestLostCallback_QueryFindsSuccessAndLateReceiptIsNotCreditedAgain: docs/rules/money.md#provisional-receipts.
func TestLostCallback_QueryFindsSuccessAndLateReceiptIsNotCreditedAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	k.faults(provider.Faults{DropCallbacks: 1, C2BAlso: true})
	const phone = "254711000031"
	subscriber, _ := k.subscriber(phone)
	payment := k.prompt(subscriber, 900)
	k.settled()
	k.must(k.admin, "POST", "/payments/query", map[string]string{"paymentId": payment})
	if now := k.paid(payment, "SUCCESS"); now.text("receiptNumber") != "" {
		t.Errorf("a query gave the receipt number %s, which it cannot know", now.text("receiptNumber"))
	}
	k.sameBooks(map[string]string{phone: subscriber})

	k.faults(provider.Faults{C2BAlso: true})
	number := k.sim.Transactions()[0].ReceiptNumber
	if !k.sim.Resend(number) {
		t.Fatalf("the provider has no confirmation of %s", number)
	}
	k.eventually("the real receipt to claim the provisional one", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, http.MethodGet, "/payments/"+payment, "", nil)
		return now.text("receiptNumber") == number, err
	})
	k.settled()
	k.sameBooks(map[string]string{phone: subscriber})
	k.templates("+"+phone, "receipt") // once, although two receipts tell of the money
	told, err := k.devMessages(t.Context(), "+"+phone)
	if err != nil || !strings.Contains(told[0].text("text"), number) {
		t.Errorf("told %v, %v, want the number %s", told, err, number)
	}
}

// TestLostCallback_AFriendsPaymentIsOtherMoney: a friend pays the same amount with the reference of the prompt, before
// the prompt's own receipt is told.
func TestLostCallback_AFriendsPaymentIsOtherMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	k.faults(provider.Faults{DropCallbacks: 1, C2BAlso: true})
	const phone, friend = "254711000032", "254711000033"
	subscriber, account := k.subscriber(phone)
	payment := k.prompt(subscriber, 900)
	k.settled()
	k.must(k.admin, "POST", "/payments/query", map[string]string{"paymentId": payment})
	k.paid(payment, "SUCCESS")
	own := k.sim.Transactions()[0]
	if own.AccountReference != account {
		t.Fatalf("the prompt's reference is %s, want the account number %s", own.AccountReference, account)
	}

	k.faults(provider.Faults{C2BAlso: true})
	number := k.pay(friend, account, 900)
	k.eventually("the friend's money on the account", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, http.MethodGet, "/receipts?subscriberId="+subscriber, "", nil)
		return slices.ContainsFunc(page.list("data"), func(r answer) bool {
			return r.text("receiptNumber") == number && r.text("state") == "matched" && r.text("channel") == "c2b"
		}), err
	})
	if now := k.paid(payment, "SUCCESS"); now.text("receiptNumber") != "" {
		t.Errorf("the prompt has the friend's receipt %s", now.text("receiptNumber"))
	}
	if !k.sim.Resend(own.ReceiptNumber) {
		t.Fatalf("the provider has no confirmation of %s", own.ReceiptNumber)
	}
	k.eventually("the prompt's own receipt to claim the provisional one", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, http.MethodGet, "/payments/"+payment, "", nil)
		return now.text("receiptNumber") == own.ReceiptNumber, err
	})
	k.settled()
	k.sameBooks(map[string]string{phone: subscriber, friend: subscriber})
	k.soundBooks()
}

// TestProviderDown_NothingIsLostAndBreakerOpens: prompts in doubt are resolved by asking, never by repeating; while the
// breaker is open no attempt is made; money is taken again once the provider is back.
func TestProviderDown_NothingIsLostAndBreakerOpens(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.start().signIn()
	k.paybillReady()
	phones := []string{
		"254711000041", "254711000042", "254711000043", "254711000044", "254711000045", "254711000046", "254711000047",
		"254711000048",
	}
	payers := map[string]string{}
	for _, phone := range phones {
		payers[phone], _ = k.subscriber(phone)
	}
	k.faults(provider.Faults{Down: true, C2BAlso: true})
	open := false
	for _, phone := range phones {
		_, err := k.admin.call(t.Context(), http.MethodPost, "/payments/initiate", "", map[string]any{
			"subscriberId": payers[phone], "amount": 400,
		})
		if no := asAPIError(err); no != nil && no.Code == "provider_unavailable" {
			open = true
		} else if err != nil {
			t.Errorf("initiate while the provider is down: %v", err)
		}
	}
	k.eventually("breaker to open", func(ctx context.Context) (bool, error) {
		page, err := k.root.call(ctx, http.MethodGet, "/platform/breakers", "", nil)
		for _, b := range page.list("data") {
			open = open || b.text("state") == "open"
		}
		return open, err
	})
	if n := len(k.sim.Prompts()); n != 0 {
		t.Errorf("%d prompts reached a provider that is down", n)
	}
	k.faults(provider.Faults{C2BAlso: true})
	now.Advance(breakerPatience)
	k.eventually("a payment after the outage", func(ctx context.Context) (bool, error) {
		phone := phones[len(phones)-1]
		_, err := k.admin.call(ctx, http.MethodPost, "/payments/initiate", "", map[string]any{
			"subscriberId": payers[phone], "amount": 555,
		})
		if no := asAPIError(err); no != nil && no.Code == "payment_in_progress" {
			err = nil
		}
		return err == nil && len(k.sim.Transactions()) > 0, err
	})
	k.settled()
	k.sameBooks(payers)
}

// faults sets the faults of the simulated provider from now on.
func (k *kit) faults(f provider.Faults) {
	k.t.Helper()
	if err := k.sim.SetFaults(f); err != nil {
		k.t.Fatalf("set faults: %v", err)
	}
}

// settled waits until the simulated provider has no callback left to send.
func (k *kit) settled() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if err := k.sim.Idle(ctx); err != nil {
		k.t.Fatalf("provider does not come to rest: %v", err)
	}
}

// org gives the id of the organization acme.
func (k *kit) org() string {
	k.t.Helper()
	for _, o := range k.must(k.root, "GET", "/orgs", nil).list("data") {
		if o.text("slug") == "acme" {
			return o.text("id")
		}
	}
	k.t.Fatal("no organization acme")
	return ""
}
