package main

import (
	"context"
	"testing"
)

// TestStory_SubscriberIsInvoicedAndPays is the main job: an ISP signs in, adds a plan and a subscriber, the
// subscription is invoiced, the customer pays by prompt and by paybill, and the money lands once.
func TestStory_SubscriberIsInvoicedAndPays(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	plan := k.plan("home", 1500)
	const phone = "254711000001"
	subscriber, account := k.subscriber(phone)
	subscription := k.must(k.admin, "POST", "/subscriptions", map[string]string{
		"subscriberId": subscriber, "planId": plan,
	})
	if subscription.text("state") != "pending" || subscription.text("paidUntil") != "" {
		t.Errorf("new subscription: state %s, paidUntil %s", subscription.text("state"), subscription.text("paidUntil"))
	}
	invoice := k.issued(subscriber, 1)[0]
	if invoice.text("number") != "ACME-0001" || number(invoice, "due") != "1500.00" {
		t.Errorf("invoice %s over %s, want ACME-0001 over 1500.00", invoice.text("number"), number(invoice, "due"))
	}

	payment := k.prompt(subscriber, 1500)
	k.paid(payment, "SUCCESS")
	first := k.paidUntil(subscription.text("id"), "")

	k.paybillReady()
	k.pay(phone, account, 1500)
	k.paidUntil(subscription.text("id"), first)

	k.sameBooks(map[string]string{phone: subscriber})
	lines := k.all(k.admin, "/subscribers/"+subscriber+"/statement")
	if got := number(k.must(k.admin, "GET", "/subscribers/"+subscriber, nil), "balance"); got != "0.00" {
		t.Errorf("balance %s after two months paid, statement %v", got, lines)
	}
	k.audited("subscribers.RegisterSubscriber", "subscribers.CreateSubscription", "payments.InitiatePayment",
		"billing.IssueInvoice")
}

// issued waits until a subscriber has count issued invoices, and gives them.
func (k *kit) issued(subscriber string, count int) (list []answer) {
	k.t.Helper()
	k.eventually("issued invoices", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/invoices?subscriberId="+subscriber, "", nil)
		list = list[:0]
		for _, i := range page.list("data") {
			if i.text("number") != "" {
				list = append(list, i)
			}
		}
		return len(list) == count, err
	})
	return list
}

// prompt initiates a payment of whole shillings on the subscriber's phone, and gives the payment's id.
func (k *kit) prompt(subscriber string, amount int) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/payments/initiate",
		map[string]any{"subscriberId": subscriber, "amount": amount}).text("paymentId")
}

// paid waits until a payment has the status, and gives the payment.
func (k *kit) paid(payment, status string) answer {
	k.t.Helper()
	var now answer
	k.eventually("payment to be "+status, func(ctx context.Context) (ok bool, err error) {
		now, err = k.admin.call(ctx, "GET", "/payments/"+payment, "", nil)
		return now.text("status") == status, err
	})
	return now
}

// paidUntil waits until a subscription is paid beyond what it was and gives the new instant.
func (k *kit) paidUntil(subscription, before string) (now string) {
	k.t.Helper()
	k.eventually("paidUntil to move", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscriptions/"+subscription, "", nil)
		now = s.text("paidUntil")
		return now > before, err
	})
	return now
}

// audited checks that the audit log has each action, with an actor and a request.
func (k *kit) audited(actions ...string) {
	k.t.Helper()
	k.eventually("audit log", func(context.Context) (bool, error) {
		seen := map[string]bool{}
		for _, e := range k.all(k.admin, "/audit-log") {
			seen[e.text("action")] = true
		}
		for _, a := range actions {
			if !seen[a] {
				return false, &apiError{Body: "no entry " + a}
			}
		}
		return true, nil
	})
}
