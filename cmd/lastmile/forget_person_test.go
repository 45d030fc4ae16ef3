package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// forgetReason names nobody.
const forgetReason = "asked for it in a letter of 3 March"

// parts are the words of a person that nothing may have after the person is forgotten; the phone stands in texts
// without the country, too.
func (h household) parts() []string {
	return []string{h.phone[len(h.phone)-9:], "733" + h.phone[len(h.phone)-6:], h.name, h.mail, h.username,
		"AA:BB:CC:DD:77:77", "Riverside-Lane", "AA7788", "A00771234Q"}
}

// settle ends what is open of a household: the prompt, the service, and what is owed.
func (k *kit) settle(h household) {
	k.t.Helper()
	k.settled()
	k.paid(h.payment, "SUCCESS")
	k.must(k.admin, "POST", "/subscriptions/"+h.subscription+"/end", map[string]any{"reason": staffReason})
	k.eventually("the booking of the payment", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/receipts?subscriberId="+h.subscriber, "", nil)
		return len(page.list("data")) == 2, err
	})
	owed := ""
	k.eventually("the same balance twice", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+h.subscriber, "", nil)
		last := owed
		owed = number(s, "balance")
		return owed == last, err
	})
	if owed != "0.00" {
		k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": h.subscriber, "amount": json.Number(owed), "reference": "LAST-" + h.subscriber[:8],
		})
	}
	k.eventually("nothing to stand in the way", func(ctx context.Context) (bool, error) {
		open, err := k.admin.call(ctx, "GET", "/subscribers/"+h.subscriber+"/forget", "", nil)
		list, _ := open["open"].([]any)
		return err == nil && len(list) == 0, err
	})
}

// orgID is the id of acme.
func (k *kit) orgID() id.Organization {
	k.t.Helper()
	org, err := id.Parse[id.Organization](k.org())
	if err != nil {
		k.t.Fatal(err)
	}
	return org
}

// erased waits until the key of a person is destroyed.
func (k *kit) erased(subject string) {
	k.t.Helper()
	k.eventually("the key to be destroyed", func(ctx context.Context) (gone bool, err error) {
		err = k.db.Owner.QueryRow(ctx, `select exists (select from `+k.db.Namespace.Schema("vault")+
			`.subject_erasures where subject = $1)`, subject).Scan(&gone)
		return gone, err
	})
}

// unnamed fails for each table, and for the log, that names a person. TILL- is the number of a receipt book, which
// stays (docs/rules/subscribers.md#forgetting), whatever somebody wrote as one.
func (k *kit) unnamed(h household) {
	k.t.Helper()
	till := "TILL-" + h.name
	clean := strings.NewReplacer(till, "", strings.ToUpper(till), "", hex.EncodeToString([]byte(till)), "")
	for table, text := range k.everyRow() {
		text = clean.Replace(text)
		for _, word := range h.parts() {
			if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				k.t.Errorf("%s still has %q", table, word)
			} else if holds(text, word) {
				k.t.Errorf("%s still has the bytes of %q", table, word)
			}
		}
	}
	for _, word := range h.parts() {
		if strings.Contains(strings.ToLower(k.log.String()), strings.ToLower(word)) {
			k.t.Errorf("the program's log has %q", word)
		}
	}
}

// known fails unless the tables name a person with all words but those that nobody gave.
func (k *kit) known(h household) {
	k.t.Helper()
	all := ""
	for _, text := range k.everyRow() {
		all += strings.ToLower(text)
	}
	for _, word := range h.parts() {
		if !strings.Contains(all, strings.ToLower(word)) {
			k.t.Errorf("no table has %q before: the test looks for what was never there", word)
		}
	}
}

// TestForget_NothingNamesThePersonAnyMore: a customer with one of each thing is forgotten. Then no table, job, stored
// answer, message, file, event or line of the log names the person, also after all read models were made anew; the
// neighbour has everything still, and so have the books.
func TestForget_NothingNamesThePersonAnyMore(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	own := k.household(line, "+254711000077", "Amina")
	neighbour, _ := k.subscriber("254711000078")
	k.report(line, rfc2865.Class_Get(k.online(line)), told{
		session: "81000077", mac: "AA-BB-CC-00-00-22", ip: "100.64.0.77", status: rfc2866.AcctStatusType_Value_Stop,
	})
	k.completed(own)
	kept, export := k.filed(own)
	customer := k.atPortal("acme", own.phone, 1)
	k.refused(k.admin, "POST /subscribers/"+own.subscriber+"/forget", map[string]any{"reason": forgetReason}, 409, "")
	k.settle(own)
	k.known(own)
	k.forgotten(own, customer)
	k.shown()
	k.unnamed(own)
	_, err := k.app.storage.vault.Files.Get(t.Context(), kept.OrgID, kept.ID, 0)
	if failure.CodeOf(err) != "file_gone" {
		t.Errorf("the file that names the person: %v", err)
	}
	k.refused(k.admin, "GET /exports/"+export+"/file", nil, 404, "file_gone")
	k.refused(k.admin, "GET /subscribers/"+own.subscriber+"/personal-data", nil, 404, "subscriber_not_found")
	if s := k.must(k.admin, "GET", "/subscribers/"+own.subscriber, nil); s["firstName"] != nil ||
		s.text("status") != "forgotten" || number(s, "balance") != "0.00" {
		t.Errorf("shown as %v", s)
	}
	if i := k.must(k.admin, "GET", "/invoices/"+own.invoice, nil); i.text("number") == "" ||
		number(i, "total") != "300.00" {
		t.Errorf("the document is %v", i)
	}
	if s := k.must(k.admin, "GET", "/subscribers/"+neighbour, nil); s.text("firstName") != "Customer" {
		t.Errorf("the neighbour is %v", s)
	}
	k.soundBooks()
	k.forgottenForEver(own)
}

// keyed makes answers that are stored under a key.
func (h household) keyed(k *kit) {
	k.t.Helper()
	_, err := k.admin.call(k.t.Context(), "PATCH", "/subscribers/"+h.subscriber, "keyed", map[string]any{
		"firstName": h.name,
	})
	if err != nil {
		k.t.Fatal(err)
	}
}

// forgottenForEver makes all read models anew and looks once more; a stored answer is none any more.
func (k *kit) forgottenForEver(h household) {
	k.t.Helper()
	_, err := k.admin.call(k.t.Context(), "PATCH", "/subscribers/"+h.subscriber, "keyed", map[string]any{
		"firstName": h.name,
	})
	if no := asAPIError(err); no == nil || no.Status != http.StatusConflict || no.Code != "subject_forgotten" {
		k.t.Errorf("the stored answer is %v", err)
	}
	for _, model := range readModels() {
		k.command("projections", "rebuild", model.Name())
	}
	k.unnamed(h)
}

// completed gives a household the details that it lacks, a stored answer and two sign-ins.
func (k *kit) completed(h household) {
	k.t.Helper()
	k.must(k.admin, "PATCH", "/subscribers/"+h.subscriber, map[string]any{
		"address": "Riverside-Lane 7", "notes": "likes Riverside-Lane", "taxPin": "A00771234Q",
		"accountAliases": []string{"AA7788"},
	})
	k.must(k.admin, "PATCH", "/subscriptions/"+h.subscription, map[string]any{
		"macAddresses": []string{"AA:BB:CC:DD:77:77"},
	})
	h.keyed(k)
	k.seen(h.subscriber, map[string]string{"phone": h.phone, "email": h.mail})
}

// filed keeps a file with the phone of a household, and a copy of the whole organization.
func (k *kit) filed(h household) (kept vault.File, export string) {
	k.t.Helper()
	kept = vault.File{ID: id.New[id.File](), OrgID: k.orgID(), Ends: time.Now().Add(time.Hour)}
	text := []byte("phone\n0" + h.phone[4:7] + " " + h.phone[7:10] + " " + h.phone[10:] + "\n")
	if err := k.app.storage.vault.Files.Put(k.t.Context(), kept, 0, text); err != nil {
		k.t.Fatal(err)
	}
	export = k.must(k.admin, "POST", "/exports", nil).text("id")
	k.eventually("the copy", func(ctx context.Context) (bool, error) {
		e, err := k.admin.call(ctx, "GET", "/exports/"+export, "", nil)
		return e.text("state") == "finished", err
	})
	return kept, export
}

// forgotten forgets a household, and waits until that is done everywhere.
func (k *kit) forgotten(h household, customer apiClient) {
	k.t.Helper()
	path := "/subscribers/" + h.subscriber + "/forget"
	k.refused(k.admin, "POST "+path, map[string]any{"reason": "Amina wants it"}, 422, "invalid_input")
	k.refused(k.admin, "POST "+path, map[string]any{"reason": "call 0711-000 077"}, 422, "invalid_input")
	done := k.must(k.admin, "POST", path, map[string]any{"reason": forgetReason})
	if done.text("status") != "forgotten" {
		k.t.Errorf("answered %v", done)
	}
	k.must(k.admin, "POST", path, map[string]any{"reason": "once more"})
	k.erased(h.subscriber)
	k.refused(customer, "GET /subscribers/"+h.subscriber, nil, 401, "")
	k.eventually("the users of the portal to be erased", func(ctx context.Context) (bool, error) {
		var n int
		err := k.db.Owner.QueryRow(ctx, `select count(*) from `+k.db.Namespace.Schema("vault")+
			`.subject_erasures`).Scan(&n)
		return n >= 1+2+3, err // the person, two sign-ins, three receipts
	})
	k.eventually("telemetry and read models without the person", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/sessions?subscriberId="+h.subscriber, "", nil)
		return len(page.list("data")) == 0, err
	})
}
