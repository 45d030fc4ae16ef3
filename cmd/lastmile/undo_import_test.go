package main

import (
	"context"
	"testing"
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

// TestUndoImport_RemovesThoseToWhomNothingHappened: one has money of another system on the account, one owes money to
// it and an invoice, one has no service; who paid here stays. What they had is free for the right file.
func TestUndoImport_RemovesThoseToWhomNothingHappened(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other := k.organization("other", "admin@other.test")
	k.plan("home", 1500)
	const header = "firstName,phone,planCode,accountAliases,openingBalance,username,password,staticIp\n"
	wrong := header +
		"Amina,0711000901,home,OLD77,-200,amina,hunter2,10.9.0.1\n" +
		"Brian,0711000902,home,,500.50,brian,,\n" +
		"Gita,0711000903,,,,,,\n" +
		"Paula,0711000904,home,,,paula,,\n"
	_, asked := k.upload(k.admin, "", wrong)
	batch := asked.text("id")
	if done := k.imported(k.admin, batch); count(done, "created") != 4 {
		t.Fatalf("import %v\n%s", done, faultsOf(done))
	}
	k.shown()
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
	b := k.undone(batch)
	if b.at("undo.undone") != "3" || b.at("undo.blocked") != "1" {
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
	k.soundBooks()
	k.importedInstead(header + "Amina,0711000901,home,OLD77,,amina,hunter3,10.9.0.1\n")
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
