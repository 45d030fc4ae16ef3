package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestImport_AMendedFileDoublesNobodyWhoseServiceWasRefused: the plan is archived while the file is taken in. Some rows
// have everything by then, of some there is the customer, and of others nothing. The mended file brings what is
// missing.
func TestImport_AMendedFileDoublesNobodyWhoseServiceWasRefused(t *testing.T) {
	t.Parallel()
	const n = 300
	k := newKit(t).start().signIn()
	plan := k.plan("home", 1500)
	k.plan("house", 1500)
	file := func(code string) string {
		var b strings.Builder
		b.WriteString("firstName,phone,planCode,username,openingBalance\n")
		for i := range n {
			fmt.Fprintf(&b, "Customer%d,+2547%08d,%s,user%d,100\n", i, i, code, i)
		}
		return b.String()
	}
	status, asked := k.upload(k.admin, "", file("home"))
	if status != http.StatusAccepted {
		t.Fatal(status, asked)
	}
	k.must(k.admin, "POST", "/plans/"+plan+"/archive", nil)
	first := k.imported(k.admin, asked.text("id"))
	k.shown()
	half := len(k.all(k.admin, "/subscribers")) - count(first, "created")
	t.Logf("%d have everything, %d no service, %d rows failed", count(first, "created"), half, count(first, "failed"))
	if half > count(first, "failed") || strings.Count(faultsOf(first), "is taken in without its service") != half {
		t.Errorf("%d have no service: %.300s", half, faultsOf(first))
	}
	_, asked = k.upload(k.admin, "", file("house"))
	second := k.imported(k.admin, asked.text("id"))
	if count(second, "created") != count(first, "failed") || count(second, "failed") > 0 {
		t.Errorf("second: %v", second)
	}
	k.shown()
	list := k.all(k.admin, "/subscribers")
	for _, s := range list {
		if b := number(s, "balance"); b != "1600.00" && b != "100.00" {
			t.Errorf("%s owes %s", s.text("firstName"), b)
		}
	}
	if services := k.all(k.admin, "/subscriptions"); len(list) != n || len(services) != n {
		t.Errorf("%d customers with %d services of a file of %d", len(list), len(services), n)
	}
}
