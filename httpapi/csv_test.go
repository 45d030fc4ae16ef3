package httpapi_test

import (
	"context"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// TestCSV_WhatASpreadsheetWouldCalculateIsDisarmed, and numbers stay numbers.
func TestCSV_WhatASpreadsheetWouldCalculateIsDisarmed(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, []httpapi.Route{{
		Method: "GET", Path: "/table", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic, Summary: "A table",
		Produces: "text/csv", Handle: func(_ context.Context, c *httpapi.Call) error {
			return c.SendCSV("t.csv", []string{"a", "b"}, [][]string{
				{"=1+1", "+254711000001"}, {"-500.00", "-5+A1"}, {"@SUM(A1)", "\tx"}, {`say "hi", Ann`, "a\nb"},
				{"", "-"}, {"+5", "-Infinity"}, {"=1", "1e5"},
				{"＝1+1", "＋A1"}, {"－A1", "＠A1"}, {"\rx", ";=A1"}, {" =A1", "\u3000＝A1"}, {"\n=A1", " Ann"},
			})
		},
	}})
	got := k.Do(t, apitest.Request{Path: "/table"})
	want := "a,b\r\n'=1+1,+254711000001\r\n-500.00,'-5+A1\r\n'@SUM(A1),'\tx\r\n\"say \"\"hi\"\", Ann\",\"a\r\nb\"\r\n" +
		",'-\r\n+5,'-Infinity\r\n'=1,1e5\r\n" +
		"'＝1+1,'＋A1\r\n'－A1,'＠A1\r\n\"'x\",';=A1\r\n' =A1,'\u3000＝A1\r\n\"'\r\n=A1\",\" Ann\"\r\n"
	if string(got.Body) != want || got.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		got.Header.Get("Content-Disposition") != `attachment; filename="t.csv"` {
		t.Errorf("got %q, %v\nwant %q", got.Body, got.Header, want)
	}
}
