package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// hostileRefs are words that stand in everybody's rows, if one looks for them within other words.
var hostileRefs = []string{`"id":"`, "transid", "receipt no.", "@gmail.com", "254711"}

// TestForget_TouchesNothingOfAnotherOrganization: an administrator gives customers the words of everybody's rows, and
// forgets them. A person who is a customer of two organizations is forgotten by one. Stored answers, callbacks,
// statements and codes of the other organization, and those of nobody, stay; what the own organization has of others
// stays as well.
func TestForget_TouchesNothingOfAnotherOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	beta := k.organization("beta", "admin@beta.test")
	const both = "+254711000901"
	there := k.must(beta, "POST", "/subscribers", map[string]any{
		"firstName": "Baraka", "lastName": "Otieno", "phone": both, "email": "baraka@gmail.com",
	})
	k.must(beta, "POST", "/subscribers/"+there.text("id")+"/portal-access", map[string]string{"phone": both})
	neighbour, _ := k.subscriber("254711000902")
	keyed := map[string]apiClient{there.text("id"): beta, neighbour: k.admin}
	k.answered(keyed)
	receipt := k.pay("254711000901", there.text("accountNumber"), 500)
	k.settled()
	statement := k.statementOf(receipt)

	here := k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Baraka", "lastName": "Otieno", "phone": both, "email": "baraka@gmail.com",
		"accountAliases": []string{"10023"},
	}).text("id")
	k.seen(here, map[string]string{"phone": both})
	leaving := append(k.guests(), here)
	ask := map[string]string{"identifier": both}
	k.must(k.client("acme"), "POST", "/auth/otp/send", ask)
	k.codes("acme", both, 1)
	k.must(k.client("beta"), "POST", "/auth/otp/send", ask)
	atBeta := k.codes("beta", both, 1)
	k.must(k.client(""), "POST", "/auth/otp/send", ask)
	atRoot := k.codes("", both, 3) // the root host shows those of all
	before := k.doneCallbacks()
	for _, subscriber := range leaving {
		k.must(k.admin, "POST", forgetPath(subscriber), because3March())
		k.erased(subscriber)
	}
	k.eventually("the sign-in here to be forgotten", func(ctx context.Context) (gone bool, err error) {
		err = k.db.Owner.QueryRow(ctx, `select not exists (select from `+k.db.Namespace.Schema("vault")+
			`.codes where org_id = $1)`, k.org()).Scan(&gone)
		return gone, err
	})

	k.answered(keyed)
	if n := k.doneCallbacks(); n != before {
		t.Errorf("%d callbacks of %d are left", n, before)
	}
	if kept, err := k.app.storage.vault.Statements.Get(t.Context(), statement); err != nil || kept == nil {
		t.Errorf("the statement of the platform is gone: %v", err)
	}
	k.must(k.client("beta"), "POST", "/auth/otp/verify", map[string]string{"identifier": both, "code": atBeta})
	k.must(k.client(""), "POST", "/auth/otp/verify", map[string]string{"identifier": both, "code": atRoot})
}

// TestForget_TakesThePersonsOwnMoneyOutOfWhatIsShared: a callback of the platform's paybill and its statement have a
// payment of the person, and belong to no organization. They go with the person of that payment.
func TestForget_TakesThePersonsOwnMoneyOutOfWhatIsShared(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	subscriber, account := k.subscriber("254711000921")
	other, otherAccount := k.subscriber("254711000922")
	receipt := k.pay("254711000921", account, 700)
	foreign := k.pay("254711000922", otherAccount, 700)
	k.settled()
	statement, others := k.statementOf(receipt), k.statementOf(foreign)
	k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": subscriber,
		"lines":        []map[string]any{{"description": "Cable", "quantity": 1, "unitPrice": 700}},
	})
	k.obstacles(subscriber)
	before := k.doneCallbacks()
	k.must(k.admin, "POST", forgetPath(subscriber), because3March())
	k.erased(subscriber)
	if n := k.doneCallbacks(); n >= before || n == 0 {
		t.Errorf("%d callbacks of %d are left", n, before)
	}
	kept := func(of id.Reconciliation) bool {
		file, err := k.app.storage.vault.Statements.Get(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return file != nil
	}
	if kept(statement) || !kept(others) {
		t.Errorf("statement of the person kept: %v, of the other: %v", kept(statement), kept(others))
	}
	k.refused(k.admin, "POST "+forgetPath(other), because3March(), http.StatusConflict, "forget_credit_left")
}

// answered sends a request under a key for each of some customers: the first time it stores an answer, and then it gets
// that.
func (k *kit) answered(of map[string]apiClient) {
	k.t.Helper()
	for subscriber, c := range of {
		_, err := c.call(k.t.Context(), "PATCH", "/subscribers/"+subscriber, "keyed-"+subscriber, map[string]any{
			"firstName": "Kept",
		})
		if err != nil {
			k.t.Errorf("the stored answer at %s: %v", c.host, err)
		}
	}
}

// guests makes a customer with each of the hostile words.
func (k *kit) guests() (list []string) {
	k.t.Helper()
	for n, ref := range hostileRefs {
		list = append(list, k.must(k.admin, "POST", "/subscribers", map[string]any{
			"firstName": "Guest", "phone": fmt.Sprintf("+2547110009%d", 10+n), "externalRef": ref,
		}).text("id"))
	}
	return list
}

// statementOf keeps a statement of the platform's shortcode with one payment.
func (k *kit) statementOf(receipt string) id.Reconciliation {
	k.t.Helper()
	of := vault.StatementOf{ID: id.New[id.Reconciliation](), Shortcode: testShortcode}
	file := "Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.\n" + receipt + ",2026-03-02 11:00:00,10023,,x\n"
	if err := k.app.storage.vault.Statements.Put(k.t.Context(), of, []byte(file)); err != nil {
		k.t.Fatal(err)
	}
	return of.ID
}

// doneCallbacks counts the callbacks that were handled.
func (k *kit) doneCallbacks() (n int) {
	k.t.Helper()
	k.eventually("all callbacks to be handled", func(ctx context.Context) (done bool, err error) {
		err = k.db.Owner.QueryRow(ctx, `select count(*), coalesce(bool_and(done_at is not null), true) from `+
			k.db.Namespace.Schema("vault")+`.callbacks`).Scan(&n, &done)
		return done, err
	})
	return n
}
