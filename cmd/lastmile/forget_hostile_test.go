package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestForget_IsRefusedWhileMoneyIsOpenAndToStrangers: each obstacle has its code, and nothing changes.
func TestForget_IsRefusedWhileMoneyIsOpenAndToStrangers(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	beta := k.organization("beta", "admin@beta.test")
	subscriber, _ := k.subscriber("254711000801")
	path, reason := "/subscribers/"+subscriber+"/forget", map[string]any{"reason": forgetReason}
	k.refused(beta, "POST "+path, reason, 404, "subscriber_not_found")
	k.refused(beta, "GET "+path, nil, 404, "subscriber_not_found")
	k.refused(beta, "GET /subscribers/"+subscriber+"/personal-data", nil, 404, "subscriber_not_found")
	service := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": subscriber, "planId": k.plan("home", 1000),
	}).text("id")
	k.issued(subscriber, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": subscriber, "amount": 1000, "reference": "till 801",
	})
	k.paidUntil(service, "")
	k.refused(k.admin, "POST "+path, reason, 409, "forget_service_running")
	k.must(k.admin, "POST", "/subscriptions/"+service+"/end", map[string]any{"reason": "moves"})
	invoice := k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": subscriber,
		"lines":        []map[string]any{{"description": "Cable", "quantity": 1, "unitPrice": 300}},
	}).text("id")
	k.eventually("the invoice to be owed", func(ctx context.Context) (bool, error) {
		i, err := k.admin.call(ctx, "GET", "/invoices/"+invoice, "", nil)
		return i.text("number") != "", err
	})
	k.refused(k.admin, "POST "+path, reason, 409, "forget_balance_owed")
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": subscriber, "amount": 400, "reference": "till 802",
	})
	k.eventually("credit to be left", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+subscriber, "", nil)
		return number(s, "credit") == "100.00", err
	})
	k.refused(k.admin, "POST "+path, reason, 409, "forget_credit_left")
	if s := k.must(k.admin, "GET", "/subscribers/"+subscriber, nil); s.text("status") != "active" {
		t.Errorf("after refusals: %v", s)
	}
}

// TestForget_MoneyThatComesLaterWaitsInSuspense: a payment that was on its way names the account of somebody who is
// forgotten. It is not lost, and not booked.
func TestForget_MoneyThatComesLaterWaitsInSuspense(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	subscriber, account := k.subscriber("254711000811")
	k.must(k.admin, "POST", "/subscribers/"+subscriber+"/forget", map[string]any{"reason": forgetReason})
	number := k.pay("254711000811", account, 900)
	k.eventually("the money in suspense", func(ctx context.Context) (bool, error) {
		for _, c := range []apiClient{k.admin, k.root} {
			page, err := c.call(ctx, "GET", "/receipts?state=suspense", "", nil)
			if err != nil {
				return false, err
			}
			for _, r := range page.list("data") {
				if r.text("receiptNumber") == number {
					return true, nil
				}
			}
		}
		return false, nil
	})
	k.erased(subscriber)
	k.soundBooks()
}

// TestForget_GoesOnAfterAKillBetweenItsSteps: the account was closed for it, and the request is gone.
func TestForget_GoesOnAfterAKillBetweenItsSteps(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.start().signIn()
	subscriber, _ := k.subscriber("254711000821")
	who, err := id.Parse[id.Subscriber](subscriber)
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.app.engines.bus.Execute(t.Context(), commands.CloseAccount{
		SubscriberID: who, OrgID: k.orgID(), Currency: money.KES, Reason: "test", Forget: true,
	}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: k.orgID(), Actor: events.Actor{Kind: events.ActorOperator},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.app.Stop()
	k.start()
	now.Advance(2 * time.Minute)
	k.erased(subscriber)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.eventually("the person to be shown as forgotten", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+subscriber, "", nil)
		return s.text("status") == "forgotten" && s["phone"] == nil, err
	})
}

// TestForget_StandsInTheListThatIsAppliedAfterARestore.
func TestForget_StandsInTheListThatIsAppliedAfterARestore(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	subscriber, _ := k.subscriber("254711000831")
	var wrapped []byte
	table := k.db.Namespace.Schema("vault") + `.subject_keys`
	if err := k.db.Owner.QueryRow(t.Context(), `select wrapped from `+table+` where subject = $1`, subscriber).
		Scan(&wrapped); err != nil {
		t.Fatal(err)
	}
	k.must(k.admin, "POST", "/subscribers/"+subscriber+"/forget", map[string]any{"reason": forgetReason})
	k.erased(subscriber)
	erasures := k.command("keys", "erasures")
	if !strings.Contains(erasures, subscriber) {
		t.Fatalf("the list of erasures is %q", erasures)
	}
	list := filepath.Join(t.TempDir(), "erasures")
	if err := os.WriteFile(list, []byte(erasures), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.db.Owner.Exec(t.Context(), `update `+table+` set wrapped = $2 where subject = $1`, subscriber,
		wrapped); err != nil {
		t.Fatal(err) // the backup brings the key back
	}
	k.command("keys", "erase", list)
	var left int
	if err := k.db.Owner.QueryRow(t.Context(), `select count(wrapped) from `+table+` where subject = $1`, subscriber).
		Scan(&left); err != nil || left != 0 {
		t.Errorf("%d keys left, %v", left, err)
	}
}

// TestPersonalData_IsAllOfOnePersonAndNothingElse: for staff and for the customer; the audit log has both.
func TestPersonalData_IsAllOfOnePersonAndNothingElse(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	own, foreign := k.households()
	k.seen(own.subscriber, map[string]string{"phone": own.phone})
	customer := k.atPortal("acme", own.phone, 1)
	k.shown()
	path := "/subscribers/" + own.subscriber + "/personal-data"
	for whose, c := range map[string]apiClient{"staff": k.admin, "the customer": customer} {
		got := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
			Method: http.MethodGet, Path: path, Host: c.host, As: c.token,
		})
		var file map[string]any
		if err := json.Unmarshal(got.Body, &file); err != nil || got.Status != http.StatusOK {
			t.Fatalf("%s: %d, %v: %s", whose, got.Status, err, got.Body)
		}
		text := string(got.Body)
		for _, word := range []string{
			own.phone, own.name, own.mail, own.account, own.username, own.invoice, own.receipt, own.payment, own.note,
			own.request, "says that it is slow",
		} {
			if !strings.Contains(text, word) {
				t.Errorf("%s: no %q", whose, word)
			}
		}
		for _, word := range append(foreign.words(), "password", testAdminEmail, "secret-of-acme") {
			if strings.Contains(text, word) {
				t.Errorf("%s: has %q", whose, word)
			}
		}
		if whose == "the customer" && (strings.Contains(text, staffNote) || strings.Contains(text, staffTag)) {
			t.Errorf("the customer reads what staff noted: %s", text)
		}
	}
	k.refused(customer, "GET /subscribers/"+foreign.subscriber+"/personal-data", nil, 404, "subscriber_not_found")
	k.eventually("both looks in the audit log", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/audit-log?action=audit.ReadPersonalData", "", nil)
		return len(page.list("data")) == 2, err
	})
}
