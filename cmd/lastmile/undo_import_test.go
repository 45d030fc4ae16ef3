package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// undone waits until a batch was taken back, and gives it.
func (k *kit) undone(batch string) (b answer) {
	k.t.Helper()
	k.eventually("the end of the undo", func(ctx context.Context) (done bool, err error) {
		b, err = k.admin.call(ctx, "GET", "/batches/"+batch, "", nil)
		return b.at("undo.state") == "finished", err
	})
	return b
}

// moved waits until the churn report shows the customers who were taken over, of those at the start, and the others.
func (k *kit) moved(want string) {
	k.t.Helper()
	k.eventually("churn of "+want, func(ctx context.Context) (bool, error) {
		r, err := k.admin.call(ctx, "GET", "/reports/churn", "", nil)
		got := fmt.Sprintf("%s of %s, %s new, %s ended", r.at("customers.takenOver"), r.at("customers.atStart"),
			r.at("customers.new"), r.at("customers.ended"))
		return got == want, err
	})
}

// TestUndoImport_RemovesThoseToWhomNothingHappened: one has money of another system on the account, one owes money to
// it and an invoice, one has no service; who paid here stays. What they had is free for the right file.
func TestUndoImport_RemovesThoseToWhomNothingHappened(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other := k.organization("other", "admin@other.test")
	k.plan("home", 1500)
	until := time.Now().AddDate(0, 0, 20).Format("2006-01-02")
	const header = "firstName,phone,planCode,accountAliases,openingBalance,username,password,staticIp,paidUntil\n"
	wrong := header +
		"Amina,0711000901,home,OLD77,-200,amina,hunter2,10.9.0.1," + until + "\n" +
		"Brian,0711000902,home,,500.50,brian,,\n" +
		"Gita,0711000903,,,,,,\n" +
		"Paula,0711000904,home,,,paula,,\n"
	_, asked := k.upload(k.admin, "", wrong)
	batch := asked.text("id")
	if done := k.imported(k.admin, batch); count(done, "created") != 4 {
		t.Fatalf("import %v\n%s", done, faultsOf(done))
	}
	k.shown()
	k.moved("1 of 1, 0 new, 0 ended")
	brian, paula := k.found("Brian").text("id"), k.found("Paula").text("id")
	k.issued(brian, 1)
	k.issued(paula, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": paula, "amount": 1500, "reference": "till 1",
	})

	undo := "/batches/" + batch + "/undo"
	k.refused(other, "POST "+undo+"/preview", nil, 404, "batch_not_found")
	k.refused(other, "POST "+undo, map[string]any{"reason": "not mine"}, 404, "batch_not_found")
	preview := k.must(k.admin, "POST", undo+"/preview", nil)
	blocked := preview.list("blocked")
	if count(preview, "undone") != 3 || len(blocked) != 1 || blocked[0].text("subscriberId") != paula ||
		blocked[0].text("code") != "paid_since" {
		t.Errorf("preview %v", preview)
	}
	if n := len(k.all(k.admin, "/subscribers")); n != 4 {
		t.Errorf("after the preview there are %d customers", n)
	}
	k.must(k.admin, "POST", undo, map[string]any{"reason": "the wrong file"})
	if b := k.undone(batch); b.at("undo.undone") != "3" || b.at("undo.blocked") != "1" {
		t.Errorf("undone: %v", b)
	}
	k.eventually("who was taken back to be forgotten and to owe nothing", func(context.Context) (bool, error) {
		gone := 0
		for _, s := range k.all(k.admin, "/subscribers") {
			if s.text("id") != paula && s.text("status") == "forgotten" && s["phone"] == nil &&
				number(s, "balance") == "0.00" && number(s, "credit") == "0.00" {
				gone++
			}
		}
		return gone == 3, nil
	})
	rows := k.all(k.admin, "/reports/collections/receipts") // of today
	if len(rows) != 1 || rows[0].text("subscriberId") != paula || number(rows[0], "amount") != "1500.00" {
		t.Errorf("what an import had brought is among the collections: %v", rows)
	}
	k.moved("0 of 0, 1 new, 0 ended")
	k.soundBooks()
	k.importedInstead(header + "Amina,0711000901,home,OLD77,,amina,hunter3,10.9.0.1\n")
}

// TestUndoImport_WhatWasChangedByHandStays: an add-on, a static address, a pause that is over, an end and a hold keep
// their customers; the first bill and a look at a password do not.
func TestUndoImport_WhatWasChangedByHandStays(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	_, asked := k.upload(k.admin, "", "firstName,phone,planCode,username,paidUntil\n"+
		"Adia,0711000911,home,adia,\nSara,0711000912,home,sara,\n"+
		"Peter,0711000913,home,peter,"+time.Now().AddDate(0, 0, 20).Format(time.DateOnly)+"\n"+
		"Umi,0711000914,home,umi,\nZuri,0711000915,home,zuri,\nHadi,0711000916,home,hadi,\n")
	batch := asked.text("id")
	if done := k.imported(k.admin, batch); count(done, "created") != 6 {
		t.Fatalf("import %v\n%s", done, faultsOf(done))
	}
	k.shown()
	paths := map[string]string{}
	for _, name := range []string{"Adia", "Sara", "Peter", "Umi", "Zuri", "Hadi"} {
		paths[name] = "/subscriptions/" + k.found(name).list("services")[0].text("subscriptionId")
	}
	k.issued(k.found("Umi").text("id"), 1)
	k.must(k.admin, "POST", paths["Adia"]+"/add-ons", map[string]any{"description": "Fixed address", "amount": 300})
	k.must(k.admin, "PATCH", paths["Sara"], map[string]any{"staticIp": "10.9.0.7"})
	k.must(k.admin, "POST", paths["Peter"]+"/pause", map[string]any{"reason": "travels"})
	k.must(k.admin, "POST", paths["Peter"]+"/resume", map[string]any{"reason": "is back"})
	k.must(k.admin, "POST", paths["Zuri"]+"/end", map[string]any{"reason": "left"})
	k.must(k.admin, "POST", paths["Hadi"]+"/hold", map[string]any{
		"until": time.Now().AddDate(0, 0, 9).Format(time.RFC3339), "reason": "is in hospital",
	})
	k.must(k.admin, "GET", paths["Umi"]+"/credentials", nil)

	preview := k.must(k.admin, "POST", "/batches/"+batch+"/undo/preview", nil)
	if count(preview, "undone") != 1 || len(preview.list("blocked")) != 5 {
		t.Errorf("preview %v", preview)
	}
	for _, stays := range preview.list("blocked") {
		if stays.text("code") != "corrected_since" {
			t.Errorf("it stays for %v", stays)
		}
	}
	k.must(k.admin, "POST", "/batches/"+batch+"/undo", map[string]any{"reason": "the wrong file"})
	if b := k.undone(batch); b.at("undo.undone") != "1" || b.at("undo.blocked") != "5" {
		t.Errorf("undone: %v", b)
	}
}

// TestUndoImport_MoneyThatComesMeanwhileIsNotOnAClosedAccount: customers pay while their import is taken back. Who has
// paid stays and has the money; money of one who is removed waits in suspense.
func TestUndoImport_MoneyThatComesMeanwhileIsNotOnAClosedAccount(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	var file strings.Builder
	file.WriteString("firstName,phone,openingBalance\n")
	const customers = 24
	for i := range customers {
		fmt.Fprintf(&file, "C%02d,07110009%02d,-100\n", i, i)
	}
	_, asked := k.upload(k.admin, "", file.String())
	batch := asked.text("id")
	k.imported(k.admin, batch)
	k.shown()
	rows := k.all(k.admin, "/subscribers")
	paid := make([]string, len(rows))
	for i, row := range rows {
		if i == len(rows)/3 {
			k.must(k.admin, "POST", "/batches/"+batch+"/undo", map[string]any{"reason": "the wrong file"})
		}
		paid[i] = k.pay("254711000999", row.text("accountNumber"), 50)
	}
	k.undone(batch)
	k.settled()
	for i, row := range rows {
		k.eventually("the money of "+row.text("id")+" to have its place", func(ctx context.Context) (bool, error) {
			page, err := k.admin.call(ctx, "GET", "/receipts?receiptNumber="+paid[i], "", nil)
			if err != nil || len(page.list("data")) != 1 {
				return false, err
			}
			now, err := k.admin.call(ctx, "GET", "/subscribers/"+row.text("id"), "", nil)
			switch state := page.list("data")[0].text("state"); {
			case err != nil:
				return false, err
			case now.text("status") == "forgotten":
				return state == "suspense" && number(now, "credit") == "0.00", nil
			default:
				return state == "matched" && number(now, "credit") == "150.00", nil
			}
		})
	}
	k.soundBooks()
}

// importedInstead imports the right file with one customer, who has a login of a customer that was taken back.
func (k *kit) importedInstead(right string) {
	k.t.Helper()
	_, asked := k.upload(k.admin, "", right)
	if done := k.imported(k.admin, asked.text("id")); count(done, "created") != 1 {
		k.t.Fatalf("the right file: %v\n%s", done, faultsOf(done))
	}
	k.shown()
	amina := k.found("Amina")
	if number(amina, "credit") != "0.00" {
		k.t.Errorf("Amina is %v", amina)
	}
	line := amina.list("services")[0].text("subscriptionId")
	login := k.must(k.admin, "GET", "/subscriptions/"+line+"/credentials", nil)
	if login.text("password") != "hunter3" {
		k.t.Errorf("the password is %v", login)
	}
}
