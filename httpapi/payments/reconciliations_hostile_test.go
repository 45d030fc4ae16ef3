package paymentsapi_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestReconciliation_ReadsOrRefusesWholly: a file is read whole or refused with what is wrong with it; never in part,
// and never with an error of the program.
func TestReconciliation_ReadsOrRefusesWholly(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	const head = "Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.\n"
	at := statedAt(k.Clock.Now())
	good := "SJK0000009," + at + ",10,,x\n"
	for name, file := range map[string]string{
		"a number that is a formula":   head + "\"=cmd|' /C calc'!A1\tX\x00\"," + at + ",5,,x\n" + good,
		"NUL bytes":                    head + "SJK\x0000001," + at + ",5,,x\n",
		"one wrong row among good":     head + good + "SJK0000008,yesterday,5,,x\n",
		"neither side":                 head + "SJK0000008," + at + ",,,x\n",
		"both sides":                   head + "SJK0000008," + at + ",5,5,x\n",
		"an exponent":                  head + "SJK0000008," + at + ",1e99,,x\n",
		"more than there is":           head + "SJK0000008," + at + ",99999999999999999999,,x\n",
		"half a cent":                  head + "SJK0000008," + at + ",0.005,,x\n",
		"an open quote to the end":     head + "\"SJK0000008," + at + ",5,,x\n" + strings.Repeat("y,y,y,y,y\n", 1_000),
		"an endless cell":              head + strings.Repeat("S", 2<<20) + "," + at + ",5,,x\n",
		"an endless header":            strings.Repeat("Receipt No.,", 200_000) + "\n" + good,
		"a header without rows":        head,
		"UTF-16 of half a character":   "\xff\xfe" + head + "x",
		"bytes of no encoding":         "\xff\xfd\xfc" + head + "\x80\x81," + at + ",5,,x\n",
		"a spreadsheet instead of CSV": "PK\x03\x04" + strings.Repeat("\x00\x01\x02", 1_000),
	} {
		a := k.Do(t, statementRequest(apitest.Domain, apitest.Super, file))
		if a.Status != http.StatusUnprocessableEntity || a.Code() != "invalid_input" {
			t.Errorf("%s: %d %.200s", name, a.Status, a.Body)
		}
	}
	var list struct{ Data []struct{ ID string } }
	k.Do(t, apitest.Request{Host: apitest.Domain, Path: "/reconciliations", As: apitest.Super}).Into(t, &list)
	if len(list.Data) != 0 {
		t.Errorf("%d refused files are kept", len(list.Data))
	}
}

// TestReconciliation_IsItsOwnersAlone: nobody else reads, lists or takes in anything of a statement, by whatever id.
func TestReconciliation_IsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	k.Quiet(t)
	row := ",5,,10000008\n"
	const head = "Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.\n"
	at := statedAt(k.Clock.Now())
	own := k.upload(t, apitest.Acme, apitest.Admin, head+"SJK0000001,"+at+row)
	platforms := k.upload(t, apitest.Domain, apitest.Super, head+"SJK0000002,"+at+row)
	for _, c := range []struct{ host, as, id string }{
		{apitest.Other, apitest.OtherAdmin, own.ID}, {apitest.Domain, apitest.Super, own.ID},
		{apitest.Other, apitest.OtherAdmin, platforms.ID}, {apitest.Acme, apitest.Admin, platforms.ID},
		{apitest.Acme, apitest.Admin, id.New[id.Reconciliation]().String()},
		{apitest.Acme, apitest.Admin, k.Amina.String()},
		{apitest.Acme, apitest.Admin, "x"},
	} {
		read := k.Do(t, apitest.Request{Host: c.host, As: c.as, Path: "/reconciliations/" + c.id})
		adopt := k.Do(t, apitest.Request{
			Method: "POST", Host: c.host, As: c.as, Path: "/reconciliations/" + c.id + "/adopt", Body: map[string]any{},
		})
		for _, a := range []apitest.Answer{read, adopt} {
			if a.Status != http.StatusNotFound || a.Code() != "reconciliation_not_found" {
				t.Errorf("%s of %s: %d %s", c.id, c.host, a.Status, a.Body)
			}
		}
	}
	k.Quiet(t)
	k.expectCredited(t, 0, 0)
	var list struct{ Data []struct{ ID string } }
	k.Do(t, apitest.Request{Host: apitest.Other, Path: "/reconciliations", As: apitest.OtherAdmin}).Into(t, &list)
	if len(list.Data) != 0 {
		t.Errorf("another organization lists %d", len(list.Data))
	}
}

// TestReconciliation_UploadedAndTakenInByManyAtOnceIsMoneyOnce: three colleagues do the same at the same time.
func TestReconciliation_UploadedAndTakenInByManyAtOnceIsMoneyOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	file := "Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.\nSJK0000001," + statedAt(k.Clock.Now()) + ",500,," +
		commands.AccountNumber(1_000_000) + "\n"
	var mu sync.Mutex
	var made []string
	atOnce := func(n int, do func(i int)) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { do(i) })
		}
		all.Wait()
		k.Quiet(t)
	}
	atOnce(3, func(int) {
		var got shownReconciliation
		k.Do(t, statementRequest(apitest.Domain, apitest.Super, file)).Into(t, &got)
		mu.Lock()
		defer mu.Unlock()
		made = append(made, got.ID)
	})
	atOnce(6, func(i int) {
		k.Do(t, apitest.Request{
			Method: "POST", Host: apitest.Domain, As: apitest.Super, Body: map[string]any{},
			Path: "/reconciliations/" + made[i%3] + "/adopt",
		})
	})
	k.expectCredited(t, 500, 1)
	for _, which := range made {
		got := k.reconciliation(t, apitest.Domain, apitest.Super, which)
		if got.State != "compared" || got.Matched != 1 {
			t.Errorf("afterwards: %+v", got)
		}
	}
}
