package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// upload sends a file of customers as a client, and gives status and answer.
func (k *kit) upload(c apiClient, query, csv string) (int, answer) {
	k.t.Helper()
	req, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost,
		"http://"+k.addr+"/imports/subscribers"+query, bytes.NewReader([]byte(csv)))
	if err != nil {
		k.t.Fatal(err)
	}
	req.Host = c.host
	req.Header.Set("Content-Type", "text/csv")
	req.Header.Set("Authorization", "Bearer "+c.bearer())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	var out answer
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		k.t.Fatalf("POST /imports/subscribers: %d %s: %v", res.StatusCode, text, err)
	}
	return res.StatusCode, out
}

// imported waits for the end of an import, and gives it.
func (k *kit) imported(c apiClient, id string) answer {
	k.t.Helper()
	var last answer
	k.eventually("end of the import", func(ctx context.Context) (done bool, err error) {
		last, err = c.call(ctx, "GET", "/imports/"+id, "", nil)
		return err == nil && last.text("state") == "finished", err
	})
	return last
}

// shown waits until the read models of customers and services show all that the log has now.
func (k *kit) shown() {
	k.t.Helper()
	head, err := k.app.storage.store.Head(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	for _, name := range []string{subscribersviews.SubscribersName, subscribersviews.SubscriptionsName} {
		k.eventually("the end of the log in "+name, func(ctx context.Context) (bool, error) {
			err := k.app.engines.views.WaitFor(ctx, name, head)
			return err == nil, err
		})
	}
}

// faultsOf writes the faults of an answer, each as "row field message".
func faultsOf(a answer) string {
	var lines []string
	for _, f := range a.list("errors") {
		lines = append(lines, fmt.Sprintf("%v %s %s", f["row"], f.text("field"), f.text("message")))
	}
	return strings.Join(lines, "\n")
}

// count gives a whole number of an answer.
func count(a answer, field string) int {
	n, _ := a[field].(float64)
	return int(n)
}

// found gives the only customer of a search.
func (k *kit) found(q string) answer {
	k.t.Helper()
	var found []answer
	k.eventually("customer "+q, func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/subscribers?q="+q, "", nil)
		found = page.list("data")
		return err == nil && len(found) > 0, err
	})
	if len(found) != 1 {
		k.t.Fatalf("%d customers are called %s", len(found), q)
	}
	return found[0]
}

// TestImport_AnISPMovesItsCustomersOver: the dry run tells what is wrong, the import makes the others as they were, and
// nothing twice, whoever sends the file again.
func TestImport_AnISPMovesItsCustomersOver(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other := k.organization("other", "admin@other.test")
	k.plan("home", 1500)
	k.must(other, "POST", "/plans", map[string]any{
		"code": "secret", "name": "Secret", "kind": "pppoe", "price": 10, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "month"},
		"rates":   map[string]int{"down": 1000, "up": 1000},
	})
	until := k.local(time.Now()).AddDate(0, 0, 20).Format("2006-01-02")
	const header = "firstName;lastName;phone;planCode;accountAliases;openingBalance;paidUntil;username;tags;" +
		"password;macAddresses;staticIp;billingDay\n"
	file := header +
		"Amina;Otieno;0711000901;home;OLD-77|1042;;" + until + ";amina;vip|north;hunter2;aabb.ccdd.ee01;10.9.0.1;5\n" +
		"Brian;\"Kip; toroitich\";0711000902;home;;500.50;;brian;;;;;\n" +
		"=HYPERLINK(1);;0711000903;home;;-200;;;;;;;\n" +
		"Dora;;0711000904;secret;;;;;;;;;\n" +
		"Eve;;0711000905;home;;;;amina;;;AA:BB:CC:DD:EE:01;10.9.0.1;\n" +
		"Finn;;none;home;;x;soon;;;;;;31\n" +
		"Gita;;0711000907;;;;;;;;;;\n"
	status, dry := k.upload(k.admin, "?dryRun=true", file)
	want := "5 planCode is no plan that is sold here\n" +
		"6 username is also in row 2\n6 staticIp is also in row 2\n6 macAddresses is also in row 2\n" +
		"7 openingBalance must be a number with at most 2 decimals\n" +
		"7 paidUntil must be a date such as 2026-12-31, 31/12/2026 or 31 Dec 2026\n" +
		"7 billingDay must be from 1 to 28\n7 phone "
	if status != 200 || count(dry, "rows") != 7 || count(dry, "valid") != 4 ||
		!strings.HasPrefix(faultsOf(dry), want) {
		t.Fatalf("dry run %d: %v valid\n%s", status, dry["valid"], faultsOf(dry))
	}
	if n := len(k.all(k.admin, "/subscribers")); n != 0 {
		t.Fatalf("the dry run made %d customers", n)
	}
	status, asked := k.upload(k.admin, "", file)
	if status != 202 {
		t.Fatalf("import %d: %v", status, asked)
	}
	done := k.imported(k.admin, asked.text("id"))
	if count(done, "created") != 4 || count(done, "failed") != 3 || count(done, "skipped") != 0 {
		t.Fatalf("import %v\n%s", done, faultsOf(done))
	}
	k.shown()
	k.importedAsTheyWere(until)
	_, again := k.upload(k.admin, "", file)
	if again.text("id") != asked.text("id") || len(k.all(k.admin, "/subscribers")) != 4 {
		t.Errorf("the same file is another import: %v", again)
	}
	k.skipsTheKnown(header)
	k.refused(other, "GET /imports/"+asked.text("id"), nil, 404, "import_not_found")
	k.soundBooks()
	if log := k.log.last(1000); strings.Contains(log, "hunter2") {
		t.Error("the log has a password")
	}
}

// skipsTheKnown imports Amina and Brian again, one with her phone and one with another, and somebody new.
func (k *kit) skipsTheKnown(header string) {
	k.t.Helper()
	file := header + "Amina;;0711000901;home;;;;amina;;;;;\nHope;;0711000908;home;;;;hope;;;;;\n" +
		"Ian;;0711000909;home;;;;brian;;;;;\n"
	_, dry := k.upload(k.admin, "?dryRun=true", file)
	if count(dry, "valid") != 1 || count(dry, "skipped") != 1 ||
		faultsOf(dry) != "4 username belongs to another customer already" {
		k.t.Errorf("a dry run with a known customer: %v", dry)
	}
	_, more := k.upload(k.admin, "", file)
	if more = k.imported(k.admin, more.text("id")); count(more, "created") != 1 || count(more, "skipped") != 1 ||
		count(more, "failed") != 1 {
		k.t.Errorf("a file with a known customer: %v", more)
	}
}

// importedAsTheyWere compares the customers of the import with the file.
func (k *kit) importedAsTheyWere(until string) {
	k.t.Helper()
	amina := k.found("Amina")
	aliases := fmt.Sprint(amina["accountAliases"])
	services := amina.list("services")
	if aliases != "[OLD77 1042]" || len(services) != 1 || services[0].text("username") != "amina" {
		k.t.Fatalf("Amina is %v", amina)
	}
	zone := k.local(time.Now()).Location()
	day, _ := time.ParseInLocation("2006-01-02", until, zone)
	if at, _ := time.Parse(time.RFC3339, services[0].text("paidUntil")); !at.Equal(day) ||
		services[0].text("access") != "full" {
		k.t.Errorf("paid until %s, access %s", services[0].text("paidUntil"), services[0].text("access"))
	}
	line := services[0].text("subscriptionId")
	login := k.must(k.admin, "GET", "/subscriptions/"+line+"/credentials", nil)
	sub := k.must(k.admin, "GET", "/subscriptions/"+line, nil)
	if login.text("password") != "hunter2" || sub.text("staticIp") != "10.9.0.1" ||
		fmt.Sprint(sub["macAddresses"]) != "[AA:BB:CC:DD:EE:01]" || sub["openInvoiceId"] != nil {
		k.t.Errorf("the service is %v", sub)
	}
	if n := len(k.all(k.admin, "/invoices?subscriberId="+amina.text("id"))); n != 0 {
		k.t.Errorf("%d invoices for time that was paid elsewhere", n)
	}
	brian := k.found("Brian")
	k.eventually("Brian's balance", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+brian.text("id"), "", nil)
		return number(s, "balance") == "2000.50", err
	})
	lines := k.all(k.admin, "/subscribers/"+brian.text("id")+"/statement")
	if len(lines) != 2 || !strings.Contains(fmt.Sprint(lines), "Opening balance") {
		k.t.Errorf("the statement is %v", lines)
	}
	k.pay("254711000901", "old 77", 100)
	k.eventually("money by the old account number", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+amina.text("id"), "", nil)
		return number(s, "credit") == "100.00", err
	})
}

// TestImport_AMendedFileDoublesNobody, neither those with a username nor those without.
func TestImport_AMendedFileDoublesNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	file := "First Name,Last Name,Phone,Plan Code,Opening Balance,Username\n" +
		"Amina,Otieno,0711000901,home,,\n" +
		"Amina,Otieno,0711000901,Plan HOME,,\n" + // her second house, and the plan by its name
		"Brian,Kip,0711000902,,%[1]s,\n" +
		"Carol,,0711000903,home,,carol\n" +
		"Amina,Otieno,0711000901,home,%[1]s,\n" // her third house
	faulty := fmt.Sprintf(file, "1.500")
	_, dry := k.upload(k.admin, "?dryRun=true", faulty)
	if count(dry, "valid") != 3 || count(dry, "skipped") != 0 || dry["looksLike"] != nil ||
		faultsOf(dry) != "4 openingBalance must be a number with at most 2 decimals\n"+
			"6 openingBalance must be a number with at most 2 decimals" {
		t.Fatalf("dry run %v", dry)
	}
	_, asked := k.upload(k.admin, "", faulty)
	done := k.imported(k.admin, asked.text("id"))
	if count(done, "created") != 3 || count(done, "failed") != 2 ||
		done.list("errors")[0].text("column") != "Opening Balance" {
		t.Fatalf("import %v", done)
	}
	k.shown()
	mended := fmt.Sprintf(file, `"KES 1,500"`)
	if _, dry = k.upload(k.admin, "?dryRun=true", mended); count(dry, "valid") != 2 || count(dry, "skipped") != 3 {
		t.Errorf("dry run %v", dry)
	}
	_, asked = k.upload(k.admin, "", mended)
	done = k.imported(k.admin, asked.text("id"))
	if count(done, "created") != 2 || count(done, "skipped") != 3 || count(done, "failed") != 0 {
		t.Errorf("the mended file: %v\n%s", done, faultsOf(done))
	}
	k.shown()
	_, asked = k.upload(k.admin, "", mended+"\n\n") // another file
	if asked.text("state") != "finished" || count(asked, "skipped") != 5 || count(asked, "rows") != 5 {
		t.Errorf("a file with nothing left: %v", asked)
	}
	if n := len(k.all(k.admin, "/subscribers")); n != 5 {
		t.Errorf("%d customers", n)
	}
	brian := k.found("Brian")
	k.eventually("Brian's balance", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+brian.text("id"), "", nil)
		return number(s, "balance") == "1500.00", err
	})
}

// TestImport_ATableOfAnotherSystemIsToldSo before its columns are.
func TestImport_ATableOfAnotherSystemIsToldSo(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	const table = "id,username,fullname,phonenumber,balance,namebp\n7,c7,Amina Otieno,0711000901,,Plan home\n"
	const fault = "1 source does not fit: the header looks like that of a table of PHPNuxBill; choose that"
	_, dry := k.upload(k.admin, "?dryRun=true", table)
	if dry.text("looksLike") != "phpnuxbill" || !strings.HasPrefix(faultsOf(dry), fault+"\n") {
		t.Errorf("dry run %v", dry)
	}
	status, out := k.upload(k.admin, "", table)
	if status != 422 || out.text("code") != "invalid_input" || !strings.Contains(fmt.Sprint(out), "PHPNuxBill") {
		t.Errorf("import %d %v", status, out)
	}
	_, dry = k.upload(k.admin, "?dryRun=true&source=phpnuxbill", table)
	if dry["looksLike"] != nil || count(dry, "valid") != 1 {
		t.Errorf("as it is: %v", dry)
	}
}

// TestImport_MalformedFilesChangeNothing.
func TestImport_MalformedFilesChangeNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	for name, body := range map[string]string{
		"nothing": "", "binary": "PK\x03\x04\x00\x00\x08\x00", "one endless line": strings.Repeat("x", 1<<20),
		"wrong columns": "name,number\nAmina,0711\n", "no phone": "firstName\nAmina\n", "header": "firstName,phone\n",
	} {
		status, dry := k.upload(k.admin, "?dryRun=true", body)
		if status != 200 || count(dry, "valid") != 0 {
			t.Errorf("%s: dry run %d %v", name, status, dry)
		}
		if status, out := k.upload(k.admin, "", body); status != 422 || out.text("code") != "invalid_input" {
			t.Errorf("%s: import %d %v", name, status, out)
		}
	}
	if rows := k.all(k.admin, "/imports"); len(rows) != 0 {
		t.Errorf("imports %v", rows)
	}
	support := k.client("acme")
	if status, _ := k.upload(support, "", "firstName,phone\n"); status != 401 {
		t.Errorf("nobody may import: %d", status)
	}
}

// manyCustomers is a file of n customers with services. Every third one is told by phone and name alone, and two of
// these have the same.
func manyCustomers(n int) string {
	var b strings.Builder
	b.WriteString("firstName,phone,planCode,username,password,openingBalance,paidUntil,accountAliases\n")
	for i := range n {
		if i%3 == 0 {
			_, _ = fmt.Fprintf(&b, "Customer%d,+2547%08d,home,,,,2027-06-%02d,\n", i-i%6, i-i%6, i%28+1)
			continue
		}
		_, _ = fmt.Fprintf(&b, "Customer%d,+2547%08d,home,user%d,pass%d,,2027-06-%02d,A%06d\n", i, i, i, i, i%28+1, i)
	}
	return b.String()
}

// TestImport_AKillInTheMiddleMakesNothingTwiceAndMissesNothing.
func TestImport_AKillInTheMiddleMakesNothingTwiceAndMissesNothing(t *testing.T) {
	t.Parallel()
	const n = 1_200
	k := newKit(t)
	at := freePort(t)
	program := k.spawn(at)
	k.signIn()
	k.plan("home", 1500)
	status, asked := k.upload(k.admin, "", manyCustomers(n))
	if status != 202 {
		t.Fatalf("import %d: %v", status, asked)
	}
	for _, most := range []int{50, 700} {
		k.eventually("some customers", func(ctx context.Context) (bool, error) {
			report, err := k.admin.call(ctx, "GET", "/reports/customers", "", nil)
			total, _ := report["total"].(float64)
			return int(total) > most, err
		})
		program.kill9()
		program = k.spawn(at)
	}
	done := k.imported(k.admin, asked.text("id"))
	if count(done, "created") != n || count(done, "failed") != 0 {
		t.Errorf("import %v\n%s", done, faultsOf(done))
	}
	k.eventually("all customers", func(ctx context.Context) (bool, error) {
		report, err := k.admin.call(ctx, "GET", "/reports/customers", "", nil)
		total, _ := report["total"].(float64)
		if int(total) > n {
			t.Fatalf("%v customers of %d", total, n)
		}
		return int(total) == n, err
	})
	var left int
	err := k.db.Owner.QueryRow(t.Context(), `select count(*) from `+k.db.Namespace.Schema("vault")+`.files`).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d parts of the file are left, %v", left, err)
	}
}
