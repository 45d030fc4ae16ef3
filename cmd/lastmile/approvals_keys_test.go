package main

import (
	"context"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// refundable takes cash from a new customer, and gives customer and receipt.
func (k *kit) refundable(n, amount int) (customer, receipt string) {
	k.t.Helper()
	customer, _ = k.invoicedFor(n, 1)
	receipt = k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": amount + 1, "reference": "till " + customer[:13],
	}).text("receiptId")
	return customer, receipt
}

// refundOf asks for a refund, and waits until its money is set aside.
func (k *kit) refundOf(c apiClient, receipt string, amount int) string {
	k.t.Helper()
	refund := k.must(c, "POST", "/receipts/"+receipt+"/refund", map[string]any{
		"amount": amount, "reason": "moved away", "by": "manual",
	}).text("id")
	k.secured(refund)
	return refund
}

// secured waits until the money of a refund is set aside.
func (k *kit) secured(refund string) {
	k.t.Helper()
	k.eventually("the money of the refund to wait", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/refunds/"+refund, "", nil)
		if no := asAPIError(err); no != nil && no.Status == 404 {
			return false, nil
		}
		return now["secured"] == true, err
	})
}

// keyOf makes an API key for which a colleague answers.
func (k *kit) keyOf(colleague apiClient) (string, apiClient) {
	k.t.Helper()
	made := k.must(colleague, "POST", "/api-keys", map[string]any{"name": "Theirs", "role": "admin"})
	return made.text("id"), k.withKey(made)
}

// TestApprovals_AColleaguesKeyIsNoSecondPerson: where there is a limit, whoever has the text of a colleague's key
// cannot let the own refund go with it. Without a limit nothing changes.
func TestApprovals_AColleaguesKeyIsNoSecondPerson(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	colleague := k.colleagues("cara")[0]
	_, theirs := k.keyOf(colleague)
	_, first := k.refundable(1, 900)
	_, second := k.refundable(2, 900)
	free := k.refundOf(k.admin, first, 900)
	if now := k.must(theirs, "POST", "/refunds/"+free+"/approve", nil); now.text("state") != "approved" {
		t.Errorf("without a limit: %v", now)
	}
	k.limitedTo(100)
	refund := k.refundOf(k.admin, second, 900)
	k.refused(theirs, "POST /refunds/"+refund+"/approve", nil, 403, "api_key_not_allowed")
	k.askedFor(k.admin, "/refunds/"+refund+"/approve", nil)
	k.refused(theirs, "POST /refunds/"+refund+"/approve", nil, 403, "api_key_not_allowed")
	if now := k.must(k.admin, "GET", "/refunds/"+refund, nil); now.text("state") != "requested" {
		t.Errorf("refused: %v", now)
	}
	if now := k.must(colleague, "POST", "/refunds/"+refund+"/approve", nil); now.text("state") != "approved" {
		t.Errorf("the colleague as a person: %v", now)
	}
	k.settled()
	k.soundBooks()
}

// TestApprovals_ARotationChangesNobodyWhoAsked: a refund was asked for by a key, and then a colleague gives the key
// another text, and answers for it from then on. Who asked stays who asked, also in a request that was recorded before
// it said so.
func TestApprovals_ARotationChangesNobodyWhoAsked(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	colleague := k.colleagues("cara")[0]
	k.limitedTo(100)
	key, own := k.keyOf(k.admin)
	_, first := k.refundable(1, 900)
	customer, second := k.refundable(2, 900)
	refund := k.refundOf(own, first, 900)
	old := id.New[id.Refund]()
	_, err := k.app.engines.bus.Execute(t.Context(), commands.RequestRefund{
		RefundID: old, OrgID: k.orgID(), ReceiptID: id.Must[id.Receipt](second), ReceiptNumber: "x",
		SubscriberID: id.Must[id.Subscriber](customer), Amount: money.Major(900, money.KES),
		By: commands.RefundManual, Reason: "moved away",
	}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: k.orgID(),
		Actor: events.Actor{Kind: events.ActorAPIKey, ID: key, Role: string(events.RoleAdmin)},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.secured(old.String())
	k.advance(map[string]any{"advance": "1m"})
	k.must(colleague, "POST", "/api-keys/"+key+"/rotate", map[string]any{})
	for what, of := range map[string]string{"recorded": refund, "of before": old.String()} {
		approval := k.askedFor(k.admin, "/refunds/"+of+"/approve", nil)
		if now := k.must(k.admin, "GET", "/refunds/"+of, nil); now.text("state") != "requested" {
			t.Errorf("%s: let go by who asked: %v", what, now)
		}
		k.refused(k.admin, "POST /approvals/"+approval+"/approve", nil, 403, "approval_own")
		if now := k.must(colleague, "POST", "/refunds/"+of+"/approve", nil); now.text("state") != "approved" {
			t.Errorf("%s: by the colleague: %v", what, now)
		}
	}
	k.settled()
	k.soundBooks()
}

// proves has the owner of an address prove it at a host, by a code and another password.
func (k *kit) proves(host, email string) {
	k.t.Helper()
	c := k.client(host)
	k.must(c, "POST", "/auth/otp/send", map[string]string{"identifier": email})
	k.must(c, "POST", "/auth/password/reset", map[string]string{
		"identifier": email, "code": k.codes(host, email, 1), "newPassword": testPassword,
	})
}

// TestApprovals_AProofDoesNotDoubleTheLimit: an administrator proves the address in the middle of the day, and so
// becomes the person whom another organization knows: what was given away before counts on.
func TestApprovals_AProofDoesNotDoubleTheLimit(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(1000)
	const address = "cara@acme.test"
	k.organization("beta", address)
	k.proves("beta", address)
	cara := k.seated("cara")
	customer, _ := k.invoicedFor(1, 3000)
	some := func(amount int) map[string]any { return map[string]any{"amount": amount, "reason": "agreed"} }
	k.must(cara, "POST", "/subscribers/"+customer+"/write-off", some(900))
	k.proves("acme", address)
	cara, _ = k.login("acme", address, testPassword)
	k.askedFor(cara, "/subscribers/"+customer+"/write-off", some(900))
}
