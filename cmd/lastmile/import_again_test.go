package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestImport_TwoFilesAtOnceCompleteACustomerOnce: customers were imported without a service. Two files that bring it
// are uploaded one right after the other: the second one corrects the plan of the first one.
func TestImport_TwoFilesAtOnceCompleteACustomerOnce(t *testing.T) {
	t.Parallel()
	const n = 40
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	k.plan("house", 1500)
	file := func(code string) string {
		var b strings.Builder
		b.WriteString("firstName,phone,planCode\n")
		for i := range n {
			fmt.Fprintf(&b, "Customer%d,+2547%08d,%s\n", i, i, code)
		}
		return b.String()
	}
	_, asked := k.upload(k.admin, "", file(""))
	k.imported(k.admin, asked.text("id"))
	k.shown()
	var ids []string
	for _, code := range []string{"home", "house"} {
		status, asked := k.upload(k.admin, "", file(code))
		if status != http.StatusAccepted {
			t.Fatal(status, asked)
		}
		ids = append(ids, asked.text("id"))
	}
	done := 0
	for _, id := range ids {
		now := k.imported(k.admin, id)
		for _, count := range []string{"created", "skipped"} {
			n, _ := strconv.Atoi(now.at(count))
			done += n
		}
		if now.at("failed") != "0" {
			t.Errorf("who is served by the other file is no fault: %v", now)
		}
	}
	if done != 2*n {
		t.Errorf("%d rows are taken in or skipped, want %d", done, 2*n)
	}
	k.shown()
	list, services := k.all(k.admin, "/subscribers"), k.all(k.admin, "/subscriptions")
	if len(services) != n || len(list) != n {
		t.Errorf("%d customers have %d services", len(list), len(services))
	}
}

// TestImport_AfterAnUndoTheSameFileIsAnotherImport: what was taken back by mistake comes again, and once.
func TestImport_AfterAnUndoTheSameFileIsAnotherImport(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	file := "firstName,phone,planCode,username\nAmina,+254711000101,home,amina\nBrian,+254711000102,home,brian\n"
	of := map[string]bool{}
	for range 3 {
		status, asked := k.upload(k.admin, "", file)
		if status != http.StatusAccepted || of[asked.text("id")] {
			t.Fatal(status, asked)
		}
		of[asked.text("id")] = true
		if now := k.imported(k.admin, asked.text("id")); now.at("created") != "2" {
			t.Fatalf("taken in: %v\n%s", now, faultsOf(now))
		}
		if _, again := k.upload(k.admin, "", file); again.text("id") != asked.text("id") {
			t.Errorf("sent again it is another import: %v", again)
		}
		k.shown()
		if n := k.customersLeft(); n != 2 {
			t.Errorf("%d customers", n)
		}
		k.must(k.admin, "POST", "/batches/"+asked.text("id")+"/undo", because())
		k.undone(asked.text("id"))
		k.shown()
		if n := k.customersLeft(); n != 0 {
			t.Errorf("%d customers are left", n)
		}
	}
}

// customersLeft counts the customers who are not forgotten.
func (k *kit) customersLeft() (n int) {
	k.t.Helper()
	for _, s := range k.all(k.admin, "/subscribers") {
		if s.text("status") != "forgotten" {
			n++
		}
	}
	return n
}
