package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestImport_TheSumsOfTheCheckAreWhatTheImportMakes: balances, credit, paid time, blocks and logins of a file drawn at
// random. A question that is open stops the import, and makes nothing.
func TestImport_TheSumsOfTheCheckAreWhatTheImportMakes(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	draw := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same file at each run
	later := k.local(time.Now()).AddDate(0, 0, 20).Format("02 Jan 2006")
	var file strings.Builder
	file.WriteString("username,fullname,phonenumber,balance,namebp,pppoe_password,expiration,status,wallet\n")
	owed, blocked, paid := 0, 0, 0
	for n := range 12 {
		balance, state, until := draw.IntN(4)*50, "Active", ""
		if draw.IntN(3) == 0 {
			state = "Banned"
			blocked++
		}
		if draw.IntN(2) == 0 || n == 0 {
			until = later
			paid++
		}
		owed += balance
		file.WriteString("u" + strconv.Itoa(n) + ",Customer N" + strconv.Itoa(n) + ",07110009" + strconv.Itoa(10+n) +
			"," + strconv.Itoa(balance) + ",home, p" + strconv.Itoa(n) + " ," + until + "," + state + ",5\n")
	}
	const source = "source=phpnuxbill"
	status, dry := k.upload(k.admin, "?dryRun=true&"+source, file.String())
	if status != 200 || count(dry, "valid") != 12 || len(dry.list("questions")) != 1 ||
		dry.list("questions")[0].text("letter") != "I" {
		t.Fatalf("dry run %d %v", status, dry)
	}
	if status, out := k.upload(k.admin, "?"+source, file.String()); status != 409 ||
		out.text("code") != "import_questions_open" || len(k.all(k.admin, "/subscribers")) != 0 {
		t.Fatalf("with an open question: %d %v", status, out)
	}
	const answers = "&columns=I:-"
	_, dry = k.upload(k.admin, "?dryRun=true&"+source+answers, file.String())
	effects := answer(dry["effects"].(map[string]any))
	if len(dry.list("questions")) != 0 || count(effects, "customers") != 12 || count(effects, "paidTime") != paid ||
		count(effects, "unpaid") != 12-paid || count(effects, "passwords") != 12 || number(effects, "owed") != "0.00" ||
		number(effects, "credit") != strconv.Itoa(owed)+".00" {
		t.Fatalf("effects %v, want %d paid and %d in credit", effects, paid, owed)
	}
	_, asked := k.upload(k.admin, "?"+source+answers, file.String())
	if done := k.imported(k.admin, asked.text("id")); count(done, "created") != 12 {
		t.Fatalf("import %v\n%s", done, faultsOf(done))
	}
	k.shown()
	stopped, until := len(k.all(k.admin, "/subscribers?status=blocked")), 0
	for _, s := range k.all(k.admin, "/subscriptions") {
		if s["paidUntil"] != nil {
			until++
		}
	}
	if stopped != blocked || until != paid {
		t.Errorf("%d blocked and %d with paid time, want %d and %d", stopped, until, blocked, paid)
	}
}
