package billingviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// NumberingName keys the projection's checkpoint and schemas, so it never changes.
const NumberingName = "billing_numbering"

// Numbering lists the documents that wait for a number, beside the last number of each series. Both are as of the same
// event of the log: this makes a block of grants safe (docs/adr/0017).
type Numbering struct{}

// numberingDDL is compiled in from numbering.sql.
//
//go:embed numbering.sql
var numberingDDL string

// Name keys checkpoint and schemas.
func (Numbering) Name() string { return NumberingName }

// Version must grow with every change to the tables or to Apply.
func (Numbering) Version() int { return 4 }

// DDL creates the tables of numbering.sql.
func (Numbering) DDL() string { return numberingDDL }

// TenantTables are under row-level security.
func (Numbering) TenantTables() []string { return []string{"documents", "series"} }

// Handles lists the events that change the tables.
func (Numbering) Handles() []string {
	return []string{
		events.InvoiceDrafted{}.EventType(), events.CreditNoteDrafted{}.EventType(),
		events.NumberGranted{}.EventType(), events.InvoiceIssued{}.EventType(), events.InvoiceVoided{}.EventType(),
		events.CreditNoteIssued{}.EventType(), events.CreditNoteVoided{}.EventType(),
	}
}

// Statements of Apply. A document keeps its first number: only older programs granted a second one.
const (
	waitingSQL = `
insert into {schema}.documents
	(document_id, series_id, org_id, kind, prefix, subscriber_id, position, after_id, for_run)
values (@document, @series, @org, @kind, @prefix, @subscriber, @position, @after, @run)
on conflict (document_id) do nothing`
	grantedSQL = `
update {schema}.documents set seq = coalesce(seq, $2), granted_at = coalesce(granted_at, $3) where document_id = $1`
	lastSQL = `
insert into {schema}.series as s (series_id, org_id, last) values ($1, $2, $3)
on conflict (series_id) do update set last = greatest(s.last, excluded.last)`
	finalSQL = `update {schema}.documents set final = true where document_id = $1`
	freeSQL  = `update {schema}.documents set after_id = null where after_id = $1`
)

// seriesOf is the id of a series; commands.SeriesOf derives the same, and a test compares them.
func seriesOf(org id.Organization, kind, prefix string) id.Series {
	return id.Derive[id.Series]("series", org.String(), kind, prefix)
}

// runPatience is how long a billing run has to number its drafts. Then they wait like any other document; should the
// run grant numbers all the same, it knows an older last number, and is granted none.
const runPatience = 30 * time.Second

// forRun is the end of that time; nil when no run makes the invoice.
func forRun(v events.InvoiceDrafted) *time.Time {
	if v.RunID.IsZero() {
		return nil
	}
	until := v.DraftedAt.Add(runPatience)
	return &until
}

// Types of documents, as in package commands.
const (
	invoiceKind = "invoice"
	noteKind    = "credit_note"
)

// Apply queues the statements for one event.
func (Numbering) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.InvoiceDrafted:
		w.Exec(waitingSQL, pgx.NamedArgs{
			"document": v.InvoiceID, "series": seriesOf(v.OrgID, invoiceKind, v.Prefix), "org": v.OrgID,
			"kind": invoiceKind, "prefix": v.Prefix, "subscriber": v.SubscriberID, "position": int64(e.Position),
			"after": nil, "run": forRun(v),
		})
	case events.CreditNoteDrafted:
		w.Exec(waitingSQL, pgx.NamedArgs{
			"document": v.CreditNoteID, "series": seriesOf(v.OrgID, noteKind, v.Prefix), "org": v.OrgID,
			"kind": noteKind, "prefix": v.Prefix, "subscriber": v.SubscriberID, "position": int64(e.Position),
			"after": v.ReplacedBy, "run": nil,
		})
	case events.NumberGranted:
		w.Exec(grantedSQL, v.DocumentID, v.Seq, v.At)
		w.Exec(lastSQL, v.SeriesID, v.OrgID, v.Seq)
	case events.InvoiceIssued:
		w.Exec(finalSQL, v.InvoiceID)
		w.Exec(freeSQL, v.InvoiceID)
	case events.InvoiceVoided:
		w.Exec(freeSQL, v.InvoiceID)
		if v.Number != "" {
			w.Exec(finalSQL, v.InvoiceID)
		}
	case events.CreditNoteIssued:
		w.Exec(finalSQL, v.CreditNoteID)
	case events.CreditNoteVoided:
		w.Exec(finalSQL, v.StrayOf)
	}
	return nil
}
