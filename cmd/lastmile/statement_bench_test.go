package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// statementWithin is the longest time that 99 of 100 pages of a long statement may take.
const statementWithin = 50 * time.Millisecond

// otherStatements is the number of customers beside the one with the long statement, with statementLines lines each.
const (
	otherStatements = 2_000
	statementLines  = 60
)

// BenchmarkStatementPage measures a page of the statement of an account with BENCH_STATEMENT_LINES lines, over HTTP,
// among those of other customers: each page of it from the newest to the oldest line, in pages of 100, again and again.
// The limit is the time that the slowest but one of 100 may take.
func BenchmarkStatementPage(b *testing.B) {
	k := newBenchKit(b)
	subscriber, _ := k.subscriber("254711000777")
	lines := benchtest.Size(b, "STATEMENT_LINES", 5_000)
	k.fillStatements(b, subscriber, lines)
	l := dialMany(b, k.addr, 1)[0]
	for b.Loop() {
		var took []time.Duration
		for began := time.Now(); time.Since(began) < benchtest.Turn(b)*time.Duration(benchtest.Rounds(b)); {
			took = append(took, readStatement(b, l, k.admin, subscriber, lines)...)
		}
		benchtest.Latencies(b, "page", took, statementWithin)
		benchtest.ReportTime(b, "page", benchtest.Quantile(took, 99), statementWithin, 1)
	}
}

// readStatement reads all pages of a statement, which must have so many lines, and gives the time of each.
func readStatement(b *testing.B, l *line, as apiClient, subscriber string, lines int) (took []time.Duration) {
	b.Helper()
	path, read := "/subscribers/"+subscriber+"/statement?limit=100", 0
	for cursor := ""; ; {
		began := time.Now()
		if err := l.expect(http.StatusOK, request(http.MethodGet, path+cursor, as, "")); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		var page struct {
			Data       []struct{ Kind string }
			NextCursor string
		}
		if err := json.Unmarshal(l.last, &page); err != nil {
			b.Fatal(err)
		}
		if read += len(page.Data); page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
	if read != lines {
		b.Fatalf("the statement has %d lines, want %d", read, lines)
	}
	return took
}

// fillStatements writes lines into the read model directly, since only reading is measured: invoices and payments in
// turns.
func (k *kit) fillStatements(b *testing.B, subscriber string, lines int) {
	b.Helper()
	fill := k.app.engines.views.SQL(billingviews.StatementName, `
insert into {schema}.statement_lines (subscriber_id, position, org_id, at, kind, number, invoice, channel, currency,
	debit_minor, credit_minor, balance_minor, cause_type, cause_id)
select who, n, @org, timestamptz '2021-01-01' + n * interval '8 hours',
	case when sold then 'invoice' else 'payment' end, 'ACME-' || n, '', case when sold then '' else 'c2b' end, 'KES',
	case when sold then 150000 else 0 end, case when sold then 0 else 150000 end,
	case when sold then 150000 else 0 end,
	case when sold then 'invoice' else 'receipt' end, gen_random_uuid()
from (select @subscriber::uuid as who, @lines::int as lines
		union all select gen_random_uuid(), @other_lines from generate_series(1, @others)) a,
	generate_series(1, lines) n, lateral (select n % 2 = 1 as sold) s`)
	_, err := k.app.DB().Owner.Exec(b.Context(), fill, pgx.NamedArgs{
		"org": k.organizationID("acme"), "subscriber": subscriber, "lines": lines, "others": otherStatements,
		"other_lines": statementLines,
	})
	if err == nil {
		_, err = k.app.DB().Owner.Exec(b.Context(), k.app.engines.views.SQL(billingviews.StatementName,
			`vacuum analyze {schema}.statement_lines`))
	}
	if err != nil {
		b.Fatal(err)
	}
}
