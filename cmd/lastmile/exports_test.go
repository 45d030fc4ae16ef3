package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"strings"
	"testing"
	"time"
)

// copied asks for a copy and gives its files by their names.
func (k *kit) copied(c apiClient) map[string][][]string {
	k.t.Helper()
	asked := k.must(c, "POST", "/exports", nil)
	var done answer
	k.eventually("copy", func(ctx context.Context) (ok bool, err error) {
		done, err = c.call(ctx, "GET", "/exports/"+asked.text("id"), "", nil)
		return err == nil && done.text("state") == "finished", err
	})
	text, err := c.text(k.t.Context(), done.text("url"))
	if err != nil {
		k.t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader([]byte(text)), int64(len(text)))
	if err != nil {
		k.t.Fatal(err)
	}
	files := map[string][][]string{}
	for _, f := range archive.File {
		from, err := f.Open()
		if err != nil {
			k.t.Fatal(err)
		}
		plain, err := io.ReadAll(from)
		if err != nil {
			k.t.Fatal(err)
		}
		if files[f.Name], err = csv.NewReader(bytes.NewReader(plain)).ReadAll(); err != nil {
			k.t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return files
}

// columnOf gives the values of a column of a table.
func columnOf(t *testing.T, table [][]string, name string) []string {
	t.Helper()
	for i, n := range table[0] {
		if n == name {
			var list []string
			for _, row := range table[1:] {
				list = append(list, row[i])
			}
			return list
		}
	}
	t.Fatalf("no column %s in %v", name, table[0])
	return nil
}

// TestExport_HasAllThatTheOrganizationHasAndNothingElse: formulas are disarmed, amounts are in major units, nothing of
// a neighbour is in it, and no secret; after a day it is gone.
func TestExport_HasAllThatTheOrganizationHasAndNothingElse(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	other := k.organization("other", "admin@other.test")
	k.must(other, "POST", "/subscribers", map[string]any{"firstName": "Neighbour", "phone": "+254711000999"})
	plan := k.plan("home", 1500)
	customer := k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "=HYPERLINK(1)", "phone": "+254711000911", "accountAliases": []string{"A 7"},
	}).text("id")
	k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": customer, "planId": plan, "username": "amina", "password": "hunter2",
	})
	k.issued(customer, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 1600.5, "reference": "desk 1",
	})
	k.eventually("the payment in the statement", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		return number(s, "credit") == "100.50", err
	})
	files := k.copied(k.admin)
	if got := columnOf(t, files["customers.csv"], "firstName"); len(got) != 1 || got[0] != "'=HYPERLINK(1)" {
		t.Errorf("customers %v", got)
	}
	if got := columnOf(t, files["customers.csv"], "balance"); got[0] != "-100.50" {
		t.Errorf("balance %v", got)
	}
	if got := columnOf(t, files["invoices.csv"], "total"); len(got) != 1 || got[0] != "1500.00" {
		t.Errorf("invoices %v", got)
	}
	if got := columnOf(t, files["invoice_lines.csv"], "gross"); len(got) != 1 || got[0] != "1500.00" {
		t.Errorf("lines %v", got)
	}
	for _, file := range []string{"receipts.csv", "subscriptions.csv", "plans.csv", "payments.csv", "staff.csv"} {
		if len(files[file]) != 2 {
			t.Errorf("%s has %d rows", file, len(files[file]))
		}
	}
	if got := columnOf(t, files["subscriptions.csv"], "createdAt"); len(got) == 1 {
		if _, err := time.Parse(time.RFC3339, got[0]); err != nil {
			t.Error(err)
		}
	}
	for name, table := range files {
		for _, row := range table {
			text := strings.Join(row, "\n")
			if strings.Contains(text, "hunter2") || strings.Contains(text, "Neighbour") {
				t.Errorf("%s has %q", name, text)
			}
		}
	}
	k.exportEnds(other)
}

// exportEnds checks who may fetch a copy, and that it is gone after a day.
func (k *kit) exportEnds(other apiClient) {
	k.t.Helper()
	asked := k.must(k.admin, "POST", "/exports", nil).text("id")
	k.eventually("copy", func(ctx context.Context) (bool, error) {
		done, err := k.admin.call(ctx, "GET", "/exports/"+asked, "", nil)
		return done.text("state") == "finished", err
	})
	for _, path := range []string{"/exports/" + asked, "/exports/" + asked + "/file"} {
		k.refused(other, "GET "+path, nil, 404, "export_not_found")
		k.refused(k.client("acme"), "GET "+path, nil, 401, "")
	}
	k.advance(map[string]any{"advance": "25h"})
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.refused(k.admin, "GET /exports/"+asked+"/file", nil, 409, "export_ended")
	if done := k.must(k.admin, "GET", "/exports/"+asked, nil); done.text("state") != "ended" || done["url"] != nil {
		k.t.Errorf("after a day: %v", done)
	}
}
