package billingapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// The report, the customers behind it and its table agree with the invoices, whose due date lies back longer each time.
func TestAgeing_LeadsFromTheTotalToTheCustomersWhoOwe(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	k.invoice(t, 100) // 150 with 1.5 pieces, due on 10 March
	k.clock.Advance(45 * 24 * time.Hour)
	k.invoice(t, 200)
	k.pay(t, 5000)
	k.clock.Advance(3 * 24 * time.Hour)
	type bucket struct {
		Name                string
		Amount              json.Number
		Invoices, Customers int
	}
	var got struct {
		Date, Currency      string
		Total               json.Number
		Invoices, Customers int
		Buckets             []bucket
	}
	k.Do(t, apitest.Request{Path: "/reports/ageing", As: apitest.Support}).Into(t, &got)
	want := []bucket{
		{"current", "300.00", 1, 1}, {"1-30", "0.00", 0, 0}, {"31-60", "100.00", 1, 1}, {"61-90", "0.00", 0, 0},
		{"over90", "0.00", 0, 0},
	}
	if diff := cmp.Diff(want, got.Buckets); diff != "" || got.Total != "400.00" || got.Customers != 1 ||
		got.Invoices != 2 || got.Date != "2026-04-20" || got.Currency != "KES" {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	var list struct {
		Data []struct {
			Subscriber    *struct{ Name, AccountNumber string }
			Amount        json.Number
			Invoices      int
			OldestDueDate string
		}
	}
	k.Do(t, apitest.Request{Path: "/reports/ageing/customers?bucket=31-60", As: apitest.Support}).Into(t, &list)
	if len(list.Data) != 1 || list.Data[0].Subscriber == nil || list.Data[0].Amount != "100.00" ||
		list.Data[0].OldestDueDate != "2026-03-10" {
		t.Errorf("customers of an age: %+v", list)
	}
	table := k.Do(t, apitest.Request{Path: "/reports/ageing?format=csv", As: apitest.Support})
	row := fmt.Sprintf("%s,%s,300.00,0.00,100.00,0.00,0.00,400.00,KES,2,2026-03-10\r\n",
		commands.AccountNumber(1_000_000), list.Data[0].Subscriber.Name)
	if diff := cmp.Diff("accountNumber,name,current,1-30,31-60,61-90,over90,total,currency,invoices,oldestDueDate\r\n"+
		row, string(table.Body)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestAgeing_RolesTenantsAndWords(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	k.invoice(t, 100)
	for _, path := range []string{"/reports/ageing", "/reports/ageing/customers"} {
		for _, c := range []struct {
			host string
			as   string
			want int
		}{
			{apitest.Acme, apitest.Subscriber, 403}, {apitest.Acme, "", 401},
			{apitest.Domain, apitest.Super, 404},
		} {
			if a := k.Do(t, apitest.Request{Path: path, Host: c.host, As: c.as}); a.Status != c.want {
				t.Errorf("%s at %s: %d", path, c.host, a.Status)
			}
		}
	}
	for path, want := range map[string]apitest.Want{
		"/reports/ageing?bucket=over90":        apitest.Is(400, "unknown_parameter"),
		"/reports/ageing/customers?bucket=120": apitest.Is(422, "invalid_input"),
	} {
		apitest.Sends(t, k.Kit, path, apitest.Request{Path: path, As: apitest.Support}, want)
	}
	var theirs struct {
		Total json.Number
		Data  []any
	}
	k.Do(t, apitest.Request{Path: "/reports/ageing", Host: apitest.Other, As: apitest.OtherAdmin}).Into(t, &theirs)
	k.Do(t, apitest.Request{
		Path: "/reports/ageing/customers", Host: apitest.Other, As: apitest.OtherAdmin,
	}).Into(t, &theirs)
	if theirs.Total != "0.00" || len(theirs.Data) > 0 {
		t.Errorf("another tenant sees %+v", theirs)
	}
}
