package main

import (
	"net/http"
	"strings"
	"testing"
)

// paidAhead is a file with customers of whom two had paid 900 and 600 ahead, and one owed 400.
const paidAhead = "firstName,phone,openingBalance\nAmina,0711000951,-900\nBaraka,0711000952,400\n" +
	"Cheche,0711000953,-600\n"

// TestApprovals_CreditOfAnImportWaitsForAColleague: what customers of a file had paid ahead is one act of who imports.
// Above the limit nothing is made before a colleague agrees, and then what was looked at; the check says so before. A
// file without credit waits for nobody, and neither does any without a limit.
func TestApprovals_CreditOfAnImportWaitsForAColleague(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	colleague := k.colleagues("cara")[0]
	free := strings.NewReplacer("07110009", "07110008", "Amina", "Asha").Replace(paidAhead)
	if _, dry := k.upload(k.admin, "?dryRun=true", free); dry.at("credit") != "1500" || dry["waits"] != false {
		t.Errorf("checked without a limit: %v", dry)
	}
	if status, made := k.upload(k.admin, "", free); status != http.StatusAccepted || made["approvalId"] != nil {
		t.Fatalf("without a limit: %d %v", status, made)
	}
	k.limitedTo(1000)
	if _, dry := k.upload(k.admin, "?dryRun=true", paidAhead); dry.at("credit") != "1500" || dry["waits"] != true {
		t.Errorf("checked above the limit: %v", dry)
	}
	status, asked := k.upload(k.admin, "", paidAhead)
	approval := asked.text("approvalId")
	if status != http.StatusAccepted || asked.text("state") != "waiting" || approval == "" {
		t.Fatalf("above the limit: %d %v", status, asked)
	}
	a := k.approvalIs(approval, "waiting")
	if a.text("kind") != "import" || a.at("amount") != "1500" || a.at("what.importId") != asked.text("id") {
		t.Errorf("waits: %v", a)
	}
	k.refused(k.admin, "GET /imports/"+asked.text("id"), nil, 404, "import_not_found")
	if _, again := k.upload(k.admin, "", paidAhead); again.text("approvalId") != approval {
		t.Errorf("sent again: %v", again)
	}
	k.refused(k.admin, "POST /approvals/"+approval+"/approve", nil, 403, "approval_own")
	owed := "firstName,phone,openingBalance\nDalila,0711000954,90000\n"
	if _, made := k.upload(k.admin, "", owed); made["approvalId"] != nil {
		t.Errorf("what is owed gives nothing away: %v", made)
	}
	k.approves(colleague, approval, "carried_out")
	if end := k.imported(k.admin, asked.text("id")); end.at("created") != "3" {
		t.Errorf("imported: %v", end)
	}
	k.shown()
	if amina := k.found("Amina"); number(amina, "credit") != "900.00" {
		t.Errorf("paid ahead: %v", amina)
	}
	k.correctionsAre("import 2 3000 1")
	k.soundBooks()
}

// TestApprovals_ManySmallCreditsAreOneAct: files below the limit count together, and a refused one is none.
func TestApprovals_ManySmallCreditsAreOneAct(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	colleague := k.colleagues("cara")[0]
	k.limitedTo(1000)
	file := func(phone string) string { return "firstName,phone,openingBalance\nAmina,07110009" + phone + ",-600\n" }
	_, made := k.upload(k.admin, "", file("61"))
	if made["approvalId"] != nil {
		t.Fatalf("within the limit: %v", made)
	}
	if end := k.imported(k.admin, made.text("id")); end.at("created") != "1" {
		t.Errorf("imported: %v", end)
	}
	_, again := k.upload(k.admin, "", file("61"))
	if again.text("id") != made.text("id") || again["approvalId"] != nil {
		t.Errorf("the same file: %v", again)
	}
	_, second := k.upload(k.admin, "", file("62"))
	approval := second.text("approvalId")
	k.approvalIs(approval, "waiting")
	k.must(colleague, "POST", "/approvals/"+approval+"/refuse", because())
	k.approvalIs(approval, "refused")
	_, third := k.upload(k.admin, "", file("62"))
	if next := third.text("approvalId"); next == "" || next == approval {
		t.Errorf("after a refusal: %v", third)
	}
	k.approves(colleague, third.text("approvalId"), "carried_out")
	k.imported(k.admin, third.text("id"))
	k.correctionsAre("import 2 1200 1")
}
