package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// NumberingCategory begins the names of the streams of number series.
const NumberingCategory = "numbering"

// NumberingCommand is a command to "numbering-<series id>".
type NumberingCommand interface {
	Command
	numberingCommand()
}

// Types of numbered documents. Each has its own series.
const (
	InvoiceDocument    = "invoice"
	CreditNoteDocument = "credit_note"
)

// GrantNumber gives a document the next number of its series, for ever. A document that has a number keeps it.
type GrantNumber struct {
	SeriesID     id.Series
	OrgID        id.Organization
	Document     string // InvoiceDocument or CreditNoteDocument
	DocumentID   id.Any // id of an invoice or a credit note
	SubscriberID id.Subscriber
	Prefix       string
}

// SeriesOf is the series of one type of document under a prefix; the id is derived from the three, so that it
// need not be stored.
func SeriesOf(org id.Organization, document, prefix string) id.Series {
	return id.Derive[id.Series]("series", org.String(), document, prefix)
}

func (GrantNumber) CommandName() string { return "billing.GrantNumber" }
func (c GrantNumber) Target() Target    { return At(NumberingCategory, c.SeriesID) }
func (GrantNumber) numberingCommand()   {}

// Validate also checks that the series id is the one that SeriesOf gives.
func (c GrantNumber) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Document == InvoiceDocument || c.Document == CreditNoteDocument, "document", "is unknown")
	f.Check(!c.DocumentID.IsZero(), "documentId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(prefixShape.MatchString(c.Prefix), "prefix", "must be 2 to 6 capitals or digits")
	f.Check(c.SeriesID == SeriesOf(c.OrgID, c.Document, c.Prefix), "seriesId", "is not of this series")
	return f.Err()
}
